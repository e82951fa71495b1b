import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { envelopeBytesMax, Publisher } from "#bus"
import { endpointIdOf } from "#webhooks/contract"
import { exampleEnvelope, subjects } from "#base"
import { beginCursor, dueSubject, fanOutRecordCodec } from "#webhooks"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, requestsTo, sequencesTo, setUp, stream } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()
const name = "zz.other"
const long = "e".repeat(70_000)

const whole = (details: Record<string, unknown>, changes: Record<string, unknown> = {}) =>
  JSON.stringify({
    ...exampleEnvelope("queue.paused"),
    event: name,
    workItem: null,
    project: null,
    details,
    ...changes
  })

/** Filled to the last byte that EVENTS takes beside the broker's own count of subject and headers. */
const largest = (field: string) => {
  const bare = whole({ [field]: long, fill: "" })
  return whole({ [field]: long, fill: "x".repeat(envelopeBytesMax - 100 - bare.length) })
}

const hostileCharacters = ["\r\nNats-Rollup: all\r\n\r\n", "\u0000", "\u2028", "\ud800", "\u0085", '"\\', "😀"]
const fields = ["workItemId", "projectId", "agent", "agentKind", "other"]
const faultyKeys = Array.from({ length: 60 }, (_, index) => `"${String(index).padEnd(1_500, "\u007f")}"`)

const delivered: ReadonlyArray<readonly [string, string]> = [
  ...fields.map((field) => [`details.${field} of 70,000 characters`, whole({ [field]: long })] as const),
  ...fields.map(
    (field) =>
      [
        `details.${field} of characters that headers do not take`,
        whole({ [field]: hostileCharacters.join("") })
      ] as const
  ),
  ...fields.map((field) => [`the largest event with a long details.${field}`, largest(field)] as const),
  ["a long work item among details that need six bytes each", whole({ workItemId: "\u0001".repeat(30_000) })]
]

const rejected: ReadonlyArray<readonly [string, string]> = [
  ["a version of 70,000 digits", whole({}, { eventSchemaVersion: `1.${"1".repeat(70_000)}.0` })],
  ["a time of 70,000 digits", whole({}, { occurredAt: `2026-01-01T00:00:00.${"1".repeat(70_000)}Z` })],
  ["a work item with an id of 70,000 characters", whole({}, { workItem: { id: long } })],
  ["sixty long keys that are given twice", `{${faultyKeys.map((key) => `${key}:1,${key}:2`).join(",")}}`],
  ["a text that is no JSON", "\u0001".repeat(100_000)]
]

const publishText = (text: string) =>
  Effect.flatMap(Publisher, ({ publishRaw }) => publishRaw(subjects.event(name), utf8.encode(text)))

describe("hostile events", () => {
  it.live("are delivered or archived one by one, and the event behind each arrives", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: "a", Url: receiver.url("/a"), EventFilter: ["*"] }]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          let got = 0
          for (const [what, text] of delivered) {
            yield* publishText(text)
            yield* publish("work_item.merged")
            got += 2
            yield* arrived(receiver, "/a", got)
            assert.isTrue(
              requestsTo(receiver, "/a").some(({ body }) => body === text),
              what
            )
          }
          for (const [what, text] of rejected) {
            yield* publishText(text)
            const innocent = yield* publish("work_item.merged")
            got += 1
            yield* arrived(receiver, "/a", got)
            assert.strictEqual(sequencesTo(receiver, "/a").at(-1), innocent, what)
          }
          assert.lengthOf(yield* stream("REJECTED"), rejected.length)
          assert.strictEqual(yield* metric("bus_rejected_total", 'origin="events"'), rejected.length)
          assert.strictEqual(new Set(sequencesTo(receiver, "/a")).size, requestsTo(receiver, "/a").length)
        })
      )
    })
  )

  it.live("are delivered in one run with many others, to many endpoints", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const names = Array.from({ length: 40 }, (_, index) => `e${index}`)
      const endpoints = names.map((Name) => ({ Name, Url: receiver.url(`/${Name}`), EventFilter: ["*"] }))
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          const texts = [...delivered, ...rejected].map(([, text]) => text)
          yield* Effect.forEach(texts, publishText, { concurrency: 8, discard: true })
          const innocent = yield* publish("work_item.merged")
          for (const one of names) {
            yield* arrived(receiver, `/${one}`, delivered.length + 1)
            const sequences = sequencesTo(receiver, `/${one}`)
            assert.strictEqual(new Set(sequences).size, delivered.length + 1)
            assert.include(sequences, innocent)
          }
          yield* eventually(stream("REJECTED"), { is: (all) => all.length === rejected.length })
        })
      )
    })
  )

  it.live("that stopped the fan-out of a release before are archived when this one starts", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* Effect.provide(leftBehind, Layer.fresh(busOn(server)))
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), EventFilter: ["*"] }] },
        Effect.gen(function* () {
          const innocent = yield* publish("work_item.merged")
          yield* arrived(receiver, "/a", 1)
          assert.deepStrictEqual(sequencesTo(receiver, "/a"), [innocent])
          const [message] = yield* stream("REJECTED")
          const put = JSON.parse(new TextDecoder().decode(message?.data)) as Record<string, unknown>
          assert.deepInclude(put, { origin: "events", subject: subjects.event(name), sequence: 1 })
          assert.deepStrictEqual(put["faults"], [
            { path: "", message: "the broker refused its deliveries: header size exceeds maximum allowed of 64k" }
          ])
        })
      )
    })
  )
})

/** A cursor that lists a delivery which the broker refused, as a relay that could not publish it left it. */
const leftBehind = Effect.gen(function* () {
  const { publishRaw } = yield* Publisher
  const body = whole({ workItemId: long })
  const { sequence } = yield* publishText(body)
  const id = endpointIdOf("a")
  const delivery = JSON.stringify({
    deliveryId: randomUUID(),
    endpointId: id,
    event: name,
    schemaVersion: "1.3.0",
    sequence,
    attempt: 1,
    storedAt: 0,
    dueAt: 0,
    entity: `workItem:${long}`
  })
  const pending = {
    subject: dueSubject(id, 1),
    headers: [["Starling-Delivery", delivery] as const],
    dataBase64: Buffer.from(body).toString("base64")
  }
  const { data } = fanOutRecordCodec.encode({ cursor: beginCursor(sequence), pending: [pending] })
  yield* publishRaw(subjects.deliveries(0).cursor, data)
})
