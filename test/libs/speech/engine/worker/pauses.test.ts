import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { WordStart } from "#speech/contract"
import { endPause, paced, pauseAfter, pauseBefore } from "../../../../../libs/speech/engine/worker/pauses.ts"

describe("the pause that punctuation asks for", () => {
  it.each([
    ["Yes.", 320],
    ['He said "no!" ', 320],
    ["どうも。", 320],
    ["شكرا؟", 320],
    ["Yes, ", 160],
    ["Yes;", 240],
    ["as follows: (", 240],
    ["Well... ", 240],
    ["Well… ", 240],
    ["He paused – ", 240],
    ["Yes", 0],
    ["$1.5", 0],
    ["a well-known ", 0],
    ["", 0]
  ])("behind %j is %d ms", (text, milliseconds) => {
    assert.strictEqual(pauseAfter(text), milliseconds)
  })
  it.each([
    ["Dr. Smith", 4, 0],
    ["No, Dr. Smith", 4, 160],
    ["Well... maybe", 8, 240],
    ['"Really?" she asked', 10, 320]
  ])("within %j at %d is %d ms", (text, position, milliseconds) => {
    assert.strictEqual(pauseBefore(text, position), milliseconds)
  })
  it("ends a heading without a mark as a sentence, and a part of a sentence not at all", () => {
    assert.deepStrictEqual(
      [endPause("Chapter one", true), endPause("the old", false), endPause("Yes,", false)],
      [320, 0, 160]
    )
  })
})

const hz = 1_000
/** Milliseconds of sound, negative for silence, as samples that are told apart. */
const soundOf = (stretches: ReadonlyArray<number>) => {
  let at = 0
  return Int16Array.from(
    stretches.flatMap((length) => Array.from({ length: Math.abs(length) }, () => (length < 0 ? 0 : 1_000 + at++)))
  )
}

interface Given {
  readonly speed?: number
  readonly ownSpeed?: number
  readonly endPause?: number
  readonly words?: ReadonlyArray<readonly [sample: number, pause: number]>
  /** Samples that come at once. */
  readonly step?: number
  readonly wordsComeLate?: boolean
}

const heard = (
  pcm: Int16Array,
  { speed = 1, ownSpeed = speed, endPause = 320, words = [], step = pcm.length, wordsComeLate = false }: Given = {}
) => {
  const samples: Array<number> = []
  const starts: Array<WordStart> = []
  const told: Array<number> = []
  const utterance = paced(
    {
      audio: (part) => samples.push(...part) >= 0,
      word: (word) => {
        starts.push(word)
        told.push(samples.length)
      }
    },
    { hz, passage: { gainDb: 0, speed }, ownSpeed, begun: 0, endPause }
  )
  const tell = () => {
    for (const [position, [sample, pause]] of words.entries()) utterance.word({ piece: 0, position, sample }, pause)
  }
  if (!wordsComeLate) tell()
  for (let at = 0; at < pcm.length; at += Math.max(1, step)) utterance.audio(pcm.slice(at, at + Math.max(1, step)))
  if (wordsComeLate) tell()
  utterance.end()
  return { samples, starts: starts.map(({ sample }) => sample), told, length: utterance.samples() }
}

/** Lengths of sound, and negative ones of silence. */
const stretchesOf = (samples: ReadonlyArray<number>) => {
  const found: Array<number> = []
  for (const sample of samples) {
    const sign = sample === 0 ? -1 : 1
    if (Math.sign(found.at(-1) ?? 0) === sign) found[found.length - 1] = (found.at(-1) ?? 0) + sign
    else found.push(sign)
  }
  return found
}

describe("a paced utterance", () => {
  it("begins 30 ms before its first sound, and ends with the pause of its mark", () => {
    assert.deepStrictEqual(stretchesOf(heard(soundOf([-300, 500, -450])).samples), [-30, 500, -290])
    assert.deepStrictEqual(stretchesOf(heard(soundOf([-300, 500]), { endPause: 160 }).samples), [-30, 500, -130])
    assert.deepStrictEqual(stretchesOf(heard(soundOf([-10, 500, -450]), { endPause: 0 }).samples), [-10, 500, -30])
  })
  it.each([
    ["too long", -400],
    ["too short", -60],
    ["right", -160]
  ])("makes a pause at a comma that is %s as long as the comma asks", (_, silence) => {
    const pcm = soundOf([500, silence, 500])
    const { samples, starts } = heard(pcm, {
      words: [
        [0, 0],
        [500 - silence + 20, 160]
      ]
    })
    assert.deepStrictEqual(stretchesOf(samples), [500, -160, 500, -290])
    assert.deepStrictEqual(starts, [0, 680])
  })
  it("leaves a silence without a mark, and the stop of a consonant, as they are", () => {
    const pcm = soundOf([500, -400, 500, -40, 500])
    const words = [
      [0, 0],
      [900, 0],
      [1_440, 160]
    ] as const
    assert.deepStrictEqual(stretchesOf(heard(pcm, { words }).samples), [500, -400, 500, -40, 500, -290])
  })
  it("pauses for less when it is spoken faster", () => {
    const { samples } = heard(soundOf([500, -400, 500]), { speed: 2, words: [[900, 160]] })
    assert.deepStrictEqual(stretchesOf(samples), [500, -80, 500, -130])
  })
  it("is stretched where the model does not speak so fast itself, and so are its pauses and its words", () => {
    const pcm = soundOf([-300, 500, -400, 600])
    const { length, samples, starts } = heard(pcm, {
      speed: 4,
      ownSpeed: 1.25,
      words: [
        [310, 0],
        [1_200, 160]
      ]
    })
    const unstretched = 30 + 500 + 128 + 600 + 226
    assert.strictEqual(length, Math.round(unstretched / 3.2))
    assert.strictEqual(samples.length, length)
    assert.deepStrictEqual(starts, [Math.round(40 / 3.2), Math.round(658 / 3.2)])
  })
  it("keeps a word's distance from the sound behind a shortened silence", () => {
    const words = [
      [280, 0],
      [100, 0],
      [880, 160],
      [600, 0]
    ] as const
    const { starts } = heard(soundOf([-300, 200, -400, 500]), { words })
    assert.deepStrictEqual(
      starts.toSorted((left, right) => left - right),
      [0, 10, 230, 370]
    )
  })
  it("passes on what is silent from beginning to end", () => {
    assert.strictEqual(heard(soundOf([-300])).length, 300)
    assert.strictEqual(heard(soundOf([])).length, 0)
  })

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const Stretches = Schema.Array(Schema.Tuple([upTo(200), upTo(500)]))
  const Words = Schema.Array(Schema.Tuple([upTo(2_000), upTo(320)]))
  it.prop(
    "is the same however it comes, loses no sound, and tells each word no later than its sound",
    [Stretches, Words, upTo(300)],
    ([stretches, words, step]) => {
      const pcm = soundOf(stretches.flatMap(([sound, silence]) => [sound, -silence]))
      const atOnce = heard(pcm, { words })
      const inParts = heard(pcm, { words, step })
      assert.deepStrictEqual(inParts.samples, atOnce.samples)
      assert.deepStrictEqual(
        atOnce.samples.filter((sample) => sample !== 0),
        [...pcm].filter((sample) => sample !== 0)
      )
      const byStart = (starts: ReadonlyArray<number>) => starts.toSorted((left, right) => left - right)
      assert.deepStrictEqual(byStart(inParts.starts), byStart(atOnce.starts))
      assert.strictEqual(inParts.starts.length, words.length)
      for (const [at, start] of inParts.starts.entries()) {
        assert.isAtMost(start, inParts.length)
        assert.isAtMost(inParts.told[at] ?? 0, Math.max(start, 0))
      }
    }
  )
  it.prop("keeps the place of words that come late", [Stretches, Words], ([stretches, words]) => {
    const pcm = soundOf(stretches.flatMap(([sound, silence]) => [sound, -silence]))
    const unmarked = words.map(([sample]) => [sample, 0] as const)
    const [early, late] = [heard(pcm, { words: unmarked }), heard(pcm, { words: unmarked, wordsComeLate: true })]
    assert.deepStrictEqual(
      late.starts.toSorted((a, b) => a - b),
      early.starts.toSorted((a, b) => a - b)
    )
  })
})
