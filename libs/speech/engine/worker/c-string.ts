/**
 * A C string in memory of its own. Short typed arrays lie on V8's heap and move when it is cleaned up, even while
 * the engine calls back; what a library reads for longer than a call must lie elsewhere.
 */
import koffi from "koffi"

/** Stays until `freeCString`. */
export const newCString = (text: string): bigint => {
  const bytes = new TextEncoder().encode(`${text}\0`)
  const pointer = koffi.alloc("char", bytes.length)
  new Uint8Array(koffi.view(pointer, bytes.length)).set(bytes)
  return pointer
}

export const freeCString = (pointer: bigint): void => koffi.free(pointer)
