/** The header of a WAV file of 16-bit mono PCM, with the true sizes. */

export const wavHeaderBytes = 44

export const wavHeader = (rateHz: number, dataBytes: number): Uint8Array => {
  const header = new Uint8Array(wavHeaderBytes)
  const view = new DataView(header.buffer)
  const text = (at: number, value: string) => header.set(new TextEncoder().encode(value), at)
  text(0, "RIFF")
  view.setUint32(4, wavHeaderBytes - 8 + dataBytes, true)
  text(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, rateHz, true)
  view.setUint32(28, rateHz * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, "data")
  view.setUint32(40, dataBytes, true)
  return header
}
