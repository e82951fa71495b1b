/** Sound as bytes: 16-bit little-endian PCM, one channel. */

export const bytesOfBase64 = (text: string): Uint8Array => {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}

const joined = (first: number, rest: Uint8Array) => {
  const whole = new Uint8Array(rest.length + 1)
  whole[0] = first
  whole.set(rest, 1)
  return whole
}

/** Samples from bytes that come in pieces of any size; half a sample waits for its other half. */
export const sampleReader = () => {
  let half: number | undefined
  return (bytes: Uint8Array): Int16Array<ArrayBuffer> => {
    const whole = half === undefined ? bytes : joined(half, bytes)
    const count = whole.length >> 1
    half = whole.length % 2 === 1 ? whole[whole.length - 1] : undefined
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength)
    const samples = new Int16Array(count)
    for (let index = 0; index < count; index++) samples[index] = view.getInt16(index * 2, true)
    return samples
  }
}

const headerBytes = 44

/** A WAV file of one channel. */
export const wavOf = (parts: ReadonlyArray<Int16Array>, sampleRateHz: number): Uint8Array<ArrayBuffer> => {
  const dataBytes = parts.reduce((sum, { length }) => sum + length * 2, 0)
  const file = new Uint8Array(headerBytes + dataBytes)
  const view = new DataView(file.buffer)
  const word = (at: number, text: string) => file.set(new TextEncoder().encode(text), at)
  word(0, "RIFF")
  view.setUint32(4, 36 + dataBytes, true)
  word(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, sampleRateHz, true)
  view.setUint32(28, sampleRateHz * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  word(36, "data")
  view.setUint32(40, dataBytes, true)
  let at = headerBytes
  for (const part of parts)
    for (const sample of part) {
      view.setInt16(at, sample, true)
      at += 2
    }
  return file
}

/** Floats of -1 to 1, as the browser has them. */
export const samplesOfFloats = (floats: Float32Array): Int16Array<ArrayBuffer> =>
  Int16Array.from(floats, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767))

/** Adds samples to the peaks, 0 to 1: the loudest of each stretch of so many, of which `before` were there already. */
export const addPeaks = (
  peaks: Array<number>,
  samples: Int16Array,
  { before, stretch }: { readonly before: number; readonly stretch: number }
) => {
  for (let index = 0; index < samples.length; index++) {
    const place = Math.floor((before + index) / stretch)
    peaks[place] = Math.max(peaks[place] ?? 0, Math.abs(samples[index] ?? 0) / 32_768)
  }
}
