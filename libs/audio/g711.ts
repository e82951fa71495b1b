/** G.711 mu-law: 16-bit samples to bytes by one table look-up each, and back. */

const bias = 0x84
const clip = 32_635

const encodeSample = (sample: number) => {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), clip) + bias
  const exponent = 31 - Math.clz32(magnitude) - 7
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}

const decodeByte = (byte: number) => {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) << 3) + bias) << ((bits >> 4) & 0x07)
  return (bits & 0x80) === 0 ? magnitude - bias : bias - magnitude
}

const bytes = Uint8Array.from({ length: 65_536 }, (_, index) => encodeSample((index << 16) >> 16))
const samples = Int16Array.from({ length: 256 }, (_, byte) => decodeByte(byte))

export const encodeMulaw = (pcm: Int16Array): Uint8Array => {
  const out = new Uint8Array(pcm.length)
  for (let at = 0; at < pcm.length; at++) out[at] = bytes[(pcm[at] ?? 0) & 0xffff] ?? 0
  return out
}

export const decodeMulaw = (encoded: Uint8Array): Int16Array => {
  const out = new Int16Array(encoded.length)
  for (let at = 0; at < encoded.length; at++) out[at] = samples[encoded[at] ?? 0] ?? 0
  return out
}
