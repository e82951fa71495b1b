/** Samples and bytes: little endian, as every machine that the fleet runs on stores them. */

/** The same memory, seen as bytes. */
export const pcmToBytes = (pcm: Int16Array): Uint8Array => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength)

/** The samples in these bytes; half a sample at the end is left out. The memory is shared where it is aligned. */
export const pcmFromBytes = (bytes: Uint8Array): Int16Array => {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes)
  return new Int16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 1)
}

/** A sample that fits into 16 bits. */
export const clampSample = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))

/**
 * From the one to the other over their common length. Linear, because both are the same speech: their sum
 * keeps its loudness, where an equal-power fade of two alike signals would bulge.
 */
export const crossFade = (from: Int16Array, into: Int16Array): Int16Array => {
  const length = Math.min(from.length, into.length)
  const out = new Int16Array(length)
  for (let at = 0; at < length; at++) {
    const share = (at + 1) / (length + 1)
    out[at] = clampSample((from[at] ?? 0) * (1 - share) + (into[at] ?? 0) * share)
  }
  return out
}

export const concatPcm = (parts: ReadonlyArray<Int16Array>): Int16Array => {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const out = new Int16Array(parts.reduce((total, part) => total + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
