/** An engine's shared library: its location on the host, how it is loaded, and text in memory that it can read. */
import { existsSync } from "node:fs"
import { arch, platform } from "node:os"
import { join } from "node:path"
import koffi, { type LibraryHandle } from "koffi"
import { MissingPart } from "./serve.ts"

const loaded: Array<LibraryHandle> = []

// The flags of dlfcn.h in glibc and musl; elsewhere the library stays as koffi keeps it.
const lazily = 0x1
const neverUnloaded = 0x10_00

/**
 * Loads a library for as long as the process lives. koffi unloads a library when its handle is garbage or its thread
 * has ended, whatever still runs in it. espeak leaves a thread behind that sleeps in the library's code; once that code
 * is gone, waking this thread kills the process.
 */
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

// The folders of Debian, Fedora, Alpine and of libraries built by hand.
const triples: Partial<Record<string, string>> = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" }

const usualFolders = () => {
  const triple = triples[arch()]
  const multiarch = triple === undefined ? [] : [`/usr/lib/${triple}`, `/lib/${triple}`]
  return [...multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"]
}

export const findLibrary = (file: string): string => {
  const folders = usualFolders()
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path))
  if (found === undefined) throw new MissingPart(`no ${file} in ${folders.join(", ")}`)
  return found
}

/**
 * Copies a text into memory of its own, until `freeCString`. Short typed arrays are on V8's heap and move in a
 * collection, even while the engine calls back; a text that a library reads for longer than a call must be elsewhere.
 */
export const newCString = (text: string): bigint => {
  const bytes = new TextEncoder().encode(`${text}\0`)
  const pointer = koffi.alloc("char", bytes.length)
  new Uint8Array(koffi.view(pointer, bytes.length)).set(bytes)
  return pointer
}

export const freeCString = (pointer: bigint): void => koffi.free(pointer)
