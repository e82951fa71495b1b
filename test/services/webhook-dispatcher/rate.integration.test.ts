import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, attemptRecords, metric, publishMany, requestsTo, setUp } from "../../support/webhooks.ts"

const postponed = metric("webhook_postponed_total", 'reason="rate_limited"')

/** The most requests that arrived within a second, whenever that began. */
const mostInSecond = (atMs: ReadonlyArray<number>) =>
  Math.max(...atMs.map((from) => atMs.filter((at) => at >= from && at < from + 1_000).length))

describe("an endpoint with a rate", () => {
  for (const dispatchers of [1, 2]) {
    it.live(`gets no more in a second from ${dispatchers}, at its first attempts, and another all at once`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const options = {
          endpoints: [
            { Name: "slow", Url: receiver.url("/slow"), RatePerSecond: 20 },
            { Name: "fast", Url: receiver.url("/fast") }
          ]
        }
        const count = 100
        const test = Effect.gen(function* () {
          // Each has counted the other.
          yield* Effect.sleep("1500 millis")
          const startedAtMs = yield* Clock.currentTimeMillis
          yield* publishMany("work_item.merged", count)
          yield* arrived(receiver, "/fast", count)
          assert.isBelow(requestsTo(receiver, "/slow").length, count / 2)
          yield* arrived(receiver, "/slow", count)
          const tookMs = (yield* Clock.currentTimeMillis) - startedAtMs
          // A slow machine hands over several slots together.
          assert.isAtMost(mostInSecond(requestsTo(receiver, "/slow").map(({ atMs }) => atMs)), 26)
          assert.isAtLeast(tookMs, ((count - dispatchers) / 20) * 1_000 - 200)
          assert.isAbove(yield* postponed, 10)
          const log = yield* attemptRecords
          assert.isTrue(log.every(({ attempt }) => attempt === 1))
        })
        yield* whileDispatching(server, options, dispatchers === 1 ? test : whileDispatching(server, options, test))
      })
    )
  }
})
