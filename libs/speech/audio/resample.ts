/**
 * Changes the rate of a stream of samples: a windowed sinc, one set of taps per phase. The output has no delay against
 * the input, is exactly round(total * to / from) samples long, and does not depend on how the input was cut into
 * pieces: every output sample is the same sum over the same samples.
 */
import { blockOutputs, keepTable, resampleBlock, type TapTable, tapsAtOnce } from "./resample-kernel.ts"
import { concatPcm } from "./samples.ts"

interface Resampler {
  readonly push: (pcm: Int16Array) => Int16Array
  /** The outputs that still waited for later samples; the input has ended. */
  readonly flush: () => Int16Array
}

// With a window this steep, images are 80 dB down.
const zeroCrossings = 24
const kaiserBeta = 8
// The pass band ends a little early, so that aliases fall where speech has no energy.
const rolloff = 0.93

export const makeResampler = (fromHz: number, toHz: number): Resampler => {
  if (fromHz === toHz) return { push: (pcm) => pcm, flush: () => new Int16Array(0) }
  const divisor = greatestCommonDivisor(fromHz, toHz)
  const up = toHz / divisor
  const down = fromHz / divisor
  const { table, half } = tapsOf(up, down)
  const outputsMax = blockOutputs(up, down)
  // Samples from `heldFrom - half` on: before the first one there is silence.
  let pending: Int16Array = new Int16Array(half)
  let heldFrom = 0
  let total = 0
  let made = 0

  const produce = (until: number) => {
    const out = new Int16Array(Math.max(0, until - made))
    for (let at = 0; at < out.length; at += outputsMax) {
      const position = (made + at) * down
      const samples = pending.subarray(Math.floor(position / up) - heldFrom + 1)
      resampleBlock({ samples, table, phase: position % up, up, down }, out.subarray(at, at + outputsMax))
    }
    made += out.length
    return out
  }

  const take = (pcm: Int16Array) => {
    // Samples that the next output no longer needs are dropped before the new ones are added.
    const next = Math.floor((made * down) / up)
    const spent = Math.min(pending.length, Math.max(0, next - heldFrom))
    const grown = new Int16Array(pending.length - spent + pcm.length)
    grown.set(pending.subarray(spent))
    grown.set(pcm, pending.length - spent)
    pending = grown
    heldFrom += spent
  }

  return {
    push: (pcm) => {
      take(pcm)
      total += pcm.length
      // The last output whose taps all lie on available samples: floor(m * down / up) + half < total.
      return produce(Math.max(made, Math.ceil(((total - half) * up) / down)))
    },
    flush: () => {
      take(new Int16Array(half))
      return produce(Math.floor((2 * total * up + down) / (2 * down)))
    }
  }
}

/** An entire sound at another rate. */
export const resample = (pcm: Int16Array, fromHz: number, toHz: number): Int16Array => {
  const resampler = makeResampler(fromHz, toHz)
  return concatPcm([resampler.push(pcm), resampler.flush()])
}

export const greatestCommonDivisor = (left: number, right: number): number =>
  right === 0 ? left : greatestCommonDivisor(right, left % right)

const tapTables = new Map<string, Taps>()

interface Taps {
  /** The taps of each phase, one phase after the other. */
  readonly table: TapTable
  /** Taps on either side of the output's position. */
  readonly half: number
}

const tapsOf = (up: number, down: number): Taps => {
  const key = `${up}/${down}`
  const known = tapTables.get(key)
  if (known !== undefined) return known
  const made = makeTaps(up, down)
  tapTables.set(key, made)
  return made
}

const makeTaps = (up: number, down: number): Taps => {
  const cutoff = Math.min(1, up / down) * rolloff
  const half = Math.ceil(zeroCrossings / cutoff)
  const rowLength = Math.ceil((half * 2) / tapsAtOnce) * tapsAtOnce
  const taps = new Float32Array(up * rowLength)
  for (let phase = 0; phase < up; phase++) {
    const row = new Float64Array(half * 2)
    for (let tap = 0; tap < row.length; tap++) {
      const distance = tap - half + 1 - phase / up
      row[tap] = sinc(cutoff * distance) * kaiser(distance / half)
    }
    // Each phase passes a constant unchanged, so none of them hums.
    const sum = row.reduce((total, value) => total + value, 0)
    taps.set(
      row.map((value) => value / sum),
      phase * rowLength
    )
  }
  return { table: keepTable(taps, rowLength), half }
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number) => (Math.abs(x) >= 1 ? 0 : bessel(kaiserBeta * Math.sqrt(1 - x * x)) / bessel(kaiserBeta))

const bessel = (x: number) => {
  let [sum, term] = [1, 1]
  for (let step = 1; step < 40; step++) {
    term *= (x / 2 / step) ** 2
    sum += term
  }
  return sum
}
