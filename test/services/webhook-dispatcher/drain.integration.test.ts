/** The fate of deliveries under way when a dispatcher, or its broker, ends. */
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { StreamReader } from "#bus"
import { Drain } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import type { TestReceiver } from "../../support/receiver.ts"
import { arrived, publish, setUp } from "../../support/webhooks.ts"

const event = "work_item.merged"

const deliveriesOf = (receiver: TestReceiver) => receiver.requests.map(({ headers }) => headers["x-service-delivery"])

describe("the end of a dispatcher", () => {
  it.live("by shutdown finishes running attempts and loses nothing: the next one continues", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a"), Concurrency: 4 }]
      const count = 200
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: count }), () => publish("work_item.merged"), { concurrency: 50 })
          yield* arrived(receiver, "/a", 20)
          assert.isTrue(yield* (yield* Drain).run)
        })
      )
      yield* whileDispatching(server, { endpoints }, arrived(receiver, "/a", count))
      const ids = receiver.requests.map(({ headers }) => headers["x-service-delivery"])
      assert.strictEqual(new Set(ids).size, count)
      assert.strictEqual(ids.length, count)
    })
  )

  it.live("by a killed broker loses nothing either: every event arrives", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a") }]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          const send = publish("work_item.merged").pipe(Effect.retry({ times: 100 }))
          yield* Effect.forEach(Array.from({ length: 50 }), () => send, { concurrency: 10 })
          yield* Effect.promise(() => server.kill9())
          yield* Effect.promise(() => server.start())
          yield* Effect.forEach(Array.from({ length: 50 }), () => send.pipe(Effect.timeout("10 seconds")), {
            concurrency: 10
          })
          const reader = yield* StreamReader
          const { lastSequence } = yield* reader.bounds("EVENTS")
          const sequences = () => new Set(receiver.requests.map(({ headers }) => Number(headers["x-service-sequence"])))
          yield* eventually(() => sequences().size, { is: lastSequence })
        })
      )
    })
  )
})

describe("a dispatcher that is told to end during an attempt", () => {
  it.live("waits for the answer, and no other dispatcher repeats the delivery", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a") }]
      const thinking: Array<ServerResponse> = []
      receiver.answer("/a", (nth) => (nth === 1 ? (response) => void thinking.push(response) : 204))

      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* publish(event)
          yield* arrived(receiver, "/a", 1)
          const draining = yield* Effect.forkChild((yield* Drain).run, { startImmediately: true })
          // From now on nothing is accepted.
          yield* publish(event)
          yield* Effect.sleep("300 millis")
          assert.isUndefined(draining.pollUnsafe(), "it ended before the answer")
          for (const response of thinking) response.writeHead(204).end()
          assert.isTrue(yield* Fiber.join(draining))
          assert.strictEqual(receiver.requests.length, 1)
        })
      )
      yield* whileDispatching(server, { endpoints }, arrived(receiver, "/a", 2))

      assert.strictEqual(receiver.requests.length, 2)
      assert.strictEqual(new Set(deliveriesOf(receiver)).size, 2)
    })
  )

  it.live("waits at most 30 s; the next one sends the same delivery at once", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      // Its ack wait is longer than what is waited for below.
      const endpoints = [{ Name: "a", Url: receiver.url("/a"), TimeoutSeconds: 120, MaxAttempts: 1 }]
      receiver.answer("/a", (nth) => (nth === 1 ? "hang" : 204))

      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* publish(event)
          yield* arrived(receiver, "/a", 1)
          const [took, inTime] = yield* Effect.timed((yield* Drain).run)
          assert.isTrue(inTime)
          assert.isAtMost(Duration.toSeconds(took), 30)
          assert.isAtLeast(Duration.toSeconds(took), 20, "it did not wait for the answer")
        })
      )
      yield* whileDispatching(server, { endpoints }, arrived(receiver, "/a", 2))

      assert.strictEqual(new Set(deliveriesOf(receiver)).size, 1)
    })
  )
})
