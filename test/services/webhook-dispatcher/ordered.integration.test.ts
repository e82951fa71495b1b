import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exampleEnvelope } from "#base"
import { redrive } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
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
        // The first two attempts at the key's first event fail.
        receiver.answer("/a", () =>
          toKey(receiver, "slow").length <= 2 && keyOf(lastRequest(receiver)) === "slow" ? 500 : 204
        )
        yield* whileDispatching(
          server,
          { endpoints: [ordered(receiver)], delivery },
          Effect.gen(function* () {
            const slow = yield* Effect.forEach(Array.from({ length: 5 }), () => event("slow"))
            const fast = yield* Effect.forEach(Array.from({ length: 20 }), () => event("fast"))
            yield* arrived(receiver, "/a", 27)
            const [first, ...others] = slow.map(({ sequence }) => sequence)
            assert.deepStrictEqual(toKey(receiver, "slow").map(sequenceOf), [first, first, first, ...others])
            assert.deepStrictEqual(
              toKey(receiver, "fast").map(sequenceOf),
              fast.map(({ sequence }) => sequence)
            )
            const lastFast = toKey(receiver, "fast").at(-1)?.atMs ?? 0
            assert.isBelow(lastFast, toKey(receiver, "slow")[2]?.atMs ?? 0)
          })
        )
      })
    )
  }

  it.live("tells of what was given up until a delivery that told it is answered with success", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      let failing = new Set<number>()
      receiver.answer("/a", () => (failing.has(sequenceOf(lastRequest(receiver))) ? 500 : 204))
      yield* whileDispatching(
        server,
        { endpoints: [ordered(receiver, { MaxAttempts: 2, CircuitBreaker: false })] },
        Effect.gen(function* () {
          const [one, two, three, four] = yield* Effect.forEach(["k", "k", "k", "k"], event)
          if (one === undefined || two === undefined || three === undefined || four === undefined) return assert.fail()
          failing = new Set([one.sequence, two.sequence])
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
          failing.clear()
          assert.strictEqual(yield* redrive({ endpoint: "a", events: [], countMax: 10 }), 2)
          yield* arrived(receiver, "/a", told.length + 2)
          assert.isUndefined(gapOf(lastRequest(receiver)))
        })
      )
    })
  )
})
