import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { eventually } from "../../support/bus.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, attemptRecords, httpDate, publishMany, setUp } from "../../support/webhooks.ts"

describe("an endpoint that shares its consumer with others", () => {
  it.live("loses no attempt to waiting in line, also when more retries are due at once than its Concurrency", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const events = 20
      let [open, peak] = [0, 0]
      // A whole second that all retries are asked to wait for; the first attempts are over by then.
      const comeBack = { "Retry-After": httpDate((yield* Clock.currentTimeMillis) + 6_000) }
      receiver.answer("/a", (nth) => (response) => {
        if (nth <= events) return response.writeHead(429, comeBack).end()
        open += 1
        peak = Math.max(peak, open)
        response.once("close", () => (open -= 1))
        return setTimeout(() => response.writeHead(204).end(), 200)
      })
      const endpoint = { Name: "a", Url: receiver.url("/a"), Concurrency: 2, TimeoutSeconds: 1, MaxAttempts: 2 }
      yield* whileDispatching(
        server,
        { endpoints: [endpoint], delivery: { PartitionsAbove: 0 } },
        Effect.gen(function* () {
          yield* publishMany("work_item.merged", events)
          yield* arrived(receiver, "/a", 2 * events, 30_000)
          yield* eventually(Effect.map(attemptRecords, (all) => all.length === 2 * events))
          const outcomes = (yield* attemptRecords).filter(({ attempt }) => attempt === 2).map(({ outcome }) => outcome)
          assert.deepStrictEqual(
            outcomes,
            outcomes.map(() => "delivered")
          )
          assert.isAtMost(peak, 2)
        })
      )
    })
  )
})
