/** The filter before every measure of loudness (ITU-R BS.1770): the head's shelf, then a high-pass. Any rate. */

interface Biquad {
  readonly b0: number
  readonly b1: number
  readonly b2: number
  readonly a1: number
  readonly a2: number
}

/** The standard tells its coefficients for 48,000 Hz alone; these are the analogue filters behind them. */
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

/** Takes one sample after the other, of full scale 1, and answers with each as it is heard. */
export const kWeighting = (rateHz: number): ((sample: number) => number) => {
  const [head, low] = [filter(shelfAt(rateHz)), filter(highPassAt(rateHz))]
  return (sample) => low(head(sample))
}
