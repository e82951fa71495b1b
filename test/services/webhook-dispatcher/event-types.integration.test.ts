import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Publisher } from "#bus"
import { Rejection, subjects } from "#base"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, setUp, stream } from "../../support/webhooks.ts"

const types = [
  {
    Name: "order.created",
    Owners: ["internal-services"],
    Schema: { type: "object", required: ["id"], properties: { id: { type: "string" } } }
  },
  { Name: "order.viewed", Owners: ["internal-services"], OptIn: true },
  { Name: "order.lost", Owners: ["internal-services"], Retired: true },
  { Name: "order.paid", Owners: ["token:shop"] }
]

const publishAs = Effect.fnUntraced(function* (user: string, event: string, details: unknown) {
  const envelope = { event, eventSchemaVersion: "1.0.0", occurredAt: "2026-05-01T12:00:00Z", details }
  const body = new TextEncoder().encode(JSON.stringify(envelope))
  return yield* (yield* Publisher).publishRaw(subjects.eventFrom(user, event), body)
})

const decodeRejection = Schema.decodeUnknownSync(Schema.fromJsonString(Rejection))

const rejections = Effect.map(stream("REJECTED"), (all) =>
  all
    .map(({ data }) => decodeRejection(new TextDecoder().decode(data)))
    .map(({ subject, faults }) => [subject, ...faults.map(({ path }) => path)])
)

describe("event types of a deployment", () => {
  it.live("are delivered as declared; what is not is put into REJECTED, with its faults", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [
        { Name: "usual", Url: receiver.url("/usual") },
        { Name: "all", Url: receiver.url("/all"), EventFilter: ["*"] }
      ]
      yield* whileDispatching(
        server,
        { endpoints, events: { Types: types } },
        Effect.gen(function* () {
          yield* publishAs("internal-services", "order.created", { id: "A-1" })
          yield* publishAs("internal-services", "order.viewed", null)
          yield* publishAs("token=3ashop", "order.paid", { id: "A-1" })
          yield* publishAs("internal-services", "order.created", { id: 1 })
          yield* publishAs("internal-services", "order.paid", null)
          yield* publishAs("internal-services", "order.lost", null)
          yield* publishAs("internal-services", "order.craeted", { id: "A-1" })
          yield* publish("work_item.merged")
          yield* arrived(receiver, "/usual", 3)
          yield* arrived(receiver, "/all", 4)
          const received = (path: string) =>
            receiver.requests
              .filter((request) => request.path === path)
              .map(({ headers }) => headers["x-service-event"])
              .toSorted()
          assert.deepStrictEqual(received("/usual"), ["order.created", "order.paid", "work_item.merged"])
          assert.deepStrictEqual(received("/all"), ["order.created", "order.paid", "order.viewed", "work_item.merged"])

          const rejected = yield* eventually(rejections, { is: (all) => all.length >= 4 })
          assert.sameDeepMembers(rejected, [
            ["events-from.internal-services.order.created", "/details/id"],
            ["events-from.internal-services.order.paid", "/event"],
            ["events-from.internal-services.order.lost", "/event"],
            ["events-from.internal-services.order.craeted", "/event"]
          ])
          const counted = yield* metric(
            "webhook_events_received_total",
            'event="order.created"',
            'publisher="internal-services"'
          )
          assert.strictEqual(counted, 1)
        })
      )
    })
  )
})
