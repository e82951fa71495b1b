/** What SIGTERM makes of deliveries that are on their way: up to 30 s to end, and what has not ended goes on elsewhere. */
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#contracts"
import { Drain } from "#runtime"
import { eventually, natsServer } from "../../support/bus.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { startReceiver, type TestReceiver } from "../../support/receiver.ts"

const event = "work_item.merged"
const utf8 = new TextEncoder()

const publish = Effect.gen(function* () {
  const publisher = yield* Publisher
  yield* publisher.publishRaw(subjects.event(event), utf8.encode(JSON.stringify(exampleEnvelope(event))))
})

const arrived = (receiver: TestReceiver, count: number) =>
  eventually(
    Effect.sync(() => receiver.requests.length >= count),
    15_000
  )

const deliveriesOf = (receiver: TestReceiver) => receiver.requests.map(({ headers }) => headers["x-service-delivery"])

const setUp = Effect.all({ server: natsServer, receiver: startReceiver })

describe("a dispatcher that is told to end while a receiver thinks", () => {
  it.live("waits for the answer, and nobody sends that delivery again", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a") }]
      const thinking: Array<ServerResponse> = []
      receiver.answer("/a", (nth) => (nth === 1 ? (response) => void thinking.push(response) : 204))

      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* publish
          yield* arrived(receiver, 1)
          const draining = yield* Effect.forkChild((yield* Drain).run, { startImmediately: true })
          // What comes now is not taken any more.
          yield* publish
          yield* Effect.sleep("300 millis")
          assert.isUndefined(draining.pollUnsafe(), "it ended before the answer")
          for (const response of thinking) response.writeHead(204).end()
          assert.isTrue(yield* Fiber.join(draining))
          assert.strictEqual(receiver.requests.length, 1)
        })
      )
      yield* whileDispatching(server, { endpoints }, arrived(receiver, 2))

      assert.strictEqual(receiver.requests.length, 2)
      assert.strictEqual(new Set(deliveriesOf(receiver)).size, 2)
    })
  )

  it.live("waits no longer than 30 s; the next one sends the same delivery at once", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a"), TimeoutSeconds: 120, MaxAttempts: 1 }]
      receiver.answer("/a", (nth) => (nth === 1 ? "hang" : 204))

      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* publish
          yield* arrived(receiver, 1)
          const [took, inTime] = yield* Effect.timed((yield* Drain).run)
          assert.isTrue(inTime)
          assert.isAtMost(Duration.toSeconds(took), 30)
          assert.isAtLeast(Duration.toSeconds(took), 20, "it did not wait for the answer")
        })
      )
      yield* whileDispatching(server, { endpoints }, arrived(receiver, 2))

      assert.strictEqual(new Set(deliveriesOf(receiver)).size, 1)
    })
  )
})
