import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { whileDispatching } from "../../support/dispatcher.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import {
  abandoned,
  abandonments,
  arrived,
  attemptRecords,
  httpDate,
  plannedWaits,
  publish,
  requestsTo,
  setUp
} from "../../support/webhooks.ts"

/** The first attempt, once it is in the delivery log: there stands for when the next one was planned. */
const firstAttempt = Effect.gen(function* () {
  yield* eventually(attemptRecords, { is: (all) => all.length >= 1 })
  return (yield* attemptRecords)[0] ?? {}
})
// Between the answer and the plan after it.
const planningMsMax = 200

describe("the wait before a retry", () => {
  const backoffMs = 600
  for (const [what, status, retryAfter, fromMs] of [
    ["is stretched by the Retry-After of a 429", 429, () => "2", 2_000],
    ["is stretched by the Retry-After of a 503", 503, () => "2", 2_000],
    ["is stretched to at most RetryAfterMaxSeconds", 503, () => "86400", 3_000],
    ["is never shortened by a Retry-After", 429, () => "0", backoffMs],
    ["is never shortened by a date that has passed", 503, () => httpDate(0), backoffMs],
    ["is as always when the Retry-After cannot be read", 429, () => "soon", backoffMs],
    ["is as always when a Retry-After comes with another status", 500, () => "2", backoffMs]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        receiver.answer("/a", (nth) => (nth === 1 ? { status, headers: { "Retry-After": retryAfter() } } : 204))
        yield* whileDispatching(
          server,
          {
            endpoints: [{ Name: "a", Url: receiver.url("/a"), InitialBackoffSeconds: backoffMs / 1_000 }],
            delivery: { RetryAfterMaxSeconds: 3 }
          },
          Effect.gen(function* () {
            yield* publish("work_item.merged")
            yield* arrived(receiver, "/a", 2)
            const [first = 0, second = 0] = requestsTo(receiver, "/a").map(({ atMs }) => atMs)
            assert.isAtLeast(second - first, fromMs)
            const [plannedMs = 0] = plannedWaits([yield* firstAttempt])
            assert.isTrue(plannedMs >= fromMs && plannedMs < fromMs + planningMsMax, `${plannedMs}`)
          })
        )
      })
    )
  }

  it.live("may be given as a date", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const comeBackAtMs = Math.ceil((yield* Clock.currentTimeMillis) / 1_000) * 1_000 + 3_000
      const headers = { "Retry-After": httpDate(comeBackAtMs) }
      receiver.answer("/a", (nth) => (nth === 1 ? { status: 503, headers } : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), InitialBackoffSeconds: 0.1 }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 2)
          const [, second = 0] = requestsTo(receiver, "/a").map(({ atMs }) => atMs)
          assert.isAtLeast(second, comeBackAtMs)
          assert.strictEqual(Date.parse(String((yield* firstAttempt)["nextAttemptAt"])), comeBackAtMs)
        })
      )
    })
  )
})

describe("a redirect", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    it.live(`with ${status} is a failure like any other, and is not followed`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        receiver.answer("/a", () => ({ status, headers: { Location: receiver.url("/elsewhere") } }))
        yield* whileDispatching(
          server,
          { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 2, InitialBackoffSeconds: 0.1 }] },
          Effect.gen(function* () {
            yield* publish("work_item.merged")
            yield* abandoned(1)
            assert.strictEqual(requestsTo(receiver, "/a").length, 2)
            assert.strictEqual(receiver.requests.length, 2)
            assert.deepInclude((yield* abandonments)[0], { attempts: 2, lastStatus: status })
          })
        )
      })
    )
  }
})
