import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, setUp } from "../../support/webhooks.ts"

const events = 20

describe("a receiver that hangs", () => {
  it.live("shows in the latency of its endpoint, and is no latency of the dispatcher", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      // It accepts and never answers: each delivery takes the whole second, and the others wait for one of two slots.
      receiver.answer("/hangs", () => () => undefined)
      const hung = { Concurrency: 2, TimeoutSeconds: 1, RetrySchedule: "patient" }
      const endpoints = [
        { Name: "hangs", Url: receiver.url("/hangs"), ...hung },
        { Name: "quick", Url: receiver.url("/quick") }
      ]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          const first = metric("webhook_dispatch_seconds_count", 'attempt="first"')
          for (let count = 1; count <= events; count++) {
            yield* publish("work_item.merged")
            yield* arrived(receiver, "/quick", count)
          }
          yield* arrived(receiver, "/hangs", 8)
          const latencyOf = (name: string) => metric("webhook_endpoint_latency_seconds", `endpoint="${name}"`)
          yield* eventually(latencyOf("hangs"), { is: (mean) => mean >= 0.9 })
          assert.isBelow(yield* latencyOf("quick"), 0.5)

          const late = metric("webhook_publish_to_first_byte_seconds_sum", 'endpoint="hangs"')
          assert.isAbove(yield* late, 3)
          const own = yield* metric("webhook_dispatch_seconds_sum", 'attempt="first"')
          // The quick one's, and of the hung one at most what came before its slots were taken.
          assert.isAtLeast(yield* first, events)
          assert.isAtMost(yield* first, events + 2)
          assert.isBelow(own / (yield* first), 0.5)
        })
      )
    })
  )
})
