import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { records, replaced } from "#bus"
import { openEndpointStore } from "#webhooks"
import { endpointIdOf } from "#webhooks/contract"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { startReceiver } from "../../../support/receiver.ts"
import { arrived, metric, publish, requestsTo, stream } from "../../../support/webhooks.ts"
import {
  because,
  callerOf,
  codeOf,
  configured,
  consoleOn,
  itemsOf,
  type Json,
  tokenOf,
  withConsole
} from "../../../support/console.ts"

const secret = "a-secret-of-this-test"
const settings = { Name: "ci", Url: "https://ci.example/hooks", Headers: { Authorization: "Bearer of-a-key" } }

describe("a console without any dispatcher", () => {
  it.live("answers 503 to a test of an endpoint, and sends nothing later", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const test = Effect.gen(function* () {
        const call = yield* callerOf
        const answer = yield* call("POST /endpoints/ci/test", { body: { ...because, event: "queue.paused" } })
        assert.strictEqual(answer.status, 503, JSON.stringify(answer.body))
        assert.deepStrictEqual(yield* stream("DELIVERIES"), [])
      })
      yield* Effect.provide(test, consoleOn(server, configured("ci"), Effect.void))
    })
  )
})

describe("webhook endpoints on the console", () => {
  it.live("are made, shown without a secret, changed by revision, and removed", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const made = yield* call("POST /endpoints", { body: { ...because, settings, secret } })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.deepInclude(made.body, { name: "ci", source: "run-time", revision: 1, isSigned: true, backlog: 0 })
        assert.deepStrictEqual(made.body["headerNames"], ["Authorization"])
        assert.notMatch(JSON.stringify(made.body), /of-a-key|a-secret-of/u)
        const again = yield* call("POST /endpoints", { body: { ...because, settings, secret } })
        assert.deepStrictEqual(again, made)
        const other = yield* call("POST /endpoints", { body: { ...because, settings } })
        assert.deepStrictEqual([other.status, codeOf(other.body)], [409, "conflict"])

        const change = { ...because, revision: 1, settings: { Concurrency: 3 } }
        const changed = yield* call("PATCH /endpoints/ci", { body: change })
        assert.deepInclude(changed.body, { revision: 2 })
        const stale = yield* call("PATCH /endpoints/ci", { body: { ...change, settings: { Concurrency: 4 } } })
        assert.deepStrictEqual([stale.status, codeOf(stale.body)], [409, "conflict"])
        const rotated = yield* call("POST /endpoints/ci/rotate", { body: { ...because, secret: `${secret}-two` } })
        assert.isNumber(rotated.body["previousSecretUntilMs"])

        const paused = yield* call("POST /endpoints/ci/pause", { body: because })
        assert.deepInclude(paused.body["paused"], { reason: because.reason })
        assert.isNull((yield* call("POST /endpoints/ci/resume", { body: because })).body["paused"])
        assert.deepInclude((yield* call("POST /endpoints/ci/disable", { body: because })).body, { isEnabled: false })
        assert.deepInclude((yield* call("POST /endpoints/ci/enable", { body: because })).body, { isEnabled: true })

        assert.deepStrictEqual(
          itemsOf((yield* call("GET /endpoints")).body).map(({ name }) => name),
          ["ci"]
        )
        assert.strictEqual((yield* call("POST /endpoints/ci/remove", { body: because })).status, 204)
        assert.strictEqual((yield* call("GET /endpoints/ci")).status, 404)
        const acts = itemsOf((yield* call("GET /audit")).body)
        assert.notMatch(JSON.stringify(acts), /of-a-key|a-secret-of/u)
        assert.include(acts[0], { action: "endpoint-remove", target: "ci" })
      })
    )
  )

  it.live("are refused with every fault and its path", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const faulty = { Name: "x", Url: "ftp://x", Tries: 3, Headers: { Host: "x" } }
        const { status, body } = yield* call("POST /endpoints", {
          body: { ...because, settings: faulty, secret: "short" }
        })
        assert.deepStrictEqual([status, codeOf(body)], [400, "validation_failed"])
        for (const path of ["Url", "Tries", "Headers.Host", "Secret"]) assert.include(JSON.stringify(body), `"${path}"`)
        assert.notInclude(JSON.stringify(body), "short")
      })
    )
  )

  it.live("are refused filters that no event can pass, and keep those that they were made with", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const faultsOf = Effect.fnUntraced(function* (verb: string, body: Json) {
          const answer = yield* call(verb, { body: { ...because, ...body } })
          assert.strictEqual(answer.status, 400, JSON.stringify(answer.body))
          return (answer.body["error"] as Json)["fields"]
        })
        const filters = {
          EventFilter: ["*", "work_item.mergd"],
          ContentFilter: { event: ["queue.pausd"], detail: { a: ["b"] } }
        }
        assert.deepStrictEqual(yield* faultsOf("POST /endpoints", { settings: { ...settings, ...filters } }), {
          "EventFilter.1": "there is no event work_item.mergd; did you mean work_item.merged?",
          "ContentFilter.event.0": "there is no event queue.pausd; did you mean queue.paused?",
          "ContentFilter.detail": "no envelope has this field; did you mean details?"
        })
        const { bucket } = yield* openEndpointStore
        yield* call("POST /endpoints", { body: { ...because, settings } })
        const id = endpointIdOf("ci")
        const older = Option.getOrThrow(yield* bucket.get(id)).value
        const kept = { ...older.settings, EventFilter: ["my_team.*"] }
        yield* records(bucket).change(id, () => replaced({ ...older, settings: kept }))
        assert.deepInclude((yield* call("GET /endpoints/ci")).body["settings"], { EventFilter: ["my_team.*"] })
        const change = (changes: Json) => ({ revision: 1, settings: changes })
        assert.deepStrictEqual(yield* faultsOf("PATCH /endpoints/ci", change({ ContentFilter: { projct: ["a"] } })), {
          "EventFilter.0": "there is no event my_team.*",
          "ContentFilter.projct": "no envelope has this field; did you mean project?"
        })
        const others = yield* call("PATCH /endpoints/ci", { body: { ...because, ...change({ Concurrency: 3 }) } })
        assert.deepInclude(others.body["settings"], { EventFilter: ["my_team.*"], Concurrency: 3 })
      })
    )
  )

  it.live("have filters that are tried on the last hundred events", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const tryOn = (settings: Json, token?: string) =>
          call("POST /endpoints/try-filter", { body: { settings }, ...(token === undefined ? {} : { token }) })
        const none = yield* tryOn({})
        assert.deepStrictEqual(none.body, { examined: 0, fitting: 0, shown: [], others: [] })
        const last = yield* publish("queue.paused")
        for (let count = 0; count < 60; count += 1) yield* publish("work_item.merged")
        for (let count = 0; count < 45; count += 1) yield* publish("iteration.started")
        const all = yield* tryOn({ EventFilter: ["*"] })
        assert.deepInclude(all.body, { examined: 100, fitting: 100, others: [] })
        assert.lengthOf(all.body["shown"] as ReadonlyArray<Json>, 5)

        const content = { workItem: { state: ["Merged"] }, project: { id: ["orchard"] } }
        const some = yield* tryOn({ EventFilter: ["work_item.*"], ContentFilter: content })
        assert.deepInclude(some.body, { examined: 100, fitting: 55 })
        const other = { ...content, project: { id: ["meadow"] } }
        const { body } = yield* tryOn({ EventFilter: ["work_item.*"], ContentFilter: other })
        assert.strictEqual(body["fitting"], 0)
        const others = body["others"] as ReadonlyArray<Json>
        assert.lengthOf(others, 10)
        for (const one of others) assert.deepInclude(one, { path: "/project/id", found: '"orchard"' })
        assert.isAbove(Number(others[0]?.["sequence"]), last)

        const refused = yield* tryOn({ EventFilter: ["work_item.mergd"], ContentFilter: { a: "b" }, Concurrency: 3 })
        assert.deepStrictEqual([refused.status, codeOf(refused.body)], [400, "validation_failed"])
        const fields = (refused.body["error"] as Json)["fields"] as Json
        assert.sameMembers(Object.keys(fields), ["ContentFilter.a", "Concurrency"])
        const reader = yield* tokenOf("viewer", "console:read")
        assert.strictEqual((yield* tryOn({ EventFilter: ["work_item.*"] }, reader)).status, 200)
        const kept = yield* tryOn({ ContentFilter: content }, reader)
        assert.deepStrictEqual([kept.status, codeOf(kept.body)], [403, "insufficient_scope"])
        assert.lengthOf(itemsOf((yield* call("GET /audit")).body), 0)
      })
    )
  )

  it.live("come in pages by name that leave none out", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        for (const Name of ["b", "a", "c"]) {
          yield* call("POST /endpoints", { body: { ...because, settings: { ...settings, Name } } })
        }
        const first = yield* call("GET /endpoints?limit=2")
        const next = yield* call(`GET /endpoints?limit=2&cursor=${String(first.body["nextCursor"])}`)
        assert.deepStrictEqual(
          [...itemsOf(first.body), ...itemsOf(next.body)].map(({ name }) => name),
          ["a", "b", "c"]
        )
        assert.isNull(next.body["nextCursor"])
        const foreign = yield* call("GET /endpoints?cursor=Yg")
        assert.deepStrictEqual([foreign.status, codeOf(foreign.body)], [400, "validation_failed"])
      })
    )
  )

  it.live(
    "are refused each change where the file has them, before any dispatcher ran, and no act is written down",
    () =>
      withConsole(
        (call) =>
          Effect.gen(function* () {
            assert.deepInclude((yield* call("GET /endpoints/file")).body, {
              source: "configuration",
              headerNames: ["Authorization"]
            })
            for (const [verb, body] of [
              ["POST /endpoints", { settings: { ...settings, Name: "file" } }],
              ["PATCH /endpoints/file", { revision: 1, settings: { Concurrency: 3 } }],
              ["POST /endpoints/file/rotate", { secret }],
              ["POST /endpoints/file/enable", {}],
              ["POST /endpoints/file/disable", {}],
              ["POST /endpoints/file/remove", {}]
            ] as const) {
              const refused = yield* call(verb, { body: { ...because, ...body } })
              assert.deepStrictEqual([refused.status, codeOf(refused.body)], [409, "conflict"], verb)
            }
            assert.lengthOf(itemsOf((yield* call("GET /audit")).body), 0)
          }),
        { Webhooks: [{ ...settings, Name: "file" }] }
      )
  )

  it.live("are shown with what waits, what is in flight, what was taken last, and where they are parked", () =>
    withConsole((call, server) =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        const held: Array<() => void> = []
        let isHeld = true
        receiver.answer("/slow", () => (isHeld ? (response) => held.push(() => response.writeHead(204).end()) : 204))
        const body = { ...because, settings: { Name: "slow", Url: receiver.url("/slow"), Concurrency: 1 } }
        assert.strictEqual((yield* call("POST /endpoints", { body })).status, 201)
        const shown = Effect.map(call("GET /endpoints/slow"), (answer) => answer.body)
        assert.deepInclude(yield* shown, { inFlight: null, oldestDueAt: null, lastDeliveredAt: null, parkedFrom: null })
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            for (let count = 0; count < 3; count += 1) yield* publish("work_item.merged")
            yield* eventually(shown, { is: ({ backlog, inFlight }) => backlog === 3 && inFlight === 1 })
            const waiting = yield* shown
            assert.isNumber(Date.parse(String(waiting["oldestDueAt"])))
            assert.isNull(waiting["lastDeliveredAt"])
            isHeld = false
            for (const letGo of held) letGo()
            yield* eventually(shown, { is: (now) => now["backlog"] === 0 && now["lastDeliveredAt"] !== null })
            assert.deepInclude(yield* shown, { inFlight: 0, oldestDueAt: null, parkedFrom: null })
          })
        )
      })
    )
  )

  it.live("get a test that goes to one alone, is marked and counted as a test, and is tried once", () =>
    withConsole((call, server) =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        receiver.answer("/fails", () => 500)
        for (const Name of ["works", "fails"]) {
          const body = { ...because, settings: { Name, Url: receiver.url(`/${Name}`) } }
          assert.strictEqual((yield* call("POST /endpoints", { body })).status, 201)
        }
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            const sent = yield* call("POST /endpoints/works/test", { body: { ...because, event: "queue.paused" } })
            yield* call("POST /endpoints/fails/test", { body: because })
            yield* arrived(receiver, "/works", 1)
            yield* arrived(receiver, "/fails", 1)
            // An event comes after the tests, and to both.
            yield* publish("work_item.merged")
            yield* arrived(receiver, "/works", 2)
            const [test, event] = requestsTo(receiver, "/works").map(({ headers }) => headers)
            assert.deepInclude(test, { "x-service-test": "true", "x-service-event": "queue.paused" })
            assert.strictEqual(test?.["x-service-delivery"], sent.body["deliveryId"])
            assert.isUndefined(event?.["x-service-test"])
            assert.strictEqual(yield* metric("webhook_tests_total", 'outcome="delivered"'), 1)
            assert.strictEqual(yield* metric("webhook_tests_total", 'outcome="failed"'), 1)
            assert.strictEqual(yield* metric("webhook_deliveries_total", 'endpoint="fails"', 'outcome="abandoned"'), 0)
            const testsToFails = requestsTo(receiver, "/fails").filter(({ headers }) => headers["x-service-test"])
            assert.lengthOf(testsToFails, 1)
          })
        )
        const unknown = yield* call("POST /endpoints/works/test", { body: { ...because, event: "nothing.known" } })
        assert.strictEqual(unknown.status, 400)
      })
    )
  )

  it.live("get a test of a declared type with its example and its schema's version", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const receiver = yield* startReceiver
      const test = Effect.gen(function* () {
        const call = yield* callerOf
        const works = { Name: "works", Url: receiver.url("/works") }
        yield* call("POST /endpoints", { body: { ...because, settings: works } })
        const tested = call("POST /endpoints/works/test", { body: { ...because, event: "order.paid" } })
        const type = { Name: "order.paid", Owners: ["internal-services"], SchemaVersion: "1.3.0" }
        yield* call("POST /events/catalogue", { body: { ...because, settings: type } })
        assert.strictEqual((yield* tested).status, 400, "without an example")
        const change = { ...because, revision: 1, settings: { Example: { orderId: "A-1" } } }
        yield* call("PATCH /events/catalogue/order.paid", { body: change })
        assert.strictEqual((yield* tested).status, 200)
        yield* arrived(receiver, "/works", 1)
        const [sent] = requestsTo(receiver, "/works")
        assert.deepInclude(sent?.headers, { "x-service-event": "order.paid", "x-service-schema-version": "1.3.0" })
        assert.deepInclude(JSON.parse(String(sent?.body)), { event: "order.paid", details: { orderId: "A-1" } })
      })
      yield* whileDispatching(server, { endpoints: [] }, test).pipe(Effect.provide(consoleOn(server, {}, Effect.void)))
    })
  )
})
