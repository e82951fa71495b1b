import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, isoTime, subjects } from "#base"
import {
  abandon,
  because,
  type Call,
  configured,
  type Json,
  reject,
  tokenOf,
  withConsole
} from "../../../support/console.ts"
import { attempted, writeAttempts } from "../../../support/delivery-log.ts"
import { moneySettings, receiptOf, storeReceipt } from "../../../support/money.ts"

const publish = (name: string) =>
  Effect.flatMap(Publisher, (publisher) =>
    publisher.publishRaw(subjects.event(name), new TextEncoder().encode(JSON.stringify(exampleEnvelope(name))))
  )

const find = (call: Call, id: string, token?: string) =>
  call(`GET /find?id=${encodeURIComponent(id)}`, token === undefined ? {} : { token })

/** Each line by its depth and kind, and its id where the test knows it. */
const shape = ({ body }: { readonly body: Json }) =>
  (body["lines"] as ReadonlyArray<Json>).map(({ depth, kind }) => `${"-".repeat(Number(depth))}${String(kind)}`)
const textsOf = ({ body }: { readonly body: Json }) =>
  (body["lines"] as ReadonlyArray<Json>).map(({ text }) => String(text))
const messageOf = ({ body }: { readonly body: Json }) => String((body["error"] as Json)["message"])

describe("finding by any id", () => {
  it.live("shows an event with its deliveries and attempts, by each of their ids", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const startedAt = isoTime(yield* Clock.currentTimeMillis)
        yield* publish("queue.paused")
        yield* publish("work_item.merged")
        const event = { event: "work_item.merged", sequence: 2, startedAt }
        const first = attempted("demo", "failed", { ...event, nextAttemptAt: startedAt })
        const { deliveryId } = first
        yield* writeAttempts(first, attempted("demo", "failed", event))
        yield* writeAttempts(
          attempted("demo", "delivered", { ...event, deliveryId, attempt: 2, previousEndedAt: Date.parse(startedAt) })
        )

        const byEvent = yield* find(call, "2")
        assert.deepStrictEqual(shape(byEvent), [
          "event",
          "-delivery",
          "--attempt",
          "--attempt",
          "-delivery",
          "--attempt"
        ])
        const item = String(((exampleEnvelope("work_item.merged") ?? {})["workItem"] as Json)["id"])
        assert.match(textsOf(byEvent)[0] ?? "", /^work_item\.merged, “.*” is merged into \S+, workItem:/u)
        assert.deepStrictEqual(textsOf(byEvent)[3], "attempt 2 delivered: 204 after 12 ms")

        const byDelivery = yield* find(call, deliveryId)
        assert.deepStrictEqual(shape(byDelivery), ["event", "-delivery", "--attempt", "--attempt"])
        assert.deepStrictEqual(shape(yield* find(call, "1.0")), ["event", "-delivery", "--attempt", "--attempt"])
        assert.deepStrictEqual(shape(yield* find(call, item)), ["event"])
        assert.deepStrictEqual(shape(yield* find(call, `workItem:${item}`)), ["event"])

        const narrow = yield* find(call, "2", yield* tokenOf("viewer", "console:read"))
        assert.notMatch(textsOf(narrow)[0] ?? "", /“/u)
      })
    )
  )

  it.live("shows endpoints, abandoned deliveries, rejected messages and requests", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { sequence, delivery } = yield* abandon("demo")
          yield* reject("{}")
          yield* writeAttempts(attempted("demo", "delivered"))
          const paused = yield* call("POST /endpoints/demo/pause", {
            body: because,
            headers: { "x-request-id": "req_mine" }
          })
          assert.strictEqual(paused.status, 200, JSON.stringify(paused.body))

          assert.includeMembers(shape(yield* find(call, String(sequence))), ["abandoned", "rejected"])
          assert.deepStrictEqual(shape(yield* find(call, delivery.deliveryId)), ["abandoned"])
          assert.deepStrictEqual(shape(yield* find(call, "demo")), ["endpoint", "-attempt"])
          const act = yield* find(call, "req_mine")
          assert.deepStrictEqual(
            textsOf(act).map((text) => text.replace(/ by .*:/u, " by X:")),
            ["endpoint-pause of demo by X: a test"]
          )
        }),
      configured("demo")
    )
  )

  it.live("shows a payer with claims, receipts and transactions, by each of their ids", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const receipt = receiptOf("one")
          const { sequence } = yield* storeReceipt(receipt)
          yield* storeReceipt(receiptOf("other", { payer: `0x${"ab".repeat(20)}` }))
          const whole = ["payer", "-claim", "--receipt", "---transaction"]
          for (const id of [
            receipt.payer,
            receipt.payer.toUpperCase().replace("0X", "0x"),
            receipt.claimKey,
            receipt.transaction ?? "",
            String(sequence)
          ]) {
            assert.deepStrictEqual(shape(yield* find(call, id)), whole, id)
          }
        }),
      moneySettings
    )
  )

  it.live("says as what an unknown id was sought, and what is not kept", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const nobody = yield* find(call, "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01")
        assert.strictEqual(nobody.status, 404)
        assert.match(messageOf(nobody), /^nothing is kept under this id as a delivery, a work item/u)
        assert.include(messageOf(nobody), "Of speech nothing is kept by session")
        assert.strictEqual((yield* find(call, "")).status, 400)
        assert.strictEqual((yield* find(call, "x".repeat(701))).status, 400)
        assert.strictEqual((yield* find(call, "17", yield* tokenOf("viewer", "pipeline:read"))).status, 403)
      })
    )
  )
})
