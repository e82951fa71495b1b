/**
 * Cuts an encoder's output into whole frames, counts them, and lets out those of a window of their numbers.
 * A frame leaves with the write that completes it; nothing is held back but the beginning of the next one.
 */

/** How a container's frames are recognised. */
export interface FrameShape {
  /** So much of a frame tells its length. */
  readonly headerBytes: (bytes: Uint8Array, at: number) => number
  /** 0 where no frame begins. */
  readonly lengthBytes: (bytes: Uint8Array, at: number) => number
  readonly samples: (bytes: Uint8Array, at: number) => number
}

export interface FrameCutter {
  /** The frames numbered `first` up to, and not with, `end` leave; numbers count from the process' start. */
  readonly letOut: (first: number, end: number) => void
  /** The bytes that leave, or null where no frame began that should have. */
  readonly push: (bytes: Uint8Array) => Uint8Array | null
  readonly framesSeen: () => number
  /** In the encoder's rate. */
  readonly samplesSeen: () => number
}

export const makeFrameCutter = (shape: FrameShape): FrameCutter => {
  let rest: Uint8Array = new Uint8Array(0)
  let frames = 0
  let samples = 0
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
        samples += shape.samples(bytes, at)
        at += length
        if (frames < window.first) from = at
        if (frames < window.end) to = at
        frames += 1
      }
      rest = bytes.slice(at)
      return bytes.subarray(from, Math.max(from, to))
    },
    framesSeen: () => frames,
    samplesSeen: () => samples
  }
}

const joined = (left: Uint8Array, right: Uint8Array) => {
  const both = new Uint8Array(left.length + right.length)
  both.set(left)
  both.set(right, left.length)
  return both
}
