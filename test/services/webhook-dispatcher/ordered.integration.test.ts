import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Consumers, StreamReader } from "#bus"
import { exampleEnvelope } from "#base"
import { redrive, WebhookEndpoints } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { operator } from "../../support/operator.ts"
import type { ReceivedRequest, TestReceiver } from "../../support/receiver.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { abandonments, arrived, requestsTo, setUp } from "../../support/webhooks.ts"
import { publish } from "./event-to-receiver.ts"

const example = exampleEnvelope("work_item.merged") as { readonly workItem: object }
/** An event of the key. */
const event = (key: string) => publish("work_item.merged", { workItem: { ...example.workItem, externalId: key } })
const ordered = (receiver: TestReceiver, more: object = {}) => ({
  Name: "a",
  Url: receiver.url("/a"),
  OrderBy: "/workItem/externalId",
  InitialBackoffSeconds: 0.3,
  ...more
})
const keyOf = ({ body }: ReceivedRequest) =>
  (JSON.parse(body) as { workItem: { externalId: string } }).workItem.externalId
const sequenceOf = ({ headers }: ReceivedRequest) => Number(headers["x-service-sequence"])
const gapOf = ({ headers }: ReceivedRequest) => headers["x-service-gap"]
const toKey = (receiver: TestReceiver, key: string) => requestsTo(receiver, "/a").filter((one) => keyOf(one) === key)
const lastRequest = (receiver: TestReceiver) => receiver.requests.at(-1) ?? assert.fail("it was just noted")

describe("an ordered endpoint", () => {
  for (const [how, delivery] of [
    ["a consumer of its own", {}],
    ["consumers by partition", { PartitionsAbove: 0 }]
  ] as const) {
    it.live(`with ${how}: the next event of a key waits until the one before is delivered; other keys go on`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const fastEvents = 20
        // The key's first event fails until all of the other key have come.
        receiver.answer("/a", () =>
          keyOf(lastRequest(receiver)) === "slow" && toKey(receiver, "fast").length < fastEvents ? 500 : 204
        )
        yield* whileDispatching(
          server,
          { endpoints: [ordered(receiver, { MaxAttempts: 20, CircuitBreaker: false })], delivery },
          Effect.gen(function* () {
            const slow = yield* Effect.forEach(Array.from({ length: 5 }), () => event("slow"))
            const fast = yield* Effect.forEach(Array.from({ length: fastEvents }), () => event("fast"))
            yield* eventually(() => new Set(requestsTo(receiver, "/a").map(sequenceOf)).size, {
              is: (size) => size === slow.length + fastEvents,
              withinMs: 60_000
            })
            const [first, ...others] = slow.map(({ sequence }) => sequence)
            const got = toKey(receiver, "slow").map(sequenceOf)
            assert.isAbove(got.lastIndexOf(first ?? 0), 0)
            assert.deepStrictEqual(got.slice(got.lastIndexOf(first ?? 0)), [first, ...others])
            assert.deepStrictEqual(
              toKey(receiver, "fast").map(sequenceOf),
              fast.map(({ sequence }) => sequence)
            )
          })
        )
      })
    )
  }

  it.live("tells of what was given up until a delivery that told it is answered with success", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      let isMended = false
      // The first two events fail.
      receiver.answer("/a", () => {
        const events = [...new Set(requestsTo(receiver, "/a").map(sequenceOf))]
        return !isMended && events.indexOf(sequenceOf(lastRequest(receiver))) < 2 ? 500 : 204
      })
      yield* whileDispatching(
        server,
        { endpoints: [ordered(receiver, { MaxAttempts: 2, CircuitBreaker: false })] },
        Effect.gen(function* () {
          const [one, two, three, four] = yield* Effect.forEach(["k", "k", "k", "k"], event)
          if (one === undefined || two === undefined || three === undefined || four === undefined) return assert.fail()
          yield* eventually(abandonments, { is: ({ length }) => length === 2 })
          yield* eventually(() => toKey(receiver, "k").at(-1), {
            is: (last) => last !== undefined && sequenceOf(last) === four.sequence
          })
          const told = toKey(receiver, "k").map((request) => [sequenceOf(request), gapOf(request)])
          assert.deepStrictEqual(told.slice(-4), [
            [two.sequence, String(one.sequence)],
            [two.sequence, String(one.sequence)],
            [three.sequence, String(two.sequence)],
            [four.sequence, undefined]
          ])
          // A redrive is outside of the order, and tells no gap.
          isMended = true
          assert.strictEqual(yield* redrive({ endpoint: "a", events: [], countMax: 10 }), 2)
          yield* arrived(receiver, "/a", told.length + 2)
          assert.isUndefined(gapOf(lastRequest(receiver)))
        })
      )
    })
  )
})

describe("an order that begins and ends at run time", () => {
  for (const [how, PartitionsAbove] of [
    ["a consumer of its own", 10],
    ["consumers by partition", 0]
  ] as const) {
    it.live(`with ${how}: holds for what is published meanwhile, and loses nothing on the way`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        let isFailing = false
        receiver.answer("/a", () => (isFailing ? 500 : 204))
        const all = (count: number) =>
          eventually(() => new Set(requestsTo(receiver, "/a").map(sequenceOf)).size, {
            is: (size) => size === count,
            withinMs: 60_000
          })
        const test = Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          const by = "tester"
          const settings = {
            Name: "a",
            Url: receiver.url("/a"),
            InitialBackoffSeconds: 0.5,
            MaxAttempts: 20,
            CircuitBreaker: false
          }
          const { revision } = yield* at.create({ settings, by })
          yield* event("k")
          yield* all(1)
          const changes = { OrderBy: "/workItem/externalId" }
          const ordered = yield* at.change({ name: "a", by, revision: revision ?? 0, changes })
          yield* eventually((yield* Consumers).names("DELIVERIES"), {
            is: (names) => names.some((name) => name.startsWith("ordered-")),
            withinMs: 30_000
          })
          // The fan-out looks between two runs.
          yield* Effect.sleep("1 second")
          isFailing = true
          const two = yield* event("k")
          yield* all(2)
          yield* event("k")
          yield* event("k")
          yield* Effect.sleep("1 second")
          assert.strictEqual(lastOf(receiver), two.sequence)
          yield* at.change({ name: "a", by, revision: ordered.revision ?? 0, changes: { OrderBy: null } })
          // What still waits goes as it comes.
          yield* all(4)
          isFailing = false
          yield* event("k")
          yield* all(5)
          yield* eventually((yield* StreamReader).countBySubject("DELIVERIES", "deliveries.due.>"), {
            is: (due) => Object.keys(due).length === 0,
            withinMs: 30_000
          })
        })
        yield* whileDispatching(
          server,
          { endpoints: [], delivery: { PartitionsAbove } },
          Effect.provide(test, operator)
        )
      })
    )
  }
})

const lastOf = (receiver: TestReceiver) => sequenceOf(lastRequest(receiver))
