import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { envelopeBytesMax, Publisher } from "#bus"
import { type Delivery, endpointIdOf } from "#webhooks/contract"
import { exampleEnvelope, subjects } from "#base"
import { dueDeliveryCodec, dueSubject, readAbandoned, redrive } from "#webhooks"
import { whileDispatching } from "../../support/dispatcher.ts"
import { abandoned, abandonments, arrived, publish, requestsTo, setUp, stream } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()
const name = "zz.other"

/** An event of exactly so many bytes, with an entity that needs six bytes for each character. */
const eventOf = (bytes: number) => {
  const details = { workItemId: "\u0001".repeat(300), fill: "" }
  const of = (fill: string) =>
    JSON.stringify({
      ...exampleEnvelope("queue.paused"),
      event: name,
      workItem: null,
      project: null,
      details: { ...details, fill }
    })
  return utf8.encode(of("x".repeat(bytes - of("").length)))
}

/** Puts a delivery of so many bytes among the due ones, as no event makes one. */
const plant = (bytes: number, changes: Partial<Delivery> = {}) =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const delivery: Delivery = {
      deliveryId: randomUUID(),
      endpointId: endpointIdOf("a"),
      event: "work_item.merged",
      schemaVersion: "1.0.0",
      sequence: 9_999,
      attempt: 1,
      storedAt: nowMs,
      dueAt: nowMs,
      ...changes
    }
    const { data, headers } = dueDeliveryCodec.encode({ delivery, body: new Uint8Array(bytes).fill(32) })
    yield* (yield* Publisher).publishRaw(dueSubject(delivery.endpointId, 1), data, { headers })
    return delivery
  })

const theAbandoned = Effect.map(stream("ABANDONED"), (all) =>
  all.flatMap((message) => Option.toArray(readAbandoned(message)))
)

describe("a delivery that is abandoned", () => {
  it.live("is kept whole, also of the largest event with the longest entity", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), EventFilter: ["*"], MaxAttempts: 1 }] },
        Effect.gen(function* () {
          const body = eventOf(envelopeBytesMax)
          yield* (yield* Publisher).publishRaw(subjects.event(name), body)
          yield* abandoned(1)
          const [found] = yield* theAbandoned
          assert.strictEqual(found?.due.body.length, body.length)
          receiver.answer("/a", () => 204)
          assert.strictEqual(yield* redrive({ events: [], countMax: 10 }), 1)
          yield* arrived(receiver, "/a", 2)
          yield* abandoned(0)
        })
      )
    })
  )

  it.live("and is too large to be kept is kept without its body, and called for no more", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 1 }] },
        Effect.gen(function* () {
          const large = yield* plant(900_000)
          const named = yield* plant(envelopeBytesMax, { entity: "e".repeat(20_000) })
          yield* abandoned(2)
          const kept = yield* theAbandoned
          assert.sameMembers(
            kept.map(({ due }) => due.delivery.deliveryId),
            [large.deliveryId, named.deliveryId]
          )
          assert.isTrue(kept.every(({ due }) => due.body.length === 0))
          for (const { reason } of yield* abandonments) assert.include(String(reason), "its body is too large to store")
          assert.lengthOf(requestsTo(receiver, "/a"), 2)
          // Its event is nowhere, so there is nothing to send again.
          assert.strictEqual(yield* redrive({ events: [], countMax: 10 }), 0)
          yield* abandoned(2)
        })
      )
    })
  )

  it.live("without its body is sent again with the body of its event", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), EventFilter: ["queue.*"], MaxAttempts: 1 }] },
        Effect.gen(function* () {
          const sequence = yield* publish("work_item.merged")
          yield* plant(900_000, { sequence })
          yield* abandoned(1)
          receiver.answer("/a", () => 204)
          assert.strictEqual(yield* redrive({ events: [], countMax: 10 }), 1)
          yield* arrived(receiver, "/a", 2)
          assert.strictEqual(requestsTo(receiver, "/a")[1]?.body, JSON.stringify(exampleEnvelope("work_item.merged")))
        })
      )
    })
  )

  it.live("because its retry cannot be stored is called for no more", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), MaxAttempts: 5 }] },
        Effect.gen(function* () {
          yield* plant(1_000 * 1_024 - 400)
          yield* abandoned(1)
          assert.include(String((yield* abandonments)[0]?.["reason"]), "its retry cannot be stored")
          assert.lengthOf(requestsTo(receiver, "/a"), 1)
        })
      )
    })
  )
})
