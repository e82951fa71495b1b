import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { because, type Call, codeOf, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"

const Schema = {
  type: "object",
  properties: { orderId: { type: "string" }, total: { type: "integer", minimum: 0 } },
  required: ["orderId"]
}
const order = {
  Name: "order.paid",
  Owners: ["internal-services"],
  Description: "an order is paid",
  Schema,
  Example: { orderId: "A-1", total: 5 }
}
const configured = { Events: { Types: [{ Name: "order.shipped", Owners: ["token:shop"], OptIn: true }] } }

const declare = (call: Call, settings: Json = order) =>
  call("POST /events/catalogue", { body: { ...because, settings } })
const change = (call: Call, revision: number, settings: Json) =>
  call("PATCH /events/catalogue/order.paid", { body: { ...because, revision, settings } })
const fieldsOf = (body: Json) => (body["error"] as Json)["fields"] as Readonly<Record<string, string>>
const lastAct = (call: Call) => Effect.map(call("GET /audit"), ({ body }) => itemsOf(body)[0])

describe("event types on the console", () => {
  it.live("are listed with where they are from, by source and page after page", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          yield* declare(call)
          const names = (query = "") =>
            Effect.map(call(`GET /events/catalogue${query}`), ({ body }) => itemsOf(body).map(({ event }) => event))
          const all = yield* names()
          assert.includeMembers([...all], ["order.paid", "order.shipped", "queue.paused"])
          assert.deepStrictEqual(all, all.toSorted())
          assert.deepStrictEqual(yield* names("?source=configuration"), ["order.shipped"])
          assert.deepStrictEqual(yield* names("?source=run-time"), ["order.paid"])
          const { body } = yield* call("GET /events/catalogue?limit=70")
          assert.deepStrictEqual(
            [
              ...itemsOf(body).map(({ event }) => event),
              ...(yield* names(`?limit=70&cursor=${String(body["nextCursor"])}`))
            ],
            all
          )
          const paid = itemsOf((yield* call("GET /events/catalogue?source=run-time")).body)[0]
          assert.deepStrictEqual(paid, {
            event: "order.paid",
            firedWhen: "an order is paid",
            isProgress: false,
            source: "run-time",
            owners: ["internal-services"],
            schemaVersion: "1.0.0",
            isRetired: false,
            revision: 1
          })
        }),
      configured
    )
  )

  it.live("are declared, shown, changed by revision and retired, and the audit log says so", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const made = yield* declare(call)
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.include(yield* lastAct(call), { action: "event-type-declare", target: "order.paid" })
        assert.nestedPropertyVal(made.body, "example.details.orderId", "A-1")
        assert.nestedPropertyVal(made.body, "schema.properties.details.required[0]", "orderId")
        assert.nestedPropertyVal(made.body, "settings.Description", "an order is paid")
        assert.deepStrictEqual(yield* declare(call), made)
        const other = yield* declare(call, { ...order, OptIn: true })
        assert.deepStrictEqual([other.status, codeOf(other.body)], [409, "conflict"])

        const changed = yield* change(call, 1, { OptIn: true, Description: null })
        assert.deepInclude(changed.body, { revision: 2, isProgress: true, firedWhen: "" })
        assert.strictEqual((yield* change(call, 1, { OptIn: false })).status, 409)
        const retired = yield* change(call, 2, { Retired: true })
        assert.deepInclude(retired.body, { revision: 3, isRetired: true })
        assert.include(yield* lastAct(call), { action: "event-type-change", target: "order.paid" })
        assert.deepStrictEqual((yield* call("GET /events/catalogue/order.paid")).body, retired.body)
      })
    )
  )

  it.live("are refused with every fault at its field", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const wrong = yield* declare(call, { ...order, Owners: [], Schema: { type: "objekt" }, Example: {} })
          assert.strictEqual(wrong.status, 400)
          assert.sameMembers(Object.keys(fieldsOf(wrong.body)), ["Owners"])
          const schema = yield* declare(call, { ...order, Schema: { ...Schema, pattern: "(?=a)" } })
          assert.deepStrictEqual(Object.keys(fieldsOf(schema.body)), ["Schema.pattern"])
          const example = yield* declare(call, { ...order, Example: { total: -1 } })
          assert.sameMembers(Object.keys(fieldsOf(example.body)), ["Example", "Example.total"])
          const own = yield* declare(call, { ...order, Name: "work_item.mine" })
          assert.deepStrictEqual(Object.keys(fieldsOf(own.body)), ["Name"])
          assert.strictEqual((yield* declare(call, { ...order, Name: "order.shipped" })).status, 409)
          assert.strictEqual((yield* change(call, 1, {})).status, 404)
          assert.strictEqual((yield* call("GET /events/catalogue/order.paid")).status, 404)

          yield* declare(call)
          const breaking = yield* change(call, 1, {
            Schema: { ...Schema, required: ["orderId", "currency"] },
            Example: null
          })
          assert.match(fieldsOf(breaking.body)["Schema"] ?? "", /SchemaVersion/u)
        }),
      configured
    )
  )

  it.live("are changed with the scope for it alone", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const token = yield* tokenOf("member")
        const refused = yield* call("POST /events/catalogue", { token, body: { ...because, settings: order } })
        assert.deepStrictEqual([refused.status, codeOf(refused.body)], [403, "insufficient_scope"])
      })
    )
  )

  it.live("are published as examples, once they fit their schema", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* declare(call)
        const publish = (set: Json) => call("POST /events", { body: { ...because, event: "order.paid", set } })
        const bad = yield* publish({ "details.total": -1, "details.orderId": 7 })
        assert.sameMembers(Object.keys(fieldsOf(bad.body)), ["set.details.total", "set.details.orderId"])
        assert.strictEqual((yield* (yield* StreamReader).bounds("EVENTS")).messages, 0)
        const sent = yield* publish({ "details.total": 7 })
        assert.deepStrictEqual([sent.status, sent.body["sequence"]], [200, 1])
        assert.nestedPropertyVal(sent.body, "envelope.details.total", 7)
        yield* change(call, 1, { Retired: true })
        assert.match(fieldsOf((yield* publish({})).body)["set.event"] ?? "", /retired/u)
      })
    )
  )
})
