import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Result } from "effect"
import { header, jsonCodec, type MessageCodec, Publisher, Requests, StreamReader } from "#bus"
import { AskedDelivery, AskedDeliveryAnswer, endpointIdOf } from "#webhooks/contract"
import { subjects } from "#base"
import { askForDelivery, dueDeliveryCodec, dueSubject } from "#webhooks"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, requestsTo, sequencesTo, setUp } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()
const raw: MessageCodec<{ readonly text: string; readonly headers: ReadonlyArray<readonly [string, string]> }> = {
  encode: ({ text, headers }) => ({ data: utf8.encode(text), headers }),
  decode: () => Result.fail([])
}

/** Asks with whatever bytes and headers; the refusal. */
const refusal = (text: string, headers: ReadonlyArray<readonly [string, string]> = []) =>
  Effect.gen(function* () {
    const { ask } = yield* Requests
    const about = { subject: subjects.deliveriesAsked, question: raw, answer: jsonCodec(AskedDeliveryAnswer) }
    return (yield* Effect.flip(ask({ ...about, timeoutMs: 10_000 }, { text, headers }))).message
  })

const due = Effect.flatMap(StreamReader, ({ countBySubject }) =>
  countBySubject("DELIVERIES", subjects.deliveries(0).dueAll)
)

describe("a dispatcher that is asked for deliveries", () => {
  it.live("takes neither an attempt nor a time nor a body from who asks, and its endpoint continues", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 2 }] },
        Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          for (const body of ['{"x":1}', "", "x".repeat(900_000)]) {
            const delivery = {
              deliveryId: randomUUID(),
              endpointId: endpointIdOf("a"),
              event: "work_item.merged",
              schemaVersion: "1.0.0",
              sequence: 1,
              attempt: 2,
              storedAt: nowMs,
              dueAt: nowMs + 3e11
            }
            const headers = [
              ["Starling-Delivery", JSON.stringify(delivery)] as const,
              [header.schedule, "@at 2020-01-01T00:00:00Z"] as const,
              [header.scheduleTarget, subjects.deliveries(0).cursor] as const
            ]
            assert.notInclude(yield* refusal(body, headers), "no answer")
          }
          const asked = { _tag: "Test", endpointId: endpointIdOf("a"), event: "queue.paused", attempt: 2, dueAt: 9e12 }
          const { ask } = yield* Requests
          const about = { subject: subjects.deliveriesAsked, question: raw, answer: jsonCodec(AskedDeliveryAnswer) }
          const answer = yield* ask({ ...about, timeoutMs: 10_000 }, { text: JSON.stringify(asked), headers: [] })
          assert.strictEqual(answer._tag, "Stored")
          yield* arrived(receiver, "/a", 1)
          const innocent = yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 2)
          assert.deepStrictEqual(sequencesTo(receiver, "/a"), [0, innocent])
        })
      )
    })
  )

  it.live("refuses by name what it cannot make, and stores nothing for endpoints that nobody has", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a") }] },
        Effect.gen(function* () {
          const endpointId = endpointIdOf("a")
          const nobody = endpointIdOf("nobody")
          const sequence = yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 1)
          for (const id of [">", "*", "a.b", "", "NaN", "A".repeat(13), "a".repeat(64)]) {
            assert.include(
              yield* refusal(JSON.stringify({ _tag: "Test", endpointId: id, event: "queue.paused" })),
              "/endpointId"
            )
          }
          const ids = { deliveryId: randomUUID(), of: randomUUID() }
          const answers = [
            ["UnknownEndpoint", { _tag: "Test", endpointId: nobody, event: "queue.paused" }],
            ["UnknownEvent", { _tag: "Test", endpointId, event: "nothing.known" }],
            ["UnknownEndpoint", { _tag: "Resend", endpointId: nobody, sequence, ...ids }],
            ["NotKept", { _tag: "Resend", endpointId, sequence: 99_999, ...ids }],
            ["NotKept", { _tag: "Resend", endpointId, sequence: 0, ...ids }],
            ["NotKept", { _tag: "Redrive", sequence: 7 }]
          ] as const
          for (const [tag, asked] of answers) {
            assert.strictEqual((yield* askForDelivery(AskedDelivery.make(asked)))._tag, tag, JSON.stringify(asked))
          }
          assert.deepStrictEqual(yield* due, {})
          assert.lengthOf(requestsTo(receiver, "/a"), 1)
        })
      )
    })
  )

  it.live("sends an event again as a first attempt that is due now, once for one id", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a") }] },
        Effect.gen(function* () {
          const sequence = yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 1)
          const of = randomUUID()
          const asked = AskedDelivery.make({
            _tag: "Resend",
            endpointId: endpointIdOf("a"),
            sequence,
            deliveryId: randomUUID(),
            of
          })
          yield* askForDelivery(asked)
          yield* askForDelivery(asked)
          yield* arrived(receiver, "/a", 2)
          yield* publish("work_item.done")
          yield* arrived(receiver, "/a", 3)
          const [first, again, other] = requestsTo(receiver, "/a")
          assert.strictEqual(again?.headers["x-service-redrive-of"], of)
          assert.strictEqual(again?.body, first?.body)
          assert.strictEqual(other?.headers["x-service-event"], "work_item.done")
        })
      )
    })
  )
})

describe("a delivery with a time that no retry of its endpoint has", () => {
  it.live("is made at once, and holds up nothing", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 1 }] },
        Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          const endpointId = endpointIdOf("a")
          const delivery = {
            deliveryId: randomUUID(),
            endpointId,
            event: "work_item.merged",
            schemaVersion: "1.0.0",
            sequence: 1,
            attempt: 2,
            storedAt: nowMs,
            dueAt: nowMs + 3e11
          }
          const { data, headers } = dueDeliveryCodec.encode({ delivery, body: utf8.encode("{}") })
          yield* (yield* Publisher).publishRaw(dueSubject(endpointId, 1), data, { headers })
          yield* arrived(receiver, "/a", 1)
          yield* publish("work_item.done")
          yield* arrived(receiver, "/a", 2)
        })
      )
    })
  )
})
