/** The writes of a process that it will soon read back. */

export interface WriteThroughCache {
  /** `data` must not change afterwards. */
  readonly put: (subject: string, data: Uint8Array) => void
  /** The object last written to that subject if its bytes are identical; otherwise `data`. */
  readonly intern: (subject: string, data: Uint8Array) => Uint8Array
}

// A few thousand records, covering more seconds of a busy role than its own readers ever lag.
const bytesKeptMax = 4 * 1_024 * 1_024
// The rough size of an entry beside its bytes.
const entryBytes = 256

/**
 * This process's recent writes that it will soon read back, by subject. A message that comes back byte for byte is
 * replaced by the very object that was written, so a reader that knows the object need not decode it again. Bytes that
 * were evicted, or that another process wrote, pass unchanged, so nothing is ever mistaken for something else. Keeps at
 * least half of `bytesMax`, and at most all of it plus one entry: the older half is evicted at once.
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
