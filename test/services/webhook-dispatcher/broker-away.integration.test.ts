import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Health } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { later } from "../../support/clock.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, setUp } from "../../support/webhooks.ts"

describe("a dispatcher without a broker for minutes", () => {
  it.live("is alive: every loop keeps trying, and it delivers when the broker is back", () => {
    let leapMs = 0
    return Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a") }] },
        Effect.gen(function* () {
          const { live } = yield* Health
          const isLive = Effect.map(live, ({ ok }) => ok)
          yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 1)
          yield* Effect.promise(() => server.kill9())
          for (let minute = 1; minute <= 2; minute++) {
            leapMs += 60_000
            assert.isFalse(yield* isLive, "nobody has come round since the leap")
            yield* eventually(isLive)
          }
          yield* Effect.promise(() => server.start())
          yield* publish("work_item.done").pipe(Effect.retry({ times: 100 }), Effect.timeout("20 seconds"))
          yield* arrived(receiver, "/a", 2)
          assert.isTrue(yield* isLive)
        })
      )
    }).pipe(later(() => leapMs))
  })
})
