import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { WordStart } from "#speech/contract"
import { alignChunk, alignPhonemes, timeOf } from "../../../libs/speech/align.ts"
import type { Token } from "../../../libs/speech/text/chunker.ts"

/** Words of one piece, one space apart, as a reader would cut them. */
const tokensOf = (text: string, piece = 0): ReadonlyArray<Token> =>
  [...text.matchAll(/\S+/gu)].map((match) => ({
    piece,
    textStart: match.index,
    textEnd: match.index + match[0].length,
    start: match.index,
    end: match.index + match[0].length,
    value: match[0]
  }))

const word = (position: number, sample: number, piece = 0): WordStart => ({ piece, position, sample })

const align = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<WordStart>, speechStartSample = 0) =>
  alignChunk({ tokens, words, speechStartSample, speechEndSample: 48_000, turn: undefined }).map((mark) => [
    mark.value,
    mark.start_time,
    mark.end_time
  ])

describe("the speech marks of a chunk", () => {
  it("begin where the engine began the word, and end where the next one begins", () => {
    assert.deepStrictEqual(align(tokensOf("one two three"), [word(0, 0), word(4, 12_000), word(8, 24_000)]), [
      ["one", 0, 500],
      ["two", 500, 1_000],
      ["three", 1_000, 2_000]
    ])
  })

  it("lie on the timeline of the whole answer", () => {
    assert.deepStrictEqual(align(tokensOf("one"), [word(0, 2_400)], 240_000), [["one", 10_100, 12_000]])
  })

  it("begin at the first of several starts within one word", () => {
    const spoken = [word(0, 1_200), word(1, 6_000), word(5, 9_600), word(10, 24_000)]
    assert.deepStrictEqual(align(tokensOf("$1,234.56 paid"), spoken), [
      ["$1,234.56", 50, 1_000],
      ["paid", 1_000, 2_000]
    ])
  })

  it("interpolate a word that the engine did not report between its neighbours", () => {
    const marks = align(tokensOf("aaaa bbbb cccc"), [word(0, 0), word(10, 24_000)])
    assert.deepStrictEqual(marks[1], ["bbbb", 500, 1_000])
  })

  it("cover all words of a chunk of which the engine reported none", () => {
    const marks = align(tokensOf("aa bb cc dd"), [])
    assert.deepStrictEqual(
      marks.map(([value]) => value),
      ["aa", "bb", "cc", "dd"]
    )
    assert.strictEqual(marks[3]?.[2], 2_000)
  })

  it("distinguish pieces whose texts have the same positions", () => {
    const tokens = [...tokensOf("one two"), ...tokensOf("three four", 1)]
    const words = [word(0, 0), word(4, 6_000), word(0, 12_000, 1), word(6, 24_000, 1)]
    assert.deepStrictEqual(
      align(tokens, words).map(([, from]) => from),
      [0, 250, 500, 1_000]
    )
  })

  it("name the turn in a dialogue, and none otherwise", () => {
    const chunk = { tokens: tokensOf("hi"), words: [], speechStartSample: 0, speechEndSample: 10 }
    assert.strictEqual(alignChunk({ ...chunk, turn: 3 })[0]?.turn, 3)
    assert.notProperty(alignChunk({ ...chunk, turn: undefined })[0], "turn")
  })

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const AnyWords = Schema.Array(Schema.Struct({ piece: upTo(2), position: upTo(60), sample: upTo(96_000) }))

  it.prop(
    "are complete, in order and never negative, for any reported starts",
    [AnyWords, upTo(1_000_000)],
    ([words, speechStartSample]) => {
      const tokens = [...tokensOf("a few words of one piece"), ...tokensOf("and some more of another", 1)]
      const marks = alignChunk({ tokens, words, speechStartSample, speechEndSample: 48_000, turn: undefined })
      assert.strictEqual(marks.length, tokens.length)
      let before = timeOf(speechStartSample)
      for (const mark of marks) {
        assert.isAtLeast(mark.start_time, before)
        assert.isAtLeast(mark.end_time, mark.start_time)
        before = mark.start_time
      }
    }
  )
})

describe("the phonemes of a chunk", () => {
  const sound = (phoneme: string, position: number, sample: number) => ({ ...word(position, sample), phoneme })
  const tokens = tokensOf("one two")
  const words = [
    word(0, 0),
    sound("w", 0, 0),
    sound("ʌ", 0, 2_400),
    sound("n", 0, 4_800),
    sound("", 0, 7_200),
    word(4, 12_000),
    sound("t", 4, 12_000),
    sound("u", 4, 14_400)
  ]
  const chunk = { tokens, words, speechStartSample: 24_000, speechEndSample: 16_800, turn: undefined }

  it("last until the next one, a pause, or the end of the speech, and have the places of their words", () => {
    assert.deepStrictEqual(
      alignPhonemes(chunk).map(({ end, end_time, start, start_time, value }) => [
        value,
        start,
        end,
        start_time,
        end_time
      ]),
      [
        ["w", 0, 3, 1_000, 1_100],
        ["ʌ", 0, 3, 1_100, 1_200],
        ["n", 0, 3, 1_200, 1_300],
        ["t", 4, 7, 1_500, 1_600],
        ["u", 4, 7, 1_600, 1_700]
      ]
    )
  })

  it("change nothing of the words", () => {
    const alone = words.filter((one) => !("phoneme" in one))
    assert.deepStrictEqual(alignChunk(chunk), alignChunk({ ...chunk, words: alone }))
    assert.deepStrictEqual(alignPhonemes({ ...chunk, words: alone }), [])
  })
})
