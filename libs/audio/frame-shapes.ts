/** How the frames of the three lossy containers begin, and how long they are. */
import type { FrameShape } from "./frame-cutter.ts"

const byte = (bytes: Uint8Array, at: number) => bytes[at] ?? 0

export const mp3FrameSamples = 576

// MPEG-2 layer III: the rates at or below 24 kHz.
const mp3Kbps = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const mp3RatesHz = [22_050, 24_000, 16_000]

/** The length of an MPEG-2 layer III frame by the first four bytes of it; 0 when it is none. */
export const mp3FrameBytes = (bytes: Uint8Array, at: number): number => {
  if (byte(bytes, at) !== 0xff || (byte(bytes, at + 1) & 0xfe) !== 0xf2) return 0
  const kbps = mp3Kbps[byte(bytes, at + 2) >> 4] ?? 0
  const rateHz = mp3RatesHz[(byte(bytes, at + 2) >> 2) & 3] ?? 0
  if (kbps === 0 || rateHz === 0) return 0
  return Math.floor((72_000 * kbps) / rateHz) + ((byte(bytes, at + 2) >> 1) & 1)
}

export const mp3Shape: FrameShape = {
  headerBytes: () => 4,
  lengthBytes: mp3FrameBytes,
  samples: () => mp3FrameSamples
}

export const aacFrameSamples = 1_024

export const adtsShape: FrameShape = {
  headerBytes: () => 7,
  lengthBytes: (bytes, at) =>
    byte(bytes, at) === 0xff && (byte(bytes, at + 1) & 0xf6) === 0xf0
      ? ((byte(bytes, at + 3) & 0x03) << 11) | (byte(bytes, at + 4) << 3) | (byte(bytes, at + 5) >> 5)
      : 0,
  samples: () => aacFrameSamples
}

export const opusFrameSamples = 480

const oggMagic = 0x4f676753
const oggFixedBytes = 27

const lacing = (bytes: Uint8Array, at: number) =>
  bytes.subarray(at + oggFixedBytes, at + oggFixedBytes + byte(bytes, at + 26))

/** Pages of Opus packets of 20 ms; the two header pages count as one packet each, which harms nothing. */
export const oggOpusShape: FrameShape = {
  headerBytes: (bytes, at) => oggFixedBytes + byte(bytes, at + 26),
  lengthBytes: (bytes, at) => {
    if (new DataView(bytes.buffer, bytes.byteOffset).getUint32(at) !== oggMagic) return 0
    return lacing(bytes, at).reduce((total, size) => total + size, oggFixedBytes + byte(bytes, at + 26))
  },
  samples: (bytes, at) => opusFrameSamples * lacing(bytes, at).filter((size) => size < 255).length
}
