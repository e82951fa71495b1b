import { Effect, Schema, Stream } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { SpeechChunkEvent, SpeechDoneEvent, SpeechErrorEvent, type WordMark } from "#contracts"
import type { ServerSentEvent } from "#http"
import { errorEvent, speechEvents } from "../../../services/speech-api/events.ts"

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
  const spoken = { sentences: [], bytes, takeMarks, durationMs: () => 1_209.4, timing: () => "" }
  return Effect.map(Stream.runCollect(speechEvents(spoken, 22)), (events) => [...events])
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

  it.effect("have no empty chunks: marks that come last come alone", () =>
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

  it.effect("stay on lines below 64 KiB, however long a word is", () =>
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

  it.effect("stay on lines below 64 KiB, however much comes at once", () =>
    Effect.gen(function* () {
      const events = yield* eventsOf([[400_000, 1_000]], 500)
      for (const { data } of events) assert.isBelow(Buffer.byteLength(`data: ${data}`), 65_536)
      assert.strictEqual(chunksOf(events).flatMap(({ speech_marks: marks = [] }) => marks).length, 1_500)
    })
  )

  it("tell a break in the envelope's words", () => {
    const { event, data } = errorEvent("upstream_failure", "it broke off", "req_1")
    assert.strictEqual(event, "speech.error")
    assert.deepStrictEqual(Schema.decodeUnknownSync(SpeechErrorEvent)(JSON.parse(data)), {
      type: "speech.error",
      error: { code: "upstream_failure", message: "it broke off" },
      request_id: "req_1"
    })
  })
})
