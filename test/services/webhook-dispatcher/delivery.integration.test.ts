import { verify } from "@octokit/webhooks-methods"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { eventSchemaVersion, exampleEnvelope } from "#base"
import { Metrics } from "#runtime"
import { redrive } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, quick, setUp, stream, utf8 } from "./event-to-receiver.ts"

describe("an event that an internal service publishes", () => {
  it.live("arrives with the contract's headers, its bytes untouched, accepted by an unmodified verifier", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a"), SecretEnvVar: "SECRET_A" }]
      yield* whileDispatching(
        server,
        { endpoints, environment: { SECRET_A: "top-secret" } },
        Effect.gen(function* () {
          const { body, sequence } = yield* publish("work_item.merged")
          yield* arrived(receiver, 1)
          const [request] = receiver.requests
          assert.isDefined(request)
          if (request === undefined) return
          assert.strictEqual(request.body, body)
          assert.deepInclude(request.headers, {
            "content-type": "application/json; charset=utf-8",
            "x-service-event": "work_item.merged",
            "x-service-schema-version": eventSchemaVersion,
            "x-service-sequence": String(sequence)
          })
          assert.match(String(request.headers["x-service-delivery"]), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/u)
          const signature = String(request.headers["x-service-signature"])
          assert.isTrue(yield* Effect.promise(() => verify("top-secret", request.body, signature)))
        })
      )
    })
  )

  it.live("goes to every endpoint with a matching filter, signed or not, as a separate delivery", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [
        { Name: "all", Url: receiver.url("/all") },
        { Name: "progress", Url: receiver.url("/progress"), EventFilter: ["iteration.*"] },
        { Name: "queue", Url: receiver.url("/queue"), EventFilter: ["queue.paused"] }
      ]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          for (const event of ["iteration.started", "queue.paused", "work_item.done", "work_item.invented"]) {
            yield* publish(event, event === "work_item.invented" ? { ...exampleEnvelope("work_item.done"), event } : {})
          }
          yield* arrived(receiver, 5)
          const got = receiver.requests.map(({ path, headers }) => `${path} ${headers["x-service-event"]}`).toSorted()
          assert.deepStrictEqual(got, [
            "/all queue.paused",
            "/all work_item.done",
            "/all work_item.invented",
            "/progress iteration.started",
            "/queue queue.paused"
          ])
          const ids = receiver.requests.map(({ headers }) => headers["x-service-delivery"])
          assert.strictEqual(new Set(ids).size, 5)
          assert.isUndefined(receiver.requests[0]?.headers["x-service-signature"])
        })
      )
    })
  )

  it.live(
    "arrives without the byte order mark before it, and so signed; with a key given twice it is in REJECTED",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const endpoints = [{ Name: "a", Url: receiver.url("/a"), SecretEnvVar: "SECRET_A" }]
        yield* whileDispatching(
          server,
          { endpoints, environment: { SECRET_A: "top-secret" } },
          Effect.gen(function* () {
            const publisher = yield* Publisher
            const body = JSON.stringify(exampleEnvelope("queue.paused"))
            const twice = body.replace('"reason":', '"pausedBy":"nobody","reason":')
            yield* publisher.publishRaw("events.queue.paused", utf8.encode(twice))
            yield* publisher.publishRaw("events.queue.paused", utf8.encode(`\ufeff\ufeff${body}`))
            yield* publisher.publishRaw("events.queue.paused", utf8.encode(`\ufeff${body}`))
            yield* arrived(receiver, 1)
            const [request] = receiver.requests
            assert.strictEqual(request?.body, body)
            const signature = String(request?.headers["x-service-signature"])
            assert.isTrue(yield* Effect.promise(() => verify("top-secret", body, signature)))
            const rejected = (yield* stream("REJECTED")).map(
              ({ data }) =>
                JSON.parse(new TextDecoder().decode(data)) as { faults: Array<{ path: string; message: string }> }
            )
            assert.lengthOf(rejected, 2)
            assert.deepStrictEqual(rejected[0]?.faults, [
              { path: "/details/pausedBy", message: "is given more than once" }
            ])
          })
        )
      })
  )

  it.live("that breaks its schema is in REJECTED with the fault's path, and delays no other", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a") }] },
        Effect.gen(function* () {
          const publisher = yield* Publisher
          yield* publish("work_item.suggestion", { details: { title: "x".repeat(121) } })
          yield* publisher.publishRaw("events.queue.paused", utf8.encode("not json"))
          yield* publisher.publishRaw(
            "events.queue.resumed",
            utf8.encode(JSON.stringify(exampleEnvelope("queue.paused")))
          )
          yield* publish("work_item.merged")
          yield* arrived(receiver, 1)
          assert.strictEqual(receiver.requests[0]?.headers["x-service-event"], "work_item.merged")
          const rejected = (yield* stream("REJECTED")).map(
            ({ data }) =>
              JSON.parse(new TextDecoder().decode(data)) as { subject: string; faults: Array<{ path: string }> }
          )
          assert.deepStrictEqual(
            rejected.map(({ subject }) => subject),
            ["events.work_item.suggestion", "events.queue.paused", "events.queue.resumed"]
          )
          assert.include(JSON.stringify(rejected[0]?.faults), "/details/title")
          assert.strictEqual(rejected[2]?.faults[0]?.path, "/event")
          assert.include(
            yield* (yield* Metrics).text,
            'bus_rejected_total{role="webhook-dispatcher",origin="events"} 3'
          )
        })
      )
    })
  )
})

describe("an abandoned delivery", () => {
  it.live("can be sent again: as a new delivery that names the old one, once", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 500 : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 1, ...quick }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* eventually(stream("ABANDONED"), { is: (all) => all.length === 1 })
          const none = yield* redrive({ endpoint: "a", events: ["queue.*"], countMax: 10 })
          const count = yield* redrive({ endpoint: "a", events: ["work_item.*"], countMax: 10 })
          assert.deepStrictEqual([none, count], [0, 1])
          yield* arrived(receiver, 2)
          const [old, again] = receiver.requests.map(({ headers }) => headers)
          assert.strictEqual(again?.["x-service-redrive-of"], old?.["x-service-delivery"])
          assert.notStrictEqual(again?.["x-service-delivery"], old?.["x-service-delivery"])
          assert.strictEqual(yield* redrive({ events: [], countMax: 10 }), 0)
        })
      )
    })
  )
})
