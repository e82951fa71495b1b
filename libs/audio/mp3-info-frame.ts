/**
 * The frame that tells a decoder how many samples at the start are not audio. An encoder that writes to a
 * pipe leaves it out, and 46 ms of delay stay audible; so it is made by hand, from the header of the frame
 * that follows. Neither the number of frames is in it, which players would show as the duration, nor the
 * true size; but a size there must be, or ffmpeg plays the frame itself as 24 ms of silence.
 */
import { mp3FrameBytes } from "./frame-shapes.ts"

// MPEG-2 mono: after 4 bytes of header, 9 of side information.
const tagAt = 13
const flagsAt = tagAt + 4
const sizeFlag = 2
const sizeUnknown = 0x7fff_ffff
const versionAt = flagsAt + 8
const delaysAt = versionAt + 21

/** `delaySamples`: the encoder's; the decoder adds its own 529. */
export const mp3InfoFrame = (firstFrame: Uint8Array, delaySamples: number): Uint8Array => {
  const header = new Uint8Array(firstFrame.subarray(0, 4))
  // Neither padding nor a checksum.
  header[1] = (header[1] ?? 0) | 0x01
  header[2] = (header[2] ?? 0) & 0xfd
  const frame = new Uint8Array(mp3FrameBytes(header, 0))
  frame.set(header)
  frame.set(new TextEncoder().encode("Info"), tagAt)
  const view = new DataView(frame.buffer)
  view.setUint32(flagsAt, sizeFlag)
  view.setUint32(flagsAt + 4, sizeUnknown)
  frame.set(new TextEncoder().encode("LAME3.100"), versionAt)
  // Twelve bits of delay at the start, twelve of padding at the end.
  frame[delaysAt] = delaySamples >> 4
  frame[delaysAt + 1] = (delaySamples & 0x0f) << 4
  return frame
}
