import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { jsonCodec, Publisher } from "#bus"
import { AttemptBatch } from "#webhooks/contract"
import { exampleEnvelope, isoTime, subjects } from "#base"
import { tailed, type TailOrder } from "../../../services/cli/tail.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { publish, publishMany } from "../../support/webhooks.ts"

const order = (changes: Partial<TailOrder>): TailOrder => ({
  patterns: [],
  attempts: false,
  json: false,
  last: undefined,
  follow: false,
  ...changes
})
/** The output of a tail that ends by itself. */
const printed = (changes: Partial<TailOrder>) => Stream.runCollect(tailed(order(changes)))
const eventsIn = (lines: ReadonlyArray<string>) => lines.map((line) => line.split(" ").slice(1, 3).join(" "))
const refusal = (changes: Partial<TailOrder>) => Effect.map(Effect.flip(printed(changes)), (error) => error.message)

const raw = (subject: string, text: string) =>
  Effect.flatMap(Publisher, (publisher) => publisher.publishRaw(subject, new TextEncoder().encode(text)))

const attempt = (event: string, number: number) => ({
  deliveryId: "4b1f0c5e-7d0a-4f43-9a63-0c1f6b6f7a10",
  endpoint: "a",
  event,
  sequence: 1,
  attempt: number,
  startedAt: isoTime(number),
  durationMs: 8,
  outcome: "failed" as const,
  status: 503,
  error: null,
  responseBody: "busy",
  nextAttemptAt: null
})

const onBus = <A, E>(test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof busOn>>>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* Effect.provide(test, busOn(server))
  }).pipe(Effect.scoped)

describe("tail", () => {
  it.live("--last N prints exactly the last N matches and ends, however rare they are; --follow continues", () =>
    onBus(
      Effect.gen(function* () {
        yield* publish("work_item.done")
        yield* publish("queue.paused")
        yield* publishMany("work_item.merged", 2_500)
        yield* publish("queue.resumed")
        yield* raw(subjects.eventsCursor, "{}")

        assert.deepStrictEqual(eventsIn(yield* printed({ last: 1 })), ["2503 queue.resumed"])
        assert.strictEqual((yield* printed({ last: 1_500 })).length, 1_500)
        assert.deepStrictEqual(eventsIn(yield* printed({ last: 3, patterns: ["queue.*"] })), [
          "2 queue.paused",
          "2503 queue.resumed"
        ])
        const [json = ""] = yield* printed({ last: 1, json: true })
        assert.strictEqual((JSON.parse(json) as { readonly event: string }).event, "queue.resumed")

        // The next one is published once the last one was shown.
        const both = tailed(order({ last: 1, follow: true, patterns: ["queue.*"] })).pipe(
          Stream.tap((line) => (line.includes("2503") ? publish("queue.paused") : Effect.void)),
          Stream.take(2)
        )
        assert.deepStrictEqual(eventsIn(yield* Stream.runCollect(both)), ["2503 queue.resumed", "2505 queue.paused"])
      })
    )
  )

  it.live("says what happened to which item, from which state to which", () =>
    onBus(
      Effect.gen(function* () {
        const item = exampleEnvelope("work_item.merged")?.["workItem"] as { readonly id: string }
        const change = (event: string, state: string) => {
          const workItem = { ...item, title: "Mend\tthe login", state }
          return raw(subjects.event(event), JSON.stringify({ ...exampleEnvelope(event), workItem }))
        }
        yield* change("work_item.merging", "Merging")
        yield* change("merge.started", "Merging")
        yield* change("work_item.merged", "Merged")
        yield* publish("queue.resumed")
        yield* raw(subjects.event("work_item.done"), "no envelope")
        const words = (yield* printed({ last: 5 })).map((line) => line.split(" ").slice(2).join(" "))
        assert.deepStrictEqual(words, [
          `work_item.merging “Mend\\tthe login” is being merged (Merging) workItem:${item.id}`,
          `merge.started “Mend\\tthe login” merges orchard into orchard workItem:${item.id}`,
          `work_item.merged “Mend\\tthe login” is merged into main (Merging → Merged) workItem:${item.id}`,
          "queue.resumed The queue runs again",
          "work_item.done The item is completed"
        ])
      })
    )
  )

  it.live("--attempts prints exactly the last N attempts, with --json each whole on a line of its own", () =>
    onBus(
      Effect.gen(function* () {
        const { publish: send } = yield* Publisher
        const codec = jsonCodec(AttemptBatch)
        yield* send(
          subjects.attempts("a", "delivered"),
          codec,
          [1, 2, 3].map((number) => attempt("work_item.merged", number))
        )
        yield* send(subjects.attempts("b", "delivered"), codec, [attempt("queue.paused", 1)])

        const shown = yield* printed({ attempts: true, last: 2 })
        assert.deepStrictEqual(
          shown.map((line) => line.split(" ").slice(2, 5).join(" ")),
          ["work_item.merged attempt 3", "queue.paused attempt 1"]
        )
        const json = yield* printed({ attempts: true, json: true, last: 2, patterns: ["work_item.*"] })
        assert.deepStrictEqual(
          json.map((line) => JSON.parse(line) as unknown),
          [2, 3].map((number) => attempt("work_item.merged", number))
        )
      })
    )
  )

  it.live("refuses an unknown event name, and knows one that was published though it is in no catalogue", () =>
    onBus(
      Effect.gen(function* () {
        const slip = "there is no event work_itm.merged; did you mean work_item.merged?"
        for (const attempts of [false, true]) {
          assert.strictEqual(yield* refusal({ patterns: ["queue.*", "work_itm.merged"], attempts }), slip)
        }
        assert.strictEqual(yield* refusal({ patterns: ["house.built"], last: 1 }), "there is no event house.built")
        yield* raw(subjects.event("house.built"), '{\n  "event": "house.built"\n}')
        assert.deepStrictEqual(yield* printed({ patterns: ["house.built"], last: 1, json: true }), [
          '{   "event": "house.built" }'
        ])
      })
    )
  )
})
