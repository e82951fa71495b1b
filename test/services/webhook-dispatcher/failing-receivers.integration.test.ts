import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { endpointIdOf } from "#webhooks/contract"
import { Metrics } from "#runtime"
import { EndpointStates } from "#webhooks"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { attemptRecords, plannedWaits } from "../../support/webhooks.ts"
import { arrived, publish, quick, setUp, stream } from "./event-to-receiver.ts"

describe("a failing receiver", () => {
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
            yield* eventually(stream("ABANDONED"), { is: (all) => all.length === 1 })
            const times = receiver.requests.map(({ atMs }) => atMs)
            const waits = [times[1]! - times[0]!, times[2]! - times[1]!]
            assert.isTrue(waits[0]! >= 500 && waits[1]! >= 1_000, `${waits}`)
            // How late they come is the machine's; for when they are planned is ours.
            yield* eventually(attemptRecords, { is: (all) => all.length === 3 })
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

  it.live(
    "has the headers it got in the log, of its configured ones the names alone, and each line leads to the next",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        receiver.answer("/a", () => 500)
        const Headers = { "X-Gateway-Key": "open-sesame" }
        yield* whileDispatching(
          server,
          { endpoints: [{ Name: "a", Url: receiver.url("/a"), ...quick, MaxAttempts: 2, Headers }] },
          Effect.gen(function* () {
            yield* publish("work_item.merged")
            yield* eventually(attemptRecords, { is: (all) => all.length === 2 })
            assert.strictEqual(receiver.requests[0]?.headers["x-gateway-key"], "open-sesame")
            const [first, second] = yield* attemptRecords
            assert.notInclude(JSON.stringify([first, second]), "open-sesame")
            const headers = first?.["requestHeaders"] as Readonly<Record<string, string>>
            assert.include(headers, { "X-Gateway-Key": "[configured]", "X-Service-Event": "work_item.merged" })
            assert.property(first?.["responseHeaders"], "date")
            const endedAtMs = Date.parse(String(first?.["startedAt"])) + Number(first?.["durationMs"])
            assert.strictEqual(second?.["previousEndedAt"], endedAtMs)
            const subjects = (yield* stream("ATTEMPTS")).map(({ subject }) => subject)
            assert.deepStrictEqual([...new Set(subjects)], [`attempts.${endpointIdOf("a")}.failed`])
          })
        )
      })
  )

  it.live("that recovers gets one retry and its delivery, and the log has both attempts", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 503 : 204))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), ...quick }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* arrived(receiver, 2)
          yield* eventually(attemptRecords, { is: (all) => all.length === 2 })
          const [first, second] = yield* attemptRecords
          assert.deepInclude(first, { attempt: 1, outcome: "failed", status: 503 })
          assert.isString(first?.["nextAttemptAt"])
          assert.deepInclude(second, { attempt: 2, outcome: "delivered", status: 204, nextAttemptAt: null })
        })
      )
    })
  )

  it.live("gets the wait of its Retry-After, up to the cap", () =>
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

  it.live("that answers 410 is paused at once, misses nothing, and continues when an operator resumes it", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? 410 : 204))
      // In sequence: requests that leave in order over two connections may be read in reverse.
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 1, ...quick }] },
        Effect.gen(function* () {
          const operator = EndpointStates.layer.pipe(Layer.provideMerge(busOn(server)))
          const { text } = yield* Metrics
          yield* publish("work_item.merged")
          yield* eventually(stream("ABANDONED"), { is: (all) => all.length === 1 })
          const id = endpointIdOf("a")
          yield* Effect.gen(function* () {
            const states = yield* EndpointStates
            yield* eventually(() => states.isPaused(id))
            assert.include(states.get(id)?.paused?.reason, "410")
            yield* publish("work_item.done")
            yield* publish("work_item.failed")
            // Passed over by the fan-out, or held by the broker: either way accounted for, and not sent.
            const parked = Effect.map(text, (all) => Number(/webhook_parked_events\{.*\} (\d+)/u.exec(all)?.[1] ?? 0))
            const due = Effect.map(stream("DELIVERIES"), (all) =>
              all.filter(({ subject }) => subject.startsWith("deliveries.due."))
            )
            yield* eventually(Effect.all([parked, due]), { is: ([count, held]) => count + held.length === 2 })
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

  it.live("that hangs costs the healthy ones nothing", () =>
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
