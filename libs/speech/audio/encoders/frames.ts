/**
 * Frames of the three lossy containers: how they start, and how long they are. The cutter cuts an encoder's output into
 * whole frames, counts them, and passes those within a window of numbers. A frame leaves with the write that completes
 * it; only the start of the next one is held back.
 */

/** How a container's frames are recognized. */
export interface FrameShape {
  /** How many bytes of a frame determine its length. */
  readonly headerBytes: (bytes: Uint8Array, at: number) => number
  /** 0 if no frame starts there. */
  readonly lengthBytes: (bytes: Uint8Array, at: number) => number
  readonly samples: (bytes: Uint8Array, at: number) => number
}

export interface FrameCutter {
  /** Passes the frames from number `first` up to, but not including, `end`; numbers count from the process' start. */
  readonly letOut: (first: number, end: number) => void
  /** The bytes that leave, or null if a frame should have started and did not. */
  readonly push: (bytes: Uint8Array) => Uint8Array | null
  readonly framesSeen: () => number
  /** In the encoder's rate. */
  readonly samplesSeen: () => number
  /** Of them, those in the frames that were passed. */
  readonly samplesPassed: () => number
}

export const makeFrameCutter = (shape: FrameShape): FrameCutter => {
  let rest: Uint8Array = new Uint8Array(0)
  let frames = 0
  let samples = 0
  let passed = 0
  let window = { first: 0, end: Number.POSITIVE_INFINITY }

  return {
    letOut: (first, end) => (window = { first, end }),
    push: (added) => {
      const bytes = rest.length === 0 ? added : joined(rest, added)
      let at = 0
      let from = 0
      let to = 0
      while (at + shape.headerBytes(bytes, at) <= bytes.length) {
        const length = shape.lengthBytes(bytes, at)
        if (length === 0) return null
        if (at + length > bytes.length) break
        const frameSamples = shape.samples(bytes, at)
        samples += frameSamples
        at += length
        if (frames < window.first) from = at
        if (frames < window.end) to = at
        if (frames >= window.first && frames < window.end) passed += frameSamples
        frames += 1
      }
      rest = bytes.slice(at)
      return bytes.subarray(from, Math.max(from, to))
    },
    framesSeen: () => frames,
    samplesSeen: () => samples,
    samplesPassed: () => passed
  }
}

const joined = (left: Uint8Array, right: Uint8Array) => {
  const both = new Uint8Array(left.length + right.length)
  both.set(left)
  both.set(right, left.length)
  return both
}

const byte = (bytes: Uint8Array, at: number) => bytes[at] ?? 0

/** The meaning of a layer III header's bits, for the two MPEG versions that have our rates. */
interface Mp3Version {
  readonly kbps: ReadonlyArray<number>
  readonly ratesHz: ReadonlyArray<number>
  readonly samples: number
  /** The side information of a mono frame, after four bytes of header. */
  readonly sideBytes: number
}
const mpeg2: Mp3Version = {
  kbps: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ratesHz: [22_050, 24_000, 16_000],
  samples: 576,
  sideBytes: 9
}
const mpeg1: Mp3Version = {
  kbps: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ratesHz: [44_100, 48_000, 32_000],
  samples: 1_152,
  sideBytes: 17
}

const mp3VersionOf = (bytes: Uint8Array, at: number): Mp3Version | undefined => {
  if (byte(bytes, at) !== 0xff) return undefined
  const kind = byte(bytes, at + 1) & 0xfe
  return kind === 0xf2 ? mpeg2 : kind === 0xfa ? mpeg1 : undefined
}

/** The length of a layer III frame, from its first four bytes; 0 for other bytes. */
export const mp3FrameBytes = (bytes: Uint8Array, at: number): number => {
  const version = mp3VersionOf(bytes, at)
  const kbps = version?.kbps[byte(bytes, at + 2) >> 4] ?? 0
  const rateHz = version?.ratesHz[(byte(bytes, at + 2) >> 2) & 3] ?? 0
  if (version === undefined || kbps === 0 || rateHz === 0) return 0
  return Math.floor((version.samples * 125 * kbps) / rateHz) + ((byte(bytes, at + 2) >> 1) & 1)
}

export const mp3Shape: FrameShape = {
  headerBytes: () => 4,
  lengthBytes: mp3FrameBytes,
  samples: (bytes, at) => mp3VersionOf(bytes, at)?.samples ?? 0
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

const opusFrameSamples = 480

const oggMagic = 0x4f676753
const oggFixedBytes = 27

const lacing = (bytes: Uint8Array, at: number) =>
  bytes.subarray(at + oggFixedBytes, at + oggFixedBytes + byte(bytes, at + 26))

/** Pages of Opus packets of 20 ms. The two header pages count as one packet each, which does no harm. */
export const oggOpusShape: FrameShape = {
  headerBytes: (bytes, at) => oggFixedBytes + byte(bytes, at + 26),
  lengthBytes: (bytes, at) => {
    if (new DataView(bytes.buffer, bytes.byteOffset).getUint32(at) !== oggMagic) return 0
    return lacing(bytes, at).reduce((total, size) => total + size, oggFixedBytes + byte(bytes, at + 26))
  },
  samples: (bytes, at) => opusFrameSamples * lacing(bytes, at).filter((size) => size < 255).length
}

const headerBytes = 4
const sizeFlag = 2
const sizeUnknown = 0x7fff_ffff
// From the tag on.
const flagsAt = 4
const versionAt = flagsAt + 8
const delaysAt = versionAt + 21

/**
 * The frame that tells a decoder how many samples at the start are not audio. An encoder that writes to a pipe omits
 * it, and 46 ms of delay stay audible; so it is made here, from the header of the frame that follows. It does not
 * contain the number of frames, which players would show as the duration, nor the true size; but it must contain a
 * size, or ffmpeg plays the frame itself as 24 ms of silence. `delaySamples` is the encoder's; the decoder adds its own
 * 529.
 */
export const mp3InfoFrame = (firstFrame: Uint8Array, delaySamples: number): Uint8Array => {
  const header = new Uint8Array(firstFrame.subarray(0, 4))
  // Neither padding nor a checksum.
  header[1] = (header[1] ?? 0) | 0x01
  header[2] = (header[2] ?? 0) & 0xfd
  const frame = new Uint8Array(mp3FrameBytes(header, 0))
  frame.set(header)
  const tag = frame.subarray(headerBytes + (mp3VersionOf(header, 0)?.sideBytes ?? 0))
  tag.set(new TextEncoder().encode("Info"))
  const view = new DataView(frame.buffer, tag.byteOffset)
  view.setUint32(flagsAt, sizeFlag)
  view.setUint32(flagsAt + 4, sizeUnknown)
  tag.set(new TextEncoder().encode("LAME3.100"), versionAt)
  // Twelve bits of delay at the start, twelve of padding at the end.
  tag[delaysAt] = delaySamples >> 4
  tag[delaysAt + 1] = (delaySamples & 0x0f) << 4
  return frame
}
