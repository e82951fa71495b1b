import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { subjects } from "#base"
import { Health } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, setUp } from "../../support/webhooks.ts"

describe("a dispatcher whose fan-out cursor nobody can read", () => {
  it.live("is not ready, and names the loop that keeps stopping", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const test = Effect.gen(function* () {
        const { started, ready } = yield* Health
        yield* started
        yield* publish("work_item.working")
        yield* arrived(receiver, "/a", 1)
        assert.strictEqual((yield* ready).checks["fan-out"], "ok")
        yield* (yield* Publisher).publishRaw(subjects.deliveries(0).cursor, new TextEncoder().encode("{"))
        yield* publish("work_item.done")
        const isSeen = Effect.map(ready, ({ ok, checks }) => !ok && checks["fan-out"] === "stops again and again")
        yield* eventually(isSeen)
      })
      yield* whileDispatching(server, { endpoints: [{ Name: "a", Url: receiver.url("/a") }] }, test)
    })
  )
})
