/** The writes of a process that it is about to read again. */

export interface WriteThroughCache {
  /** `data` must not change afterwards. */
  readonly put: (subject: string, data: Uint8Array) => void
  /** The object last written to that subject, if its bytes are the same; otherwise `data`. */
  readonly intern: (subject: string, data: Uint8Array) => Uint8Array
}

// Some thousand records, and more seconds of a busy role than its own readers are ever behind.
const bytesKeptMax = 4 * 1_024 * 1_024
// The rough size of an entry beside its bytes.
const entryBytes = 256

/**
 * The recent writes of this process that it is about to read again, by subject. A message that comes back byte for byte
 * is replaced by the very object that was written, so that a reader that knows the object need not decode it again.
 * Bytes that were dropped from the cache, or that another process wrote, pass unchanged: nothing is ever taken for what
 * it is not. Keeps at least half of `bytesMax`, and at most all of it and one entry more: the older half is dropped
 * whole.
 */
export const writeThroughCache = (bytesMax = bytesKeptMax): WriteThroughCache => {
  let recent = new Map<string, Uint8Array>()
  let older = new Map<string, Uint8Array>()
  let bytes = 0
  return {
    put: (subject, data) => {
      recent.set(subject, data)
      bytes += data.length + entryBytes
      if (bytes < bytesMax / 2) return
      older = recent
      recent = new Map()
      bytes = 0
    },
    intern: (subject, data) => {
      const own = recent.get(subject) ?? older.get(subject)
      return own !== undefined && own.length === data.length && Buffer.compare(own, data) === 0 ? own : data
    }
  }
}
