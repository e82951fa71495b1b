/**
 * Samples as bytes: plain PCM, little-endian as on every machine that the fleet runs on, mu-law and A-law, and the
 * header of a WAV file.
 */

/** The same memory, seen as bytes. */
export const pcmToBytes = (pcm: Int16Array): Uint8Array => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength)

/** The samples in these bytes, without half a sample at the end. The memory is shared if it is aligned. */
export const pcmFromBytes = (bytes: Uint8Array): Int16Array => {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes)
  return new Int16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 1)
}

/** The value, rounded and limited to 16 bits. */
export const clampSample = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))

/**
 * Fades from one to the other over their common length. Linear, because both are the same speech: their sum keeps its
 * loudness, where an equal-power fade of two similar signals would bulge.
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

const bias = 0x84
const clip = 32_635

const encodeSample = (sample: number) => {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), clip) + bias
  const exponent = 31 - Math.clz32(magnitude) - 7
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}

// G.711 mu-law: one table look-up a sample.
const bytes = Uint8Array.from({ length: 65_536 }, (_, index) => encodeSample((index << 16) >> 16))

export const encodeMulaw = (pcm: Int16Array): Uint8Array => {
  const out = new Uint8Array(pcm.length)
  for (let at = 0; at < pcm.length; at++) out[at] = bytes[(pcm[at] ?? 0) & 0xffff] ?? 0
  return out
}

const alawSample = (sample: number) => {
  const sign = sample < 0 ? 0 : 0x80
  // Thirteen bits: for a negative sample the complement, so that both halves have the same steps.
  const magnitude = (sample < 0 ? ~sample : sample) >> 3
  const exponent = Math.max(0, 31 - Math.clz32(magnitude | 1) - 4)
  const mantissa = (magnitude >> Math.max(1, exponent)) & 0x0f
  return (sign | (exponent << 4) | mantissa) ^ 0x55
}

// G.711 A-law, likewise.
const alawBytes = Uint8Array.from({ length: 65_536 }, (_, index) => alawSample((index << 16) >> 16))

export const encodeAlaw = (pcm: Int16Array): Uint8Array => {
  const out = new Uint8Array(pcm.length)
  for (let at = 0; at < pcm.length; at++) out[at] = alawBytes[(pcm[at] ?? 0) & 0xffff] ?? 0
  return out
}

const wavHeaderBytes = 44

/** The tag of a WAV file's samples, and the bytes of each. */
const sampleEncodings = { pcm: [1, 2], float: [3, 4], alaw: [6, 1], ulaw: [7, 1] } as const
export type SampleEncoding = keyof typeof sampleEncodings

/** The header of a WAV file of mono samples, with the true sizes. */
export const wavHeader = (rateHz: number, dataBytes: number, encoding: SampleEncoding = "pcm"): Uint8Array => {
  const [tag, sampleBytes] = sampleEncodings[encoding]
  const header = new Uint8Array(wavHeaderBytes)
  const view = new DataView(header.buffer)
  const text = (at: number, value: string) => header.set(new TextEncoder().encode(value), at)
  text(0, "RIFF")
  view.setUint32(4, wavHeaderBytes - 8 + dataBytes, true)
  text(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, tag, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, rateHz, true)
  view.setUint32(28, rateHz * sampleBytes, true)
  view.setUint16(32, sampleBytes, true)
  view.setUint16(34, 8 * sampleBytes, true)
  text(36, "data")
  view.setUint32(40, dataBytes, true)
  return header
}
