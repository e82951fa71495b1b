import { verify } from "@octokit/webhooks-methods"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { Publisher, StreamReader } from "#bus"
import { endpointIdOf, exampleEnvelope, subjects } from "#contracts"
import { Metrics } from "#runtime"
import { EndpointStates } from "../../../services/webhook-dispatcher/EndpointStates.ts"
import { redrive } from "../../../services/webhook-dispatcher/redrive.ts"
import { busOn, eventually, natsServer } from "../../support/bus.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { startReceiver, type TestReceiver } from "../../support/receiver.ts"
import { attemptRecords, plannedWaits } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()

const publish = (event: string, changes: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const publisher = yield* Publisher
    const body = JSON.stringify({ ...exampleEnvelope(event), ...changes })
    const { sequence } = yield* publisher.publishRaw(subjects.event(event), utf8.encode(body))
    return { body, sequence }
  })

const arrived = (receiver: TestReceiver, count: number, path?: string) =>
  eventually(
    Effect.sync(
      () => receiver.requests.filter((request) => path === undefined || request.path === path).length >= count
    )
  )

const stream = (name: string) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const { firstSequence, lastSequence } = yield* reader.bounds(name)
    if (lastSequence === 0) return []
    return yield* Stream.runCollect(reader.range(name, { fromSequence: firstSequence, toSequence: lastSequence }))
  })

const quick = { InitialBackoffSeconds: 0.2, TimeoutSeconds: 1 }

const setUp = Effect.all({ server: natsServer, receiver: startReceiver })

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
            "x-service-schema-version": "1.1.0",
            "x-service-sequence": String(sequence)
          })
          assert.match(String(request.headers["x-service-delivery"]), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/u)
          const signature = String(request.headers["x-service-signature"])
          assert.isTrue(yield* Effect.promise(() => verify("top-secret", request.body, signature)))
        })
      )
    })
  )

  it.live("goes to every endpoint whose filter wants it, signed or not, each by its own delivery", () =>
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

  it.live("that breaks its schema is in REJECTED with the path of the fault, and blocks nobody", () =>
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

describe("a receiver that fails", () => {
  it.live(
    "gets MaxAttempts tries after 1, 2 backoffs, never early, all under one delivery id; then it is abandoned",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        receiver.answer("/a", () => 500)
        yield* whileDispatching(
          server,
          { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 3, InitialBackoffSeconds: 0.5 }] },
          Effect.gen(function* () {
            yield* publish("work_item.merged")
            yield* arrived(receiver, 3)
            yield* eventually(Effect.map(stream("ABANDONED"), (all) => all.length === 1))
            const times = receiver.requests.map(({ atMs }) => atMs)
            const waits = [times[1]! - times[0]!, times[2]! - times[1]!]
            assert.isTrue(waits[0]! >= 500 && waits[1]! >= 1_000, `${waits}`)
            // How late they come is the machine's; for when they are planned is ours.
            yield* eventually(Effect.map(attemptRecords, (all) => all.length === 3))
            const [first = 0, second = 0, ...more] = plannedWaits(yield* attemptRecords)
            assert.deepStrictEqual(more, [])
            assert.isTrue(first >= 500 && first < 700, `${first}`)
            assert.isTrue(second >= 1_000 && second < 1_200, `${second}`)
            const ids = new Set(receiver.requests.map(({ headers }) => headers["x-service-delivery"]))
            assert.strictEqual(ids.size, 1)
            const [abandoned] = yield* stream("ABANDONED")
            const reason = JSON.parse(abandoned?.header("Starling-Abandonment") ?? "{}") as Record<string, unknown>
            assert.deepInclude(reason, { endpoint: "a", attempts: 3, lastStatus: 500 })
          })
        )
      })
  )

  it.live("once is tried again and delivered, and the log tells both attempts", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 503 : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), ...quick }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* arrived(receiver, 2)
          yield* eventually(Effect.map(attemptRecords, (all) => all.length === 2))
          const [first, second] = yield* attemptRecords
          assert.deepInclude(first, { attempt: 1, outcome: "failed", status: 503 })
          assert.isString(first?.["nextAttemptAt"])
          assert.deepInclude(second, { attempt: 2, outcome: "delivered", status: 204, nextAttemptAt: null })
        })
      )
    })
  )

  it.live("with Retry-After is given that long, up to the cap", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? { status: 429, headers: { "Retry-After": "1" } } : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), ...quick }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* arrived(receiver, 2)
          const [first, second] = receiver.requests
          assert.isAtLeast(second!.atMs - first!.atMs, 1_000)
        })
      )
    })
  )

  it.live("with 410 is paused at once, keeps missing nothing, and goes on when an operator resumes it", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 410 : 204))
      // One after the other: what leaves in order over two connections may be read the other way round.
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 1, ...quick }] },
        Effect.gen(function* () {
          const operator = EndpointStates.layer.pipe(Layer.provideMerge(busOn(server)))
          const { text } = yield* Metrics
          yield* publish("work_item.merged")
          yield* eventually(Effect.map(stream("ABANDONED"), (all) => all.length === 1))
          const id = endpointIdOf("a")
          yield* Effect.gen(function* () {
            const states = yield* EndpointStates
            yield* eventually(Effect.sync(() => states.isPaused(id)))
            assert.include(states.get(id)?.paused?.reason, "410")
            yield* publish("work_item.done")
            yield* publish("work_item.failed")
            // Passed over by the fan-out, or held by the broker: either way accounted for, and not sent.
            const parked = Effect.map(text, (all) => Number(/webhook_parked_events\{.*\} (\d+)/u.exec(all)?.[1] ?? 0))
            const due = Effect.map(stream("DELIVERIES"), (all) =>
              all.filter(({ subject }) => subject.startsWith("deliveries.due."))
            )
            yield* eventually(Effect.map(Effect.all([parked, due]), ([count, held]) => count + held.length === 2))
            assert.strictEqual(receiver.requests.length, 1)
            yield* states.resume(id, "a")
            yield* arrived(receiver, 3)
          }).pipe(Effect.provide(Layer.fresh(operator)))
          const events = receiver.requests.map(({ headers }) => headers["x-service-event"])
          assert.deepStrictEqual(events, ["work_item.merged", "work_item.done", "work_item.failed"])
        })
      )
    })
  )

  it.live("by hanging costs the healthy ones nothing", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/hang", () => "hang")
      const endpoints = [
        { Name: "hang", Url: receiver.url("/hang"), Concurrency: 4, TimeoutSeconds: 30 },
        { Name: "ok", Url: receiver.url("/ok") }
      ]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 100 }), () => publish("work_item.merged"), { concurrency: 10 })
          yield* arrived(receiver, 100, "/ok")
          yield* arrived(receiver, 4, "/hang")
          assert.strictEqual(receiver.requests.filter(({ path }) => path === "/hang").length, 4)
        })
      )
    })
  )
})

describe("an abandoned delivery", () => {
  it.live("can be sent again: a new delivery that names the old one, once", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 500 : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 1, ...quick }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* eventually(Effect.map(stream("ABANDONED"), (all) => all.length === 1))
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
