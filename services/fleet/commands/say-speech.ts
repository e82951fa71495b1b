/** One order spoken: from the API to the sink, each word shown when it is heard. */
import { Effect, Fiber, Queue, Schema, Stream } from "effect"
import { SpeechMarks, type WordMark } from "#contracts"
import { CommandRefused } from "./connect.ts"
import { brokenOff, call, callFor, type SpeechFleet } from "./say-client.ts"
import { eventReader, type SpeechEvent } from "./say-events.ts"
import type { SayOrder } from "./say-parameters.ts"
import type { SaySink } from "./say-sink.ts"
import type { WordsShown } from "./say-words.ts"

interface Taker {
  readonly audio: SaySink["write"]
  readonly marks: (marks: ReadonlyArray<WordMark>) => Effect.Effect<unknown>
}

/** How long the speech is, in milliseconds, once all of it is written or heard. */
export const speak = Effect.fnUntraced(function* (
  fleet: SpeechFleet,
  order: SayOrder,
  sink: SaySink,
  words: WordsShown
) {
  const waiting = yield* Queue.unbounded<WordMark | "end">()
  const showing = yield* Effect.forkScoped(showAll(waiting, sink, words))
  const taker: Taker = { audio: sink.write, marks: (marks) => Queue.offerAll(waiting, marks) }
  const body = { ...order.asked, input: order.text, output_format: order.format.outputFormat }
  const speaking = order.format.route === "answer" ? whole(fleet, body, taker) : streamed(fleet, body, taker)
  const durationMs = yield* speaking
  yield* Queue.offer(waiting, "end")
  yield* Effect.all([Fiber.join(showing), sink.finish], { concurrency: 2, discard: true })
  return durationMs
}, Effect.scoped)

const showAll = Effect.fnUntraced(
  function* (waiting: Queue.Queue<WordMark | "end">, sink: SaySink, words: WordsShown) {
    for (;;) {
      const next = yield* Queue.take(waiting)
      if (next === "end") return words.end(true)
      yield* sink.heard(next.start_time)
      words.show(next)
    }
  },
  (showing, _waiting, _sink, words) => Effect.onInterrupt(showing, () => Effect.sync(() => words.end(false)))
)

const WholeSpeech = Schema.Struct({
  audio_data: Schema.Uint8ArrayFromBase64,
  audio_duration_ms: Schema.Finite,
  speech_marks: SpeechMarks
})

const whole = Effect.fnUntraced(function* (fleet: SpeechFleet, body: unknown, taker: Taker) {
  const spoken = yield* callFor(WholeSpeech, fleet, "/v1/audio/speech", body)
  yield* taker.audio(spoken.audio_data)
  yield* taker.marks(spoken.speech_marks.chunks.flatMap(({ chunks }) => chunks))
  return spoken.audio_duration_ms
}, Effect.scoped)

const streamed = Effect.fnUntraced(function* (fleet: SpeechFleet, body: unknown, taker: Taker) {
  const response = yield* call(fleet, "/v1/audio/stream/with-timestamps", body)
  const read = eventReader()
  let durationMs: number | undefined
  const take = (event: SpeechEvent) => {
    switch (event.type) {
      case "chunk":
        return Effect.andThen(
          event.audio.length === 0 ? Effect.void : taker.audio(event.audio),
          taker.marks(event.marks)
        )
      case "done":
        durationMs = event.durationMs
        return Effect.void
      case "failed":
        return Effect.fail(new CommandRefused({ reason: event.reason }))
    }
  }
  const bytes = Stream.fromAsyncIterable(response.body ?? nothing(), brokenOff)
  yield* Stream.runForEach(bytes, (part: Uint8Array) => Effect.forEach(read(part), take, { discard: true }))
  return durationMs ?? (yield* new CommandRefused({ reason: "the speech broke off before its end" }))
}, Effect.scoped)

async function* nothing(): AsyncGenerator<Uint8Array> {}
