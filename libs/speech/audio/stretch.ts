/**
 * Makes a stream of samples faster or slower without a change of its pitch (WSOLA): every 12 ms of the result continue
 * with the stretch of the sound that is most like what would have come next, within 6 ms of where it belongs. The
 * output has no delay against the input, is exactly round(total / speed) samples long, and does not depend on how the
 * input was cut into pieces.
 */
import { clampSample, concatPcm } from "./samples.ts"

interface Stretcher {
  readonly push: (pcm: Int16Array) => Int16Array
  /** What still waited for later samples; the input has ended. */
  readonly flush: () => Int16Array
}

const hopSeconds = 0.012
/** Both sides together hold a period of 83 Hz, the lowest voices'. */
const reachSeconds = 0.006
/** Likeness is compared at every third sample, and then once more around the best place. */
const coarse = 3

export const makeStretcher = (speed: number, hz: number): Stretcher => {
  if (speed === 1) return { push: (pcm) => pcm, flush: () => new Int16Array(0) }
  const hop = Math.round(hopSeconds * hz)
  const reach = Math.round(reachSeconds * hz)
  const fade = Float64Array.from({ length: hop }, (_, at) => 0.5 - 0.5 * Math.cos((Math.PI * (at + 0.5)) / hop))
  let held: Int16Array = new Int16Array(0)
  let [heldFrom, total, made] = [0, 0, 0]
  // Where in the input the sound would go on by itself.
  let next = 0

  /** The middle of each stretch belongs where the middle of its place in the output is. */
  const targetOf = (output: number) => Math.max(0, Math.round((output + hop / 2) * speed - hop / 2))

  const placeFor = (target: number) => {
    const likeness = (from: number, step: number) => {
      let [product, power] = [0, 1]
      for (let at = 0; at < hop; at += step) {
        const sample = held[from + at - heldFrom] ?? 0
        product += sample * (held[next + at - heldFrom] ?? 0)
        power += sample * sample
      }
      return product / Math.sqrt(power)
    }
    const best = (middle: number, around: number, step: number) => {
      let [place, most] = [middle, likeness(middle, step)]
      for (let distance = step; distance <= around; distance += step) {
        for (const from of [middle - distance, middle + distance]) {
          const alike = from < 0 ? Number.NEGATIVE_INFINITY : likeness(from, step)
          if (alike > most) [place, most] = [from, alike]
        }
      }
      return place
    }
    return best(best(target, reach, coarse), coarse - 1, 1)
  }

  const produce = (isEnded: boolean) => {
    const parts: Array<Int16Array> = []
    const end = Math.round(total / speed)
    for (;;) {
      const target = targetOf(made)
      const needed = Math.max(next, target + reach + coarse) + hop
      if (isEnded ? made >= end : needed > total || made + hop > end) return concatPcm(parts)
      const place = made === 0 ? 0 : placeFor(target)
      const out = new Int16Array(isEnded ? Math.min(hop, end - made) : hop)
      for (let at = 0; at < out.length; at++) {
        const [from, into] = [held[next + at - heldFrom] ?? 0, held[place + at - heldFrom] ?? 0]
        out[at] = clampSample(from + (into - from) * (fade[at] ?? 0))
      }
      parts.push(out)
      made += out.length
      next = place + hop
      const spent = Math.max(0, Math.min(next, targetOf(made) - reach - coarse) - heldFrom)
      held = held.subarray(spent)
      heldFrom += spent
    }
  }

  return {
    push: (pcm) => {
      held = concatPcm([held, pcm])
      total += pcm.length
      return produce(false)
    },
    flush: () => produce(true)
  }
}
