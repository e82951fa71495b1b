/** Decoders of G.711, as a listener's device has them. */

const bias = 0x84

const mulawSample = (byte: number) => {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) << 3) + bias) << ((bits >> 4) & 0x07)
  return (bits & 0x80) === 0 ? magnitude - bias : bias - magnitude
}

export const decodeMulaw = (encoded: Uint8Array): Int16Array => Int16Array.from(encoded, mulawSample)

const alawSample = (byte: number) => {
  const bits = byte ^ 0x55
  const exponent = (bits >> 4) & 0x07
  const base = ((bits & 0x0f) << 4) + 8
  const magnitude = exponent === 0 ? base : (base + 0x100) << (exponent - 1)
  return (bits & 0x80) === 0 ? -magnitude : magnitude
}

export const decodeAlaw = (encoded: Uint8Array): Int16Array => Int16Array.from(encoded, alawSample)
