/**
 * Loads a shared library for as long as the thread lives. koffi unloads one whose handle is garbage, whatever
 * still points into it.
 */
import koffi, { type LibraryHandle } from "koffi"

const loaded: Array<LibraryHandle> = []

export const loadLibrary = (path: string): LibraryHandle => {
  const library = koffi.load(path, { global: false })
  loaded.push(library)
  return library
}
