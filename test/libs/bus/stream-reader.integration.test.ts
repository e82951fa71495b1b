import { assert, describe, it } from "@effect/vitest"
import type { NatsConnectionImpl } from "@nats-io/nats-core/internal"
import { Effect, Stream } from "effect"
import { Nats, Publisher, StreamReader } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"

const fill = (subjectOf: (index: number) => string, count: number, bytes = 8) =>
  Effect.gen(function* () {
    const publisher = yield* Publisher
    const data = new Uint8Array(bytes)
    const indices = Array.from({ length: count }, (_, index) => index)
    // One after the other, so that a message's sequence is its index and one.
    for (const index of indices) yield* publisher.publishRaw(subjectOf(index), data)
  })

const sequences = (options: { before: number; subject?: string; messagesMax: number }) =>
  Effect.flatMap(StreamReader, (reader) =>
    Effect.map(reader.newest("ABANDONED", options), (found) => found.map(({ sequence }) => sequence))
  )

describe("the newest messages of a stream", () => {
  it.live("come newest first, and only those before a sequence", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* fill(() => "abandoned.a", 10)
        assert.deepStrictEqual(yield* sequences({ before: Number.MAX_SAFE_INTEGER, messagesMax: 3 }), [10, 9, 8])
        assert.deepStrictEqual(yield* sequences({ before: 4, messagesMax: 5 }), [3, 2, 1])
        assert.deepStrictEqual(yield* sequences({ before: 1, messagesMax: 5 }), [])
      })
    )
  )

  it.live("of a rare subject are found far from the end, and none is left out where it is frequent again", () =>
    withBus(() =>
      Effect.gen(function* () {
        // 300 of b in a row, then 1,200 of a, then one of b.
        yield* fill((index) => (index < 300 || index === 1_500 ? "abandoned.b" : "abandoned.a"), 1_501)
        const found = yield* sequences({ before: Number.MAX_SAFE_INTEGER, subject: "abandoned.b", messagesMax: 200 })
        assert.deepStrictEqual(found, [1_501, ...Array.from({ length: 199 }, (_, index) => 300 - index)])
      })
    )
  )

  it.live("are all found where a page's bytes do not hold them", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* fill(() => "abandoned.a", 40, 250_000)
        const found = yield* sequences({ before: Number.MAX_SAFE_INTEGER, messagesMax: 40 })
        assert.deepStrictEqual(
          found,
          Array.from({ length: 40 }, (_, index) => 40 - index)
        )
      })
    )
  )

  it.live("are none of an empty stream", () =>
    withBus(() =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sequences({ before: Number.MAX_SAFE_INTEGER, messagesMax: 5 }), [])
      })
    )
  )
})

const subscriptions = Effect.map(Nats, ({ connection }) =>
  (connection as NatsConnectionImpl).protocol.subscriptions.size()
)

describe("a range of a stream", () => {
  it.live("has each message once over several pages, and ends where it should", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* fill((index) => (index % 3 === 0 ? "abandoned.b" : "abandoned.a"), 900)
        const reader = yield* StreamReader
        const read = (fromSequence: number, toSequence: number, subject?: string) =>
          Effect.map(
            Stream.runCollect(
              reader.range("ABANDONED", { fromSequence, toSequence, ...(subject === undefined ? {} : { subject }) })
            ),
            (found) => found.map(({ sequence }) => sequence)
          )
        const numbers = (first: number, last: number, step = 1) =>
          Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step)
        assert.deepStrictEqual(yield* read(1, 900), numbers(1, 900))
        assert.deepStrictEqual(yield* read(2, 513), numbers(2, 513))
        assert.deepStrictEqual(yield* read(1, 900, "abandoned.b"), numbers(1, 898, 3))
        assert.deepStrictEqual(yield* read(300, 700, "abandoned.b"), numbers(301, 700, 3))
      })
    )
  )
})

describe("a page of a stream", () => {
  it.live("leaves no subscription behind, whether it is full, empty, refused or given up", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* fill(() => "abandoned.a", 300)
        const reader = yield* StreamReader
        const read = (stream: string, fromSequence: number) =>
          Stream.runDrain(reader.range(stream, { fromSequence, toSequence: 1_000 }))
        const before = yield* subscriptions

        yield* read("ABANDONED", 1)
        yield* read("ABANDONED", 301)
        yield* Effect.flip(read("NO_SUCH_STREAM", 1))
        yield* Effect.timeoutOption(read("ABANDONED", 1), 0)
        assert.strictEqual(yield* subscriptions, before)
      })
    )
  )
})
