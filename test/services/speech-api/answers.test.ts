import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { formatNamed } from "#audio"
import { SpeechMarks, SpeechResponse, type WordMark } from "#contracts"
import { nestMarks, speechBody } from "../../../services/speech-api/answers.ts"

const word = (input: string, value: string, startMs: number, turn?: number): WordMark => {
  const start = input.indexOf(value)
  const mark = {
    type: "word" as const,
    start,
    end: start + value.length,
    start_time: startMs,
    end_time: startMs + 90,
    value
  }
  return turn === undefined ? mark : { ...mark, turn }
}

describe("the marks of a whole answer", () => {
  const input = "Hello there. All is well."
  const sentences = [
    { turn: 0, start: 0, end: 12 },
    { turn: 0, start: 13, end: 25 }
  ]
  const words = ["Hello", "there.", "All", "is", "well."].map((value, index) => word(input, value, index * 100))
  const marks = nestMarks([input], sentences, words)

  it("hold every word once, in its sentence", () => {
    assert.deepStrictEqual(
      marks.chunks.map(({ value, chunks }) => [value, chunks.map((chunk) => chunk.value)]),
      [
        ["Hello there.", ["Hello", "there."]],
        ["All is well.", ["All", "is", "well."]]
      ]
    )
    assert.deepStrictEqual(
      marks.chunks.flatMap(({ chunks }) => chunks),
      words
    )
  })

  it("are slices of the input, and their times are those of their words", () => {
    assert.strictEqual(marks.value, input)
    for (const { start, end, value } of marks.chunks) assert.strictEqual(input.slice(start, end), value)
    assert.deepStrictEqual(
      marks.chunks.map(({ start_time, end_time }) => [start_time, end_time]),
      [
        [0, 190],
        [200, 490]
      ]
    )
    assert.deepStrictEqual([marks.start_time, marks.end_time], [0, 490])
    assert.notProperty(marks.chunks[0], "turn")
    Schema.decodeSync(SpeechMarks)(marks)
  })

  it("leave out a sentence without words, and may be none at all", () => {
    const one = nestMarks([input], sentences, words.slice(2))
    assert.deepStrictEqual(
      one.chunks.map(({ value }) => value),
      ["All is well."]
    )
    const none = nestMarks([input], sentences, [])
    assert.deepStrictEqual([none.chunks, none.start_time, none.end_time], [[], 0, 0])
    Schema.decodeSync(SpeechMarks)(none)
  })

  it("of a dialogue name the turn, and are slices of its input", () => {
    const inputs = ["Hello.", "Hello you."]
    const spans = [
      { turn: 0, start: 0, end: 6 },
      { turn: 1, start: 0, end: 10 }
    ]
    const spoken = [
      word("Hello.", "Hello.", 0, 0),
      word("Hello you.", "Hello", 100, 1),
      word("Hello you.", "you.", 200, 1)
    ]
    const { chunks, value } = nestMarks(inputs, spans, spoken)
    assert.deepStrictEqual(
      chunks.map((sentence) => [sentence.turn, sentence.value, sentence.chunks.length]),
      [
        [0, "Hello.", 1],
        [1, "Hello you.", 2]
      ]
    )
    assert.strictEqual(value, "Hello.\nHello you.")
  })
})

describe("the whole answer", () => {
  const marks = nestMarks(["Hi"], [{ turn: 0, start: 0, end: 2 }], [word("Hi", "Hi", 0)])
  const body = (name: string, isFormatNamed: boolean) => {
    const format = formatNamed(name)
    if (format === undefined) throw new Error(name)
    const audio = new Uint8Array([0, 1, 2, 253, 254, 255]).subarray(1)
    return speechBody({ audio, format, isFormatNamed, billableCharacters: 2, durationMs: 90.5, marks })
  }

  it("says what was delivered, and the format only to who named one", () => {
    assert.notProperty(body("mp3_24000_64", false), "output_format")
    assert.strictEqual(body("mp3_24000_192", true).output_format, "mp3_24000_160")
    assert.strictEqual(body("ulaw_8000", true).audio_format, "ulaw")
    assert.strictEqual(body("pcm_8000", false).audio_format, "pcm")
  })

  it("holds the bytes and fits its schema", () => {
    const answer = Schema.decodeUnknownSync(SpeechResponse)(JSON.parse(JSON.stringify(body("wav_24000", false))))
    assert.deepStrictEqual([...Buffer.from(answer.audio_data, "base64")], [1, 2, 253, 254, 255])
  })
})
