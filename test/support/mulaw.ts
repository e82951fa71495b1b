/** A decoder of G.711 mu-law, as a listener's device has one. */

const bias = 0x84

const decodeByte = (byte: number) => {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) << 3) + bias) << ((bits >> 4) & 0x07)
  return (bits & 0x80) === 0 ? magnitude - bias : bias - magnitude
}

export const decodeMulaw = (encoded: Uint8Array): Int16Array => Int16Array.from(encoded, decodeByte)
