import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { OtherMark, type SpokenMark, type WordMark } from "#speech/contract"
import { markTaker, phonemesFor } from "../../../../services/speech-api/speaking/marks.ts"
import { plan, planned, refused } from "./planned-orders.ts"

const input = "Hello there. All is well."
const sentences = [
  { turn: 0, start: 0, end: 12 },
  { turn: 0, start: 13, end: 25 }
]
const word = (value: string, start_time: number, text = input): WordMark => {
  const start = text.indexOf(value)
  return { type: "word", start, end: start + value.length, start_time, end_time: start_time + 100, value }
}
const words = ["Hello", "there.", "All", "is", "well."].map((value, at) => word(value, at * 100))
const sound = (value: string, start_time: number): SpokenMark => ({
  type: "phoneme",
  start: 0,
  end: 5,
  start_time,
  end_time: start_time + 20,
  value
})

const takerOf = (marks: Parameters<typeof markTaker>[0]["marks"] & {}, text = input, spans = sentences) =>
  markTaker({ marks, turns: planned({ turns: [{ input: text, voice_id: "henry" }] }).turns }, spans)
const told = (marks: ReadonlyArray<OtherMark>) =>
  Schema.decodeUnknownSync(Schema.Array(OtherMark))(marks).map(({ end_time, start_time, value }) => [
    value,
    start_time,
    end_time
  ])

describe("the marks of an answer", () => {
  it("are words alone unless others are asked for", () => {
    const taker = takerOf([])
    taker.add([...words, sound("h", 0)])
    assert.deepStrictEqual(taker.words(), words)
    assert.deepStrictEqual(taker.words(), [])
    assert.deepStrictEqual(taker.others(true), [])
    assert.deepStrictEqual(phonemesFor({ marks: ["word", "character"] }), {})
    assert.deepStrictEqual(phonemesFor({ marks: ["viseme"] }), { phonemes: true })
  })

  it("have a sentence once its last word is known to be that", () => {
    const taker = takerOf(["sentence"])
    taker.add(words.slice(0, 2))
    assert.deepStrictEqual(taker.others(false), [])
    taker.add(words.slice(2))
    assert.deepStrictEqual(told(taker.others(false)), [["Hello there.", 0, 200]])
    assert.deepStrictEqual(told(taker.others(true)), [["All is well.", 200, 500]])
  })

  it("divide a word among its characters, with a surrogate pair and an entity as one, and no tags", () => {
    const text = "<speak>A&amp;<b/>🎉</speak>"
    const spans = [{ turn: 0, start: 7, end: 18 }]
    const taker = takerOf(["character"], text, spans)
    taker.add([{ ...word("A&amp;<b/>🎉", 30, text), end_time: 90 }])
    const marks = taker.others(true)
    assert.deepStrictEqual(told(marks), [
      ["A", 30, 50],
      ["&amp;", 50, 70],
      ["🎉", 70, 90]
    ])
    for (const { end, start, value } of marks) assert.strictEqual(text.slice(start, end), value)
  })

  it("have phonemes as they were spoken, and what the mouth does, in order of time", () => {
    const taker = takerOf(["phoneme", "viseme"])
    taker.add([sound("h", 0), sound("ɔɪ", 20), sound("ɑɹ", 40)])
    const marks = taker.others(true)
    assert.deepStrictEqual(told(marks), [
      ["h", 0, 20],
      [12, 0, 20],
      ["ɔɪ", 20, 40],
      [10, 20, 40],
      ["ɑɹ", 40, 60],
      [2, 40, 50],
      [13, 50, 60]
    ])
  })

  it("are planned in one order, and refused by name where an engine cannot tell them", () => {
    assert.isUndefined(planned({ options: { marks: ["word"] } }).marks)
    assert.deepStrictEqual(planned({ options: { marks: ["character", "sentence", "sentence"] } }).marks, [
      "sentence",
      "character"
    ])
    const { fields, status } = refused({
      turns: [{ input: "Hello.", voice_id: "mute" }],
      options: { marks: ["word", "phoneme", "viseme"] }
    })
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(fields, { "options.marks": "the engine of mute tells no phoneme, no viseme" })
    assert.isTrue(Result.isSuccess(plan({ options: { marks: ["word"] } })))
  })
})
