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
          const medianOfTwenty = Effect.gen(function* () {
            const latencies: Array<number> = []
            for (let time = 0; time < 20; time++) {
              const before = requestsTo(receiver, "/a").length
              yield* publish("work_item.merged")
              const confirmedAtMs = yield* Clock.currentTimeMillis
              yield* arrived(receiver, "/a", before + 1)
              latencies.push((requestsTo(receiver, "/a").at(-1)?.atMs ?? 0) - confirmedAtMs)
            }
            return latencies.toSorted((left, right) => left - right)[latencies.length / 2] ?? Infinity
          })
          // Other load on the machine can only make it longer.
          const medians: Array<number> = []
          while (medians.length < 5 && !medians.some((median) => median < 50)) medians.push(yield* medianOfTwenty)
          assert.isBelow(Math.min(...medians), 50, `${medians}`)
        })
      )
    })
  )
})
