/**
 * From the spectra of hibari's model to audio, as its own program does it: pulses at the pitch, shaped by one spectrum,
 * noise, shaped by a second, and a third with phases of its own, added up and transformed back. A frame is 12.5 ms.
 * Pure: the noise is the same each time, so that the same text gives the same audio.
 */
import { makeFft } from "./fft.ts"

export const vocoderHz = 24_000
export const vocoderHop = 300
const size = 1_200
const bins = size / 2 + 1
const overlap = size / vocoderHop

/** Each holds a row of frames for each of the bins; `pitch` a value for each frame, 0 if there is none. */
export interface Spectra {
  readonly harmonic: Float32Array
  readonly turn: Float32Array
  readonly noise: Float32Array
  readonly free: Float32Array
  readonly phase: Float32Array
  readonly pitch: Float32Array
}

const transform = makeFft(size)
const hann = Float64Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size))
/** The weight of a sample is the sum of its windows' squares: 1.5 inside, less at the ends. */
const tiny = 1e-11
const loudest = 7

/** Takes each stretch of audio as it is made; returns false to stop. */
type OnSound = (sound: Float32Array) => boolean

/** Half a second: the first is heard while the rest is made. */
const framesAtOnce = 40

export const makeSound = (spectra: Spectra, onSound: OnSound): void => {
  const frames = spectra.pitch.length
  const source = padded(pulses(spectra.pitch))
  const sum = new Float64Array((frames + overlap - 1) * vocoderHop)
  const weight = new Float64Array(sum.length)
  const values = { real: new Float64Array(size), imaginary: new Float64Array(size) }
  const shape = shaper(spectra)
  const add = (part: Float64Array, first: number) => {
    for (let at = 0; at < size; at++) {
      const window = hann[at]!
      sum[first + at] = sum[first + at]! + (part[at]! * window) / size
      weight[first + at] = weight[first + at]! + window * window
    }
  }
  let given = 0
  const giveUntil = (end: number) => {
    const sound = new Float32Array(Math.max(0, end - given))
    for (let at = 0; at < sound.length; at++) {
      const from = given + at + size / 2
      sound[at] = sum[from]! / Math.max(tiny, weight[from]!)
    }
    given += sound.length
    return sound.length === 0 || onSound(sound)
  }
  // Two real frames are one complex transform: one is its real part, the other its imaginary part.
  for (let frame = 0; frame < frames; frame += 2) {
    const first = frame * vocoderHop
    const isPair = frame + 1 < frames
    for (let at = 0; at < size; at++) {
      const window = (hann[at]! * overlap) / size
      values.real[at] = source[first + at]! * window
      values.imaginary[at] = isPair ? source[first + vocoderHop + at]! * window : 0
    }
    transform(values, false)
    shape(values, frame)
    transform(values, true)
    add(values.real, first)
    if (isPair) add(values.imaginary, first + vocoderHop)
    // Later frames still add to what is behind the middle of the next one's window.
    const isDue = (frame + 2) % framesAtOnce === 0
    if (isDue && !giveUntil(first + 2 * vocoderHop - size / 2)) return
  }
  giveUntil(frames * vocoderHop)
}

/** Replaces the spectra of two frames of pulses by those of their audio. */
const shaper = ({ harmonic, turn, noise, free, phase, pitch }: Spectra) => {
  const frames = pitch.length
  const random = gaussian()
  const made = new Float64Array(4)
  /** The spectrum of one frame at one bin, from that of the pulses there. */
  const shaped = (at: number, real: number, imaginary: number, into: number) => {
    const angle = Math.PI * Math.tanh(turn[at]!)
    const [cosine, sine, strength] = [Math.cos(angle), Math.sin(angle), Math.exp(Math.min(loudest, harmonic[at]!))]
    const hiss = Math.exp(Math.min(loudest, noise[at]!))
    const rest = Math.exp(Math.min(loudest, free[at]!))
    made[into] = (real * cosine - imaginary * sine) * strength + random() * hiss + Math.cos(phase[at]!) * rest
    made[into + 1] = (real * sine + imaginary * cosine) * strength + random() * hiss + Math.sin(phase[at]!) * rest
  }
  return ({ real, imaginary }: Record<"real" | "imaginary", Float64Array>, frame: number) => {
    const isPair = frame + 1 < frames
    for (let bin = 0; bin < bins; bin++) {
      const mirror = (size - bin) % size
      const [r, i, mr, mi] = [real[bin]!, imaginary[bin]!, real[mirror]!, imaginary[mirror]!]
      shaped(bin * frames + frame, (r + mr) / 2, (i - mi) / 2, 0)
      if (isPair) shaped(bin * frames + frame + 1, (i + mi) / 2, (mr - r) / 2, 2)
      else made.fill(0, 2)
      const isEdge = bin === 0 || bin === size / 2
      // The first and the last bin of a real signal are real.
      const [firstI, secondI] = isEdge ? [0, 0] : [made[1]!, made[3]!]
      real[bin] = made[0]! - secondI
      imaginary[bin] = firstI + made[2]!
      real[mirror] = made[0]! + secondI
      imaginary[mirror] = made[2]! - firstI
    }
  }
}

const lowestHz = 40
const highestHz = 11_000

/** Every harmonic of the pitch below 11 kHz, all equally loud, in closed form; silence where there is no pitch. */
const pulses = (pitch: Float32Array) => {
  const sound = new Float64Array(pitch.length * vocoderHop)
  let phase = 0
  for (let at = 0; at < sound.length; at++) {
    const hertz = between(pitch, (at + 0.5) / vocoderHop - 0.5)
    const base = Math.max(lowestHz, hertz)
    phase = (phase + base / vocoderHz) % 1
    if (hertz <= lowestHz) continue
    const harmonics = Math.floor(highestHz / base) + 0.5
    const half = 2 * Math.sin(Math.PI * phase)
    sound[at] = (Math.abs(half) <= 2e-3 ? harmonics : Math.sin(harmonics * 2 * Math.PI * phase) / half) - 0.5
  }
  return sound
}

const between = (values: Float32Array, at: number) => {
  const below = Math.floor(at)
  const [left, right] = [values[Math.max(0, below)]!, values[Math.min(values.length - 1, below + 1)]!]
  return left + (right - left) * (at - below)
}

/** With half a window of its own mirror image at both ends. */
const padded = (sound: Float64Array) => {
  const half = size / 2
  const whole = new Float64Array(sound.length + size)
  whole.set(sound, half)
  for (let at = 1; at <= half; at++) {
    whole[half - at] = sound[Math.min(at, sound.length - 1)] ?? 0
    whole[half + sound.length - 1 + at] = sound[Math.max(0, sound.length - 1 - at)] ?? 0
  }
  return whole
}

const tableSize = 65_536
let table: Float32Array | undefined

/** Normally distributed numbers from a table, which a generator of its own walks. */
const gaussian = () => {
  table ??= gaussianTable()
  const values = table
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return values[state >>> 16]!
  }
}

/** By Box and Muller, from two uniform numbers that fill their square evenly. */
const gaussianTable = () =>
  Float32Array.from({ length: tableSize }, (_, at) => {
    const golden = (at * 0.618_033_988_749_895) % 1
    return Math.sqrt(-2 * Math.log((at + 0.5) / tableSize)) * Math.cos(2 * Math.PI * golden)
  })
