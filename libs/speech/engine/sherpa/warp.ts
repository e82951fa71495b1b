/**
 * Word times for an engine that reports none: an engine that does report them speaks the same text, and its times are
 * carried over by dynamic time warping, which finds the pairs of moments at which two recordings sound most alike. A
 * word after a pause starts where the sound does. Pure.
 */
import { makeFft } from "../onnx/fft.ts"

export interface Sound {
  readonly pcm: Int16Array
  readonly hz: number
}

export interface PlacedWord {
  readonly position: number
  readonly sample: number
}

/** The words of the reference, whose samples count at its rate, as they occur in the other sound. */
export const carriedOver = (
  words: ReadonlyArray<PlacedWord>,
  reference: Sound,
  target: Sound
): ReadonlyArray<PlacedWord> => {
  const [from, to] = [featuresOf(reference), featuresOf(target)]
  if (from.count === 0 || to.count === 0) return []
  const path = warped(from, to)
  let least = 0
  return words.map(({ position, sample }) => {
    const frame = Math.min(from.count - 1, Math.max(0, Math.round((sample * framesPerSecond) / reference.hz)))
    const begins = behindPause(to.levels, path[frame] ?? 0)
    least = Math.max(least, Math.min(target.pcm.length - 1, Math.round((begins * target.hz) / framesPerSecond)))
    return { position, sample: least }
  })
}

const framesPerSecond = 100
const windowSeconds = 0.025
const bands = 26
const coefficients = 13
const highestHz = 7_000

interface Features {
  readonly count: number
  /** Rows of cepstral coefficients, each with the overall mean and spread removed. */
  readonly rows: Float32Array
  /** Decibels below the loudest frame. */
  readonly levels: Float32Array
}

export const featuresOf = ({ pcm, hz }: Sound): Features => {
  const hop = hz / framesPerSecond
  const count = Math.max(0, Math.floor(pcm.length / hop))
  const length = Math.round(windowSeconds * hz)
  const size = 2 ** Math.ceil(Math.log2(length))
  const [transform, filters] = [makeFft(size), filtersOf(size, hz)]
  const values = { real: new Float64Array(size), imaginary: new Float64Array(size) }
  const rows = new Float32Array(count * coefficients)
  const levels = new Float32Array(count)
  const energies = new Float64Array(bands)
  for (let frame = 0; frame < count; frame++) {
    const middle = Math.round((frame + 0.5) * hop)
    values.real.fill(0)
    values.imaginary.fill(0)
    let power = 0
    for (let at = 0; at < length; at++) {
      const place = middle - (length >> 1) + at
      const sample = (pcm[place] ?? 0) - 0.97 * (pcm[place - 1] ?? 0)
      power += (pcm[place] ?? 0) ** 2
      values.real[at] = sample * (0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (length - 1)))
    }
    levels[frame] = 10 * Math.log10(power / length + 1)
    transform(values, false)
    for (const [band, filter] of filters.entries()) {
      let sum = 1
      for (const { bin, weight } of filter) sum += weight * (values.real[bin]! ** 2 + values.imaginary[bin]! ** 2)
      energies[band] = Math.log(sum)
    }
    for (let order = 0; order < coefficients; order++) {
      let sum = 0
      for (let band = 0; band < bands; band++)
        sum += energies[band]! * Math.cos((Math.PI * order * (band + 0.5)) / bands)
      rows[frame * coefficients + order] = sum
    }
  }
  const loudest = levels.reduce((most, level) => Math.max(most, level), 0)
  return { count, rows: normalised(rows, count), levels: levels.map((level) => level - loudest) }
}

/** Triangles that overlap, evenly spaced on the mel scale. */
const filtersOf = (size: number, hz: number) => {
  const melOf = (hertz: number) => 1_127 * Math.log(1 + hertz / 700)
  const step = melOf(highestHz) / (bands + 1)
  return Array.from({ length: bands }, (_, band) => {
    const filter: Array<{ readonly bin: number; readonly weight: number }> = []
    for (let bin = 1; bin < size / 2; bin++) {
      const weight = 1 - Math.abs(melOf((bin * hz) / size) / step - (band + 1))
      if (weight > 0) filter.push({ bin, weight })
    }
    return filter
  })
}

const normalised = (rows: Float32Array, count: number) => {
  for (let order = 0; order < coefficients; order++) {
    let [sum, squares] = [0, 0]
    for (let frame = 0; frame < count; frame++) {
      const value = rows[frame * coefficients + order]!
      sum += value
      squares += value * value
    }
    const mean = sum / Math.max(1, count)
    const spread = Math.sqrt(Math.max(1e-6, squares / Math.max(1, count) - mean * mean))
    for (let frame = 0; frame < count; frame++) {
      const at = frame * coefficients + order
      rows[at] = (rows[at]! - mean) / spread
    }
  }
  return rows
}

/** How far the two can deviate from an even stretch: a quarter of the total, and pauses of a second. */
const reachShare = 0.25
const reachFrames = 100
/** Pausing in one of the two costs a little, so that steady sounds are stretched evenly. */
const stillCost = 0.5

const [both, inTarget, inReference] = [0, 1, 2]

/** For each frame of the first the frame of the second. Only positions near an even stretch are searched. */
export const warped = (from: Features, to: Features): Int32Array => {
  const reach = Math.ceil(Math.max(from.count, to.count) * reachShare) + reachFrames
  const width = 2 * reach + 1
  const steps = new Uint8Array(from.count * width)
  let before = new Float64Array(width).fill(Number.POSITIVE_INFINITY)
  let beforeFirst = 0
  for (let row = 0; row < from.count; row++) {
    const first = Math.round((row * to.count) / from.count) - reach
    const costs = new Float64Array(width).fill(Number.POSITIVE_INFINITY)
    for (let place = 0; place < width; place++) {
      const column = first + place
      if (column < 0 || column >= to.count) continue
      const distance = distanceOf(from, row, to, column)
      const old = (at: number) => before[at - beforeFirst] ?? Number.POSITIVE_INFINITY
      const diagonal = row === 0 && column === 0 ? 0 : row === 0 ? Number.POSITIVE_INFINITY : old(column - 1)
      const down = (row === 0 ? Number.POSITIVE_INFINITY : old(column)) + stillCost
      const right = (place === 0 ? Number.POSITIVE_INFINITY : costs[place - 1]!) + stillCost
      const least = Math.min(diagonal, down, right)
      costs[place] = least + distance
      steps[row * width + place] = least === diagonal ? both : least === right ? inTarget : inReference
    }
    before = costs
    beforeFirst = first
  }
  return pathOf(from.count, to.count, (row, column) => {
    const first = Math.round((row * to.count) / from.count) - reach
    return steps[row * width + column - first] ?? both
  })
}

const pathOf = (rows: number, columns: number, stepAt: (row: number, column: number) => number) => {
  const path = new Int32Array(rows)
  let [row, column] = [rows - 1, columns - 1]
  while (row >= 0) {
    // The first of the frames that a frame is paired with.
    path[row] = column
    const step = column === 0 ? inReference : stepAt(row, column)
    if (step !== inReference) column -= 1
    if (step !== inTarget) row -= 1
  }
  return path
}

const distanceOf = (from: Features, row: number, to: Features, column: number) => {
  let sum = 0
  const [left, right] = [row * coefficients, column * coefficients]
  for (let order = 0; order < coefficients; order++) {
    const apart = from.rows[left + order]! - to.rows[right + order]!
    sum += apart * apart
  }
  return Math.sqrt(sum)
}

/** Silence is this far below the loudest frame, and a pause lasts three frames. */
const silentDb = -38
const pauseFrames = 3
/** A start this near a pause belongs to its end. */
const nearFrames = 12

/** The moment itself; near a pause, the moment at which the pause ends. */
const behindPause = (levels: Float32Array, frame: number) => {
  const isPause = (at: number) => {
    for (let back = 0; back < pauseFrames; back++) if ((levels[at - back] ?? silentDb) > silentDb) return false
    return true
  }
  const endOf = (at: number) => {
    let end = at
    while (end < levels.length && levels[end]! <= silentDb) end += 1
    return end < levels.length ? end : frame
  }
  for (let apart = 0; apart <= nearFrames; apart++) {
    if (frame - apart >= 0 && isPause(frame - apart)) return endOf(frame - apart)
    if (frame + apart < levels.length && isPause(frame + apart)) return endOf(frame + apart)
  }
  return frame
}
