import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { formatNamed } from "#speech/audio"
import { SpeechMarks, type WordMark } from "#speech/contract"
import { SpeechChunkEvent, SpeechDoneEvent, SpeechErrorEvent, SpeechResponse } from "#speech/api"
import type { ServerSentEvent } from "#http"
import { errorEvent, nestMarks, speechBody, speechEvents } from "../../../../services/speech-api/speaking/answers.ts"

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

  it("contain every word once, in its sentence", () => {
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

  it("states the delivered format only to a caller that named one", () => {
    assert.notProperty(body("mp3_24000_64", false), "output_format")
    assert.strictEqual(body("mp3_24000_192", true).output_format, "mp3_24000_160")
    assert.strictEqual(body("ulaw_8000", true).audio_format, "ulaw")
    assert.strictEqual(body("pcm_8000", false).audio_format, "pcm")
  })

  it("contains the bytes and fits its schema", () => {
    const answer = Schema.decodeUnknownSync(SpeechResponse)(JSON.parse(JSON.stringify(body("wav_24000", false))))
    assert.deepStrictEqual([...Buffer.from(answer.audio_data, "base64")], [1, 2, 253, 254, 255])
  })
})

const marksOf = (count: number, from = 0, value = "word"): ReadonlyArray<WordMark> =>
  Array.from({ length: count }, (_, index) => {
    const start = (from + index) * 5
    return { type: "word", start, end: start + 4, start_time: start * 60, end_time: start * 60 + 200, value }
  })

/** Pieces of audio, each with the marks that are final by then; more may be final at the end. */
const eventsOf = (pieces: ReadonlyArray<readonly [number, number]>, atEnd = 0, value?: string) => {
  let pending: Array<WordMark> = []
  let made = 0
  const bytes = Stream.fromIterable(pieces).pipe(
    Stream.map(([size, marks]) => {
      pending.push(...marksOf(marks, made, value))
      made += marks
      return new Uint8Array(size).fill(made)
    }),
    Stream.onEnd(Effect.sync(() => pending.push(...marksOf(atEnd, made, value))))
  )
  const takeMarks = () => {
    const taken = pending
    pending = []
    return taken
  }
  const spoken = {
    sentences: [],
    bytes,
    takeMarks,
    takeOthers: () => [],
    durationMs: () => 1_209.4,
    billableCharacters: () => 22,
    timing: () => "",
    keptSinceMs: undefined
  }
  return Effect.map(Stream.runCollect(speechEvents(spoken)), (events) => [...events])
}

const chunksOf = (events: ReadonlyArray<ServerSentEvent>) =>
  events
    .filter(({ event }) => event === "speech.chunk")
    .map(({ data }) => Schema.decodeUnknownSync(SpeechChunkEvent)(JSON.parse(data)))

const doneIn = (event: ServerSentEvent | undefined) =>
  Schema.decodeUnknownSync(SpeechDoneEvent)(JSON.parse(event?.data ?? ""))

describe("the events of a speech", () => {
  it.effect("carry all bytes and all marks in order, and end with one speech.done", () =>
    Effect.gen(function* () {
      const events = yield* eventsOf(
        [
          [700, 0],
          [90_001, 3],
          [1, 0]
        ],
        2
      )
      const chunks = chunksOf(events)
      const audio = Buffer.concat(chunks.map(({ audio = "" }) => Buffer.from(audio, "base64")))
      assert.strictEqual(audio.length, 90_702)
      assert.deepStrictEqual(
        chunks.flatMap(({ speech_marks: marks = [] }) => marks),
        marksOf(5)
      )
      const last = events.at(-1)
      assert.strictEqual(last?.event, "speech.done")
      assert.deepStrictEqual(doneIn(last), {
        type: "speech.done",
        billable_characters_count: 22,
        audio_duration_ms: 1_209.4
      })
      for (const { event, data } of events) assert.strictEqual(JSON.parse(data).type, event)
    })
  )

  it.effect("have no empty chunks: late marks come alone", () =>
    Effect.gen(function* () {
      const chunks = chunksOf(yield* eventsOf([[10, 0]], 1))
      assert.deepStrictEqual(
        chunks.map((chunk) => Object.keys(chunk)),
        [
          ["type", "audio"],
          ["type", "speech_marks"]
        ]
      )
      assert.deepStrictEqual(chunksOf(yield* eventsOf([])), [])
    })
  )

  it.effect("stay on lines below 64 KiB, for a word of any length", () =>
    Effect.gen(function* () {
      for (const value of ["x".repeat(20_000), "€".repeat(20_000), '"'.repeat(20_000), "€".repeat(2_000)]) {
        const events = yield* eventsOf(
          [
            [90_000, 3],
            [10, 2]
          ],
          1,
          value
        )
        for (const { data } of events) assert.isBelow(Buffer.byteLength(`data: ${data}`), 65_536)
        const chunks = chunksOf(events)
        assert.strictEqual(chunks.flatMap(({ speech_marks: marks = [] }) => marks).length, 6)
        assert.strictEqual(Buffer.concat(chunks.map(({ audio = "" }) => Buffer.from(audio, "base64"))).length, 90_010)
      }
    })
  )

  it.effect("stay on lines below 64 KiB, for any amount at once", () =>
    Effect.gen(function* () {
      const events = yield* eventsOf([[400_000, 1_000]], 500)
      for (const { data } of events) assert.isBelow(Buffer.byteLength(`data: ${data}`), 65_536)
      assert.strictEqual(chunksOf(events).flatMap(({ speech_marks: marks = [] }) => marks).length, 1_500)
    })
  )

  it("report a break in the envelope's words", () => {
    const { event, data } = errorEvent("upstream_failure", "it broke off", "req_1")
    assert.strictEqual(event, "speech.error")
    assert.deepStrictEqual(Schema.decodeUnknownSync(SpeechErrorEvent)(JSON.parse(data)), {
      type: "speech.error",
      error: { code: "upstream_failure", message: "it broke off" },
      request_id: "req_1"
    })
  })
})
