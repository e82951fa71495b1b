import { assert, describe, it } from "@effect/vitest"
import { carriedOver, type Sound } from "../../../../../libs/speech/engine/sherpa/warp.ts"

/** A stretch of a sound: harmonics of a pitch under one resonance, which is what tells vowels apart; 0 is silence. */
interface Stretch {
  readonly resonanceHz: number
  readonly seconds: number
}

const soundOf = (
  stretches: ReadonlyArray<Stretch>,
  hz: number,
  pitchHz: number
): Sound & { readonly startsMs: ReadonlyArray<number> } => {
  const startsMs: Array<number> = []
  const samples: Array<number> = []
  // All harmonics are whole again after so many samples: these are computed once for each resonance.
  const period = hz / greatestCommonDivisor(hz, pitchHz)
  for (const { resonanceHz, seconds } of stretches) {
    if (resonanceHz > 0) startsMs.push((samples.length * 1_000) / hz)
    const cycle = Array.from({ length: period }, (_, at) => sampleAt(at, { resonanceHz, hz, pitchHz }))
    for (let at = 0; at < seconds * hz; at++) samples.push(cycle[samples.length % period] ?? 0)
  }
  return { pcm: Int16Array.from(samples), hz, startsMs }
}

const greatestCommonDivisor = (left: number, right: number): number =>
  right === 0 ? left : greatestCommonDivisor(right, left % right)

const sampleAt = (
  at: number,
  { resonanceHz, hz, pitchHz }: { readonly resonanceHz: number; readonly hz: number; readonly pitchHz: number }
) => {
  const highestHz = resonanceHz > 0 ? 6_000 : 0
  let sum = 0
  for (let harmonic = 1; harmonic * pitchHz < highestHz; harmonic++) {
    const apart = (harmonic * pitchHz - resonanceHz) / 250
    sum += Math.cos((2 * Math.PI * harmonic * pitchHz * at) / hz) / (1 + apart * apart)
  }
  return Math.round(2_500 * sum)
}

const resonances = [500, 1_800, 900, 2_600, 700, 1_300, 0, 2_200, 400, 1_600]
const of = (seconds: (index: number) => number, hz: number, pitchHz: number) =>
  soundOf(
    resonances.map((resonanceHz, index) => ({ resonanceHz, seconds: seconds(index) })),
    hz,
    pitchHz
  )

const reference = of(() => 0.2, 22_050, 100)
const words = reference.startsMs.map((ms, position) => ({ position, sample: Math.round((ms * 22_050) / 1_000) }))

describe("word times that are carried over", () => {
  it.each([
    ["the same sound", () => 0.2, 22_050, 100],
    ["another rate and pitch", () => 0.2, 24_000, 180],
    ["a slower voice", () => 0.3, 24_000, 160],
    ["a faster voice", () => 0.13, 16_000, 140],
    ["a voice of another rhythm", (index: number) => 0.12 + 0.06 * (index % 4), 24_000, 170]
  ] as const)("meet those of %s", (_, seconds, hz, pitchHz) => {
    const target = of(seconds, hz, pitchHz)

    const placed = carriedOver(words, reference, target).map(({ sample }) => (sample * 1_000) / hz)

    for (const [at, ms] of placed.entries()) assert.closeTo(ms, target.startsMs[at] ?? 0, 30, `word ${at}`)
  })
  it("never go back, and stay within the sound", () => {
    for (const seconds of [0.02, 0.05, 1]) {
      const target = of(() => seconds, 24_000, 150)
      const placed = carriedOver(words, reference, target)
      assert.strictEqual(placed.length, words.length)
      assert.isTrue(placed.every(({ sample }, at) => sample >= (placed[at - 1]?.sample ?? 0)))
      assert.isTrue(placed.every(({ sample }) => sample < target.pcm.length))
    }
  })
  it("are none where there is no sound", () => {
    const none = { pcm: new Int16Array(0), hz: 24_000 }
    assert.deepStrictEqual(carriedOver(words, reference, none), [])
    assert.deepStrictEqual(carriedOver([], none, reference), [])
  })
})
