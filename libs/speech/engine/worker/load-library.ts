/**
 * Loads a shared library for as long as the process lives. koffi unloads one whose handle is garbage or whose thread
 * has ended, whatever still runs in it: espeak leaves a thread of its own behind, which sleeps in the library's code
 * and is killed with the process by whatever wakes it once that code is gone.
 */
import { platform } from "node:os"
import koffi, { type LibraryHandle } from "koffi"

const loaded: Array<LibraryHandle> = []

// dlfcn.h of glibc and musl; elsewhere the library stays as koffi keeps it.
const lazily = 0x1
const neverUnloaded = 0x10_00

export const loadLibrary = (path: string): LibraryHandle => {
  const library = koffi.load(path, { global: false })
  loaded.push(library)
  if (platform() === "linux") keepLoaded(path)
  return library
}

const keepLoaded = (path: string) => {
  const open = koffi.load(null).func("void *dlopen(const char *, int)")
  open(path, lazily | neverUnloaded)
}
