import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { StreamReader } from "#bus"
import { subjects } from "#base"
import {
  because,
  codeOf,
  envelopeText,
  itemsOf,
  type Json,
  reject,
  tokenOf,
  withConsole
} from "../../../support/console.ts"

const broken = JSON.stringify({ event: "queue.paused" })

describe("rejected messages on the console", () => {
  it.live("are listed by origin with their first fault, and shown whole with all of them", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* reject(broken)
        yield* reject("{", { origin: "reports", subject: "reports.quota-hit" })

        const all = itemsOf((yield* call("GET /rejected")).body)
        assert.deepStrictEqual(
          all.map(({ origin, sequence }) => [origin, sequence]),
          [
            ["reports", 2],
            ["events", 1]
          ]
        )
        assert.deepStrictEqual(all[1]?.["firstFault"], { path: "/details", message: "is missing" })
        assert.lengthOf(itemsOf((yield* call("GET /rejected?origin=events")).body), 1)
        const whole = yield* call("GET /rejected/1")
        assert.include(whole.body, { payload: broken, subject: "events.queue.paused", isTruncated: false })
        const narrow = yield* tokenOf("viewer", "console:read")
        assert.strictEqual((yield* call("GET /rejected/1", { token: narrow })).body["payload"], null)
      })
    )
  )

  it.live("are sent again where this release accepts them, and leave the list", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* reject(envelopeText)

        const sent = yield* call("POST /rejected/1/resend", { body: because })
        assert.strictEqual(sent.status, 200)
        const stored = yield* (yield* StreamReader).last("EVENTS", subjects.event("queue.paused"))
        assert.strictEqual(Option.getOrThrow(stored).sequence, sent.body["sequence"])
        assert.strictEqual(new TextDecoder().decode(Option.getOrThrow(stored).data), envelopeText)
        assert.deepStrictEqual(itemsOf((yield* call("GET /rejected")).body), [])
        assert.strictEqual(itemsOf((yield* call("GET /audit")).body)[0]?.["action"], "rejected-resend")
      })
    )
  )

  it.live("stay where they still break their schema, are cut, or are no events", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* reject(broken)
        yield* reject(`"${"x".repeat(70_000)}"`)
        yield* reject("{}", { origin: "reports", subject: "reports.quota-hit" })

        const still = yield* call("POST /rejected/1/resend", { body: because })
        assert.deepStrictEqual([still.status, codeOf(still.body)], [409, "still_invalid"])
        assert.isNotEmpty(((still.body["error"] as Json)["details"] as Json)["faults"])
        for (const sequence of [2, 3]) {
          const refused = yield* call(`POST /rejected/${sequence}/resend`, { body: because })
          assert.deepStrictEqual([refused.status, codeOf(refused.body)], [409, "conflict"])
        }
        assert.lengthOf(itemsOf((yield* call("GET /rejected")).body), 3)
        assert.deepStrictEqual(itemsOf((yield* call("GET /audit")).body), [])
        assert.strictEqual((yield* call("POST /rejected/1/discard", { body: because })).status, 204)
        assert.lengthOf(itemsOf((yield* call("GET /rejected")).body), 2)
      })
    )
  )

  it.live("refuse a cursor and a limit that no page gave, both at once", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { status, body } = yield* call("GET /rejected?limit=500&cursor=abc")
        assert.strictEqual(status, 400)
        assert.sameMembers(Object.keys((body["error"] as Json)["fields"] as Json), ["limit", "cursor"])
      })
    )
  )
})
