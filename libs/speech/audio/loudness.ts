/**
 * The loudness leveller brings speech to a loudness while it streams. Gain depends on the position and never on how the
 * samples are cut into pieces, so the same speech is levelled to the same bytes; nothing is held back, so it delays no
 * byte.
 *
 * Loudness is that of ITU-R BS.1770: K-weighted power in blocks of 400 ms, ten of them a second, without the quiet
 * ones. The output so far is measured, and the gain of the next 100 ms would bring the entire output to the target if
 * the speech continued unchanged. At first, before any measurement, speech counts as loud as the voices' own level.
 * Peaks are bent below the ceiling instead of being clipped.
 */
import { speechSampleRateHz } from "#speech/contract"

interface LoudnessLeveller {
  readonly push: (pcm: Int16Array) => Int16Array
}

/** The loudness that streaming services require. */
export const loudnessTarget = { lufs: -14, peakDbfs: -2 } as const

/** English text in the voices of the catalogue, over a minute: -18.4 to -19 LUFS. */
const speechLufs = -18.8
const hopSamples = speechSampleRateHz / 10
const hopsOfBlock = 4
/** This many blocks of normal speech are assumed at first, so that a single word does not decide the gain. */
const priorBlocks = 20
/** A deviation is corrected over a third of the time so far, and never faster than this. */
const horizonBlocksMin = 10
/** In dB: the range of the gain, and its largest change within a hop. */
const reachDb = 12
const stepDb = 0.25

/** In LUFS: a block below this is inaudible. A block this far below the rest is a pause. */
const absoluteGateLufs = -70
const relativeGateDb = 10
const binsPerDb = 10
const loudestLufs = 5

const powerOf = (lufs: number) => 10 ** ((lufs + 0.691) / 10)
const lufsOf = (power: number) => 10 * Math.log10(power) - 0.691
const factorOf = (decibels: number) => 10 ** (decibels / 20)

const nominalDb = loudnessTarget.lufs - speechLufs
const targetPower = powerOf(loudnessTarget.lufs)
const priorPower = powerOf(speechLufs)
const fullScale = 32_768
// Between its samples a bent peak exceeds them by up to half a decibel.
const ceiling = factorOf(loudnessTarget.peakDbfs - 0.6) * fullScale
const knee = 0.7 * ceiling

export const makeLoudnessLeveller = (): LoudnessLeveller => {
  const weight = kWeighting(speechSampleRateHz)
  const output = gatedBlocks()
  let gainDb = nominalDb
  let gain = factorOf(nominalDb)
  let step = 0
  let at = 0
  let power = 0
  let gainPower = 0
  let hops: ReadonlyArray<Hop> = []

  const endHop = () => {
    hops = [...hops, { power: power / hopSamples, gainPower: gainPower / hopSamples }].slice(-hopsOfBlock)
    at = 0
    power = 0
    gainPower = 0
    gain = factorOf(gainDb)
    if (hops.length === hopsOfBlock) output.add(blockOf(hops))
    const wanted = output.gainDb()
    gainDb += Math.max(-stepDb, Math.min(stepDb, wanted - gainDb))
    step = (factorOf(gainDb) - gain) / hopSamples
  }

  return {
    push: (pcm) => {
      const out = new Int16Array(pcm.length)
      for (let index = 0; index < pcm.length; index++) {
        gain += step
        const sample = bent((pcm[index] ?? 0) * gain)
        out[index] = sample
        power += weight(sample / fullScale) ** 2
        gainPower += gain * gain
        at += 1
        if (at === hopSamples) endHop()
      }
      return out
    }
  }
}

interface Hop {
  readonly power: number
  readonly gainPower: number
}

const blockOf = (hops: ReadonlyArray<Hop>): Hop => ({
  power: hops.reduce((sum, hop) => sum + hop.power, 0) / hops.length,
  gainPower: hops.reduce((sum, hop) => sum + hop.gainPower, 0) / hops.length
})

/** The rounded sample, unchanged below the knee. */
const bent = (value: number) => {
  const size = Math.abs(value)
  if (size <= knee) return Math.round(value)
  const headroom = ceiling - knee
  return Math.sign(value) * Math.round(knee + headroom * Math.tanh((size - knee) / headroom))
}

/**
 * Blocks of the output, counted by loudness in tenths of a decibel: exact enough for the gate, and bounded for texts of
 * any length.
 */
const gatedBlocks = () => {
  const bins = (loudestLufs - absoluteGateLufs) * binsPerDb
  const counts = new Float64Array(bins)
  const powers = new Float64Array(bins)
  const sources = new Float64Array(bins)
  const above = (gateLufs: number) => {
    let [count, power, source] = [0, 0, 0]
    for (let bin = Math.max(0, Math.ceil((gateLufs - absoluteGateLufs) * binsPerDb)); bin < bins; bin++) {
      count += counts[bin] ?? 0
      power += powers[bin] ?? 0
      source += sources[bin] ?? 0
    }
    return { count, power, source }
  }
  return {
    add: ({ power, gainPower }: Hop) => {
      const bin = Math.floor((lufsOf(power) - absoluteGateLufs) * binsPerDb)
      if (!(bin >= 0)) return
      const clamped = Math.min(bin, bins - 1)
      counts[clamped] = (counts[clamped] ?? 0) + 1
      powers[clamped] = (powers[clamped] ?? 0) + power
      sources[clamped] = (sources[clamped] ?? 0) + power / gainPower
    },
    gainDb: () => {
      const all = above(absoluteGateLufs)
      if (all.count === 0) return nominalDb
      const { count, power, source } = above(lufsOf(all.power / all.count) - relativeGateDb)
      const likely = (source + priorBlocks * priorPower) / (count + priorBlocks)
      const horizon = Math.max(horizonBlocksMin, count / 3)
      const lacking = (targetPower * (count + horizon) - power) / horizon
      const needed = lacking > 0 ? 10 * Math.log10(lacking / likely) : Number.NEGATIVE_INFINITY
      return Math.max(nominalDb - reachDb, Math.min(nominalDb + reachDb, needed))
    }
  }
}

interface Biquad {
  readonly b0: number
  readonly b1: number
  readonly b2: number
  readonly a1: number
  readonly a2: number
}

/** The standard gives its coefficients only for 48,000 Hz; these are the analogue filters behind them. */
const shelf = { hz: 1_681.974_450_955_533, gainDb: 3.999_843_853_973_347, q: 0.707_175_236_955_419_6 }
const highPass = { hz: 38.135_470_876_024_44, q: 0.500_327_037_323_877_3 }
const shelfBand = 0.499_666_774_154_541_6

const shelfAt = (rateHz: number): Biquad => {
  const k = Math.tan((Math.PI * shelf.hz) / rateHz)
  const high = 10 ** (shelf.gainDb / 20)
  const band = high ** shelfBand
  const a0 = 1 + k / shelf.q + k * k
  return {
    b0: (high + (band * k) / shelf.q + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (band * k) / shelf.q + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / shelf.q + k * k) / a0
  }
}

const highPassAt = (rateHz: number): Biquad => {
  const k = Math.tan((Math.PI * highPass.hz) / rateHz)
  const a0 = 1 + k / highPass.q + k * k
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / highPass.q + k * k) / a0 }
}

const filter = ({ b0, b1, b2, a1, a2 }: Biquad) => {
  let [first, second] = [0, 0]
  return (input: number) => {
    const output = b0 * input + first
    first = b1 * input - a1 * output + second
    second = b2 * input - a2 * output
    return output
  }
}

/**
 * The filter before every measure of loudness (ITU-R BS.1770): the head's shelf, then a high-pass. Works at any rate.
 */
export const kWeighting = (rateHz: number): ((sample: number) => number) => {
  const [head, low] = [filter(shelfAt(rateHz)), filter(highPassAt(rateHz))]
  return (sample) => low(head(sample))
}
