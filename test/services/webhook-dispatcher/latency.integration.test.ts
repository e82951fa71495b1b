import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, requestsTo, setUp } from "../../support/webhooks.ts"

describe("a published event", () => {
  it.live("is at the receiver within 50 ms of its confirmation, half of the time", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a") }] },
        Effect.gen(function* () {
          const latencies: Array<number> = []
          for (let count = 1; count <= 20; count++) {
            yield* publish("work_item.merged")
            const confirmedAtMs = yield* Clock.currentTimeMillis
            yield* arrived(receiver, "/a", count)
            latencies.push((requestsTo(receiver, "/a").at(-1)?.atMs ?? 0) - confirmedAtMs)
          }
          const median = latencies.toSorted((left, right) => left - right)[latencies.length / 2] ?? 0
          assert.isBelow(median, 50, `${latencies}`)
        })
      )
    })
  )
})
