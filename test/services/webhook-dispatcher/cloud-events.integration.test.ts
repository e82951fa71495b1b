import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { verify } from "@octokit/webhooks-methods"
import { CloudEvent, type CloudEventV1, HTTP } from "cloudevents"
import { Effect, Layer, Option } from "effect"
import { Publisher } from "#bus"
import { AskedDelivery, endpointIdOf } from "#webhooks/contract"
import { exampleEnvelope, subjects } from "#base"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { askForDelivery, sendTest } from "#webhooks"
import { bodyOf } from "../../../services/console/http/deliveries.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import type { ReceivedRequest } from "../../support/receiver.ts"
import { arrived, publish, requestsTo, setUp } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
const secret = "a-secret-of-the-receiver"
const formats = ["starling", "cloudevents-structured", "cloudevents-binary"] as const

const order = new CloudEvent({
  id: "o-7",
  source: "https://shop.example/orders",
  type: "order.placed",
  subject: "7",
  time: "2026-01-02T03:04:05.678Z",
  tenant: "north",
  data: { total: 12, lines: ["é"] }
})
const events = {
  Types: [
    { Name: "order.placed", Owners: ["internal-services"], SchemaVersion: "1.2.0", Schema: { required: ["total"] } }
  ]
}
const shownBy = Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events))).pipe(
  Layer.provideMerge(Configuration.layerOf({ Events: events }))
)
const binary = HTTP.binary(order)
const structured = HTTP.structured(order)

/** Publishes as `internal-services`, whose events the broker keeps under its name. */
const publishMessage = ({ body, headers }: { readonly body: unknown; readonly headers: object }) =>
  Effect.gen(function* () {
    const subject = subjects.eventFrom("internal-services", "order.placed")
    const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
    const stored = yield* (yield* Publisher).publishRaw(subject, utf8.encode(String(body)), { headers: pairs })
    return stored.sequence
  })

const parsed = ({ headers, body }: ReceivedRequest) => HTTP.toEvent({ headers, body }) as CloudEventV1<unknown>

describe("a receiver of CloudEvents", () => {
  it.live("gets every event in its endpoint's format, signed as sent, and the same bytes at a retry", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      for (const path of formats) receiver.answer(`/${path}`, (nth) => (nth === 1 ? 503 : 200))
      const endpoints = formats.map((Format) => ({
        Name: Format,
        Url: receiver.url(`/${Format}`),
        EventFilter: ["*"],
        Format,
        SecretEnvVar: "SECRET",
        InitialBackoffSeconds: 0.05,
        Headers: { "Ce-Id": "the receiver's own", "X-Own": "1" }
      }))
      yield* whileDispatching(
        server,
        { endpoints, events, environment: { SECRET: secret } },
        Effect.gen(function* () {
          const { sequence } = yield* (yield* Publisher).publishRaw(
            subjects.event("queue.paused"),
            utf8.encode(JSON.stringify(exampleEnvelope("queue.paused"))),
            { headers: [["traceparent", traceparent]] }
          )
          for (const path of formats) yield* arrived(receiver, `/${path}`, 2)
          for (const message of [binary, structured, { ...structured, headers: {} }]) yield* publishMessage(message)
          for (const path of formats) {
            yield* arrived(receiver, `/${path}`, 5)
            const requests = requestsTo(receiver, `/${path}`)
            assert.strictEqual(requests[0]?.body, requests[1]?.body)
            for (const { headers, body } of requests) {
              const signature = String(headers["x-service-signature"])
              assert.isTrue(yield* Effect.promise(() => verify(secret, body, signature)), path)
              assert.strictEqual(headers["x-own"], "1")
            }
          }
          for (const format of formats) {
            for (const { headers, body } of requestsTo(receiver, `/${format}`).slice(1)) {
              const attempt = {
                deliveryId: String(headers["x-service-delivery"]),
                sequence: Number(headers["x-service-sequence"]),
                format
              }
              const shown = yield* Effect.provide(bodyOf(attempt), shownBy)
              assert.strictEqual(new TextDecoder().decode(Option.getOrThrow(shown)), body, "as the console shows it")
            }
          }
          const [, plain, ...orders] = requestsTo(receiver, "/starling")
          assert.deepStrictEqual(JSON.parse(plain?.body ?? ""), exampleEnvelope("queue.paused"))
          assert.strictEqual(plain?.headers["content-type"], "application/json; charset=utf-8")
          for (const { body } of orders) {
            const { cloudEvent, ...envelope } = JSON.parse(body) as { readonly cloudEvent: object }
            assert.deepStrictEqual(envelope, {
              event: "order.placed",
              eventSchemaVersion: "1.2.0",
              occurredAt: order.time,
              workItem: null,
              project: null,
              details: order.data
            })
            assert.deepInclude(cloudEvent, { id: "o-7", source: order.source, subject: "7", tenant: "north" })
          }
          for (const path of formats.slice(1)) {
            const [, own, ...others] = requestsTo(receiver, `/${path}`).map(parsed)
            assert.deepInclude(own, { id: String(sequence), source: "/starling", type: "queue.paused" })
            assert.deepStrictEqual(own?.data, exampleEnvelope("queue.paused"))
            assert.strictEqual(own?.["traceparent"], traceparent)
            assert.lengthOf(others, 3)
            for (const event of others) {
              const { id, source, type, subject, time, tenant, data } = order
              assert.deepInclude({ ...event } as object, { id, source, type, subject, time, tenant, data })
            }
          }
        })
      )
    })
  )

  it.live("knows a resend by its id, and gets each test as an event of its own", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = formats.slice(1).map((Format) => ({
        Name: Format,
        Url: receiver.url(`/${Format}`),
        EventFilter: ["*"],
        Format
      }))
      yield* whileDispatching(
        server,
        { endpoints, events },
        Effect.gen(function* () {
          const sequences = [yield* publish("queue.paused"), yield* publishMessage(binary)]
          for (const { Name } of endpoints) {
            const path = `/${Name}`
            yield* arrived(receiver, path, 2)
            for (const sequence of sequences) {
              const of = randomUUID()
              const asked = { endpointId: endpointIdOf(Name), deliveryId: randomUUID(), of, sequence }
              yield* askForDelivery(AskedDelivery.make({ _tag: "Resend", ...asked }))
            }
            yield* arrived(receiver, path, 4)
            const [first, ...others] = requestsTo(receiver, path).map(({ body }) => body)
            assert.sameMembers(others.slice(1), [first, others[0]])
            yield* sendTest(endpointIdOf(Name), "queue.paused")
            yield* sendTest(endpointIdOf(Name), "queue.paused")
            yield* arrived(receiver, path, 6)
            const tests = requestsTo(receiver, path).slice(4)
            assert.deepStrictEqual(
              tests.map((request) => parsed(request).id),
              tests.map(({ headers }) => headers["x-service-delivery"])
            )
          }
        })
      )
    })
  )
})
