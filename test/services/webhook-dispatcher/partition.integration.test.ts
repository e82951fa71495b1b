import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, attemptRecords, httpDate, publishMany, setUp } from "../../support/webhooks.ts"

describe("an endpoint that shares its consumer with others", () => {
  it.live("loses no attempt by waiting in line, even when more retries are due at once than its Concurrency", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const events = 20
      let [open, peak] = [0, 0]
      let comeBackAtMs: number | undefined
      receiver.answer("/a", () => (response) => {
        const asked = receiver.requests.at(-1) ?? assert.fail("it was just noted")
        const ids = receiver.requests.map(({ headers }) => headers["x-service-delivery"])
        if (ids.indexOf(ids.at(-1)) === ids.length - 1) {
          // The same whole second for all of them, when the first attempts are over.
          comeBackAtMs ??= asked.atMs + 6_000
          return response.writeHead(429, { "Retry-After": httpDate(comeBackAtMs) }).end()
        }
        open += 1
        peak = Math.max(peak, open)
        response.once("close", () => (open -= 1))
        return setTimeout(() => response.writeHead(204).end(), 600)
      })
      // In line they wait for six seconds.
      const endpoint = { Name: "a", Url: receiver.url("/a"), Concurrency: 2, TimeoutSeconds: 4, MaxAttempts: 2 }
      yield* whileDispatching(
        server,
        { endpoints: [endpoint], delivery: { PartitionsAbove: 0 } },
        Effect.gen(function* () {
          yield* publishMany("work_item.merged", events)
          yield* arrived(receiver, "/a", 2 * events)
          yield* eventually(attemptRecords, { is: (all) => all.length === 2 * events })
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
