import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { jsonCodec, Kv, Publisher, StreamReader } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"

const codec = jsonCodec(Schema.Struct({ n: Schema.Int }))
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
// Several pulls' worth; a reading that stands still is taken up again only after five seconds.
const count = 2_000
const within = "4 seconds"

const published = Effect.flatMap(Publisher, (publisher) =>
  Effect.forEach(numbers(count), (n) => publisher.publish(`log.jar.${n}`, codec, { n }), {
    concurrency: 64,
    discard: true
  })
)

describe("an ordered reader", () => {
  it.live("resumes from pull to pull, with and without room for the next one", () =>
    withBus(() =>
      Effect.gen(function* () {
        const reader = yield* StreamReader
        yield* published
        for (const messagesMax of [1, 512, 1_024]) {
          const seen: Array<number> = []
          yield* reader.followInBatches("LOG", 1, { messagesMax, withinMs: 1 }).pipe(
            Stream.takeUntil((run) => run.some(({ sequence }) => sequence === count)),
            Stream.runForEach((run) => Effect.sync(() => void seen.push(...run.map(({ sequence }) => sequence)))),
            Effect.timeout(within)
          )
          assert.deepStrictEqual(
            seen,
            numbers(count).map((n) => n + 1)
          )
        }
      })
    )
  )

  it.live("gives each entry as written, and reports removals", () =>
    withBus(() =>
      Effect.gen(function* () {
        const Note = Schema.Struct({ text: Schema.String })
        const bucket = yield* (yield* Kv).open("views", Note)
        const before = yield* bucket.create("a", { text: "before" })
        const told: Array<readonly [string, string | undefined]> = []
        const from = (revision: number, until: string) =>
          bucket.changesInBatches(revision, { messagesMax: 8, withinMs: 1 }).pipe(
            Stream.takeUntil((changes) => changes.some(({ key }) => key === until)),
            Stream.runForEach((changes) =>
              Effect.sync(() => {
                for (const { key, entry } of changes) {
                  told.push([key, entry._tag === "Some" ? entry.value.value.text : undefined])
                }
              })
            ),
            Effect.timeout(within)
          )
        yield* from(1, "a")
        const written = yield* bucket.create("b", { text: "after" })
        yield* bucket.erase("a", before)
        yield* bucket.create("c", { text: "last" })
        yield* from(written, "c")
        assert.deepStrictEqual(told, [
          ["a", "before"],
          ["b", "after"],
          ["a", undefined],
          ["c", "last"]
        ])
      })
    )
  )
})
