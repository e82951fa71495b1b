import { assert, describe, it } from "@effect/vitest"
import { type CloudEventV1, HTTP } from "cloudevents"
import { Result } from "effect"
import { exampleEnvelope } from "#base"
import {
  binaryCloudEvent,
  type EventToSend,
  readCloudEvent,
  type SentCloudEvent,
  structuredCloudEvent
} from "#events/cloudevents"

const utf8 = new TextEncoder()
const textOf = ({ body }: { readonly body: Uint8Array }) => new TextDecoder().decode(body)
const bytes = (value: unknown) => utf8.encode(typeof value === "string" ? value : JSON.stringify(value))

const envelope = exampleEnvelope("queue.paused") as { readonly occurredAt: string }
const own: EventToSend = {
  type: "queue.paused",
  body: bytes(envelope),
  id: "42",
  source: "/starling",
  subject: "agent:claude é",
  sequence: 42
}
const data = '{ "total" : 12345678901234567890.10 }'
const foreign: EventToSend = {
  ...own,
  type: "order.placed",
  body: bytes(
    `{"event":"order.placed","eventSchemaVersion":"1.0.0","occurredAt":"2026-01-02T03:04:05Z","workItem":null,` +
      `"project":null,"details":${data},"cloudEvent":{"id":"o-7","source":"/shop","subject":"a \\"b\\" €","priority":3}}`
  )
}

const parsed = (sent: SentCloudEvent) =>
  HTTP.toEvent({ headers: { ...sent.headers }, body: textOf(sent) }) as CloudEventV1<unknown>
const structured = (event: EventToSend) => JSON.parse(textOf(structuredCloudEvent(event))) as Record<string, unknown>
/** The attributes as its headers have them. */
const attributesOf = ({ headers }: SentCloudEvent) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith("ce-") ? [[name.slice(3), value]] : []))
  )

describe("an event of ours as a CloudEvent", () => {
  const attributes = {
    specversion: "1.0",
    id: "42",
    source: "/starling",
    type: "queue.paused",
    time: envelope.occurredAt,
    subject: "agent:claude é",
    datacontenttype: "application/json",
    sequence: "0000000000000042"
  }

  it("has the whole envelope as its data", () => {
    assert.deepStrictEqual(structured(own), { ...attributes, data: envelope })
    const sent = binaryCloudEvent(own)
    const { datacontenttype, ...others } = attributes
    assert.deepStrictEqual(attributesOf(sent), { ...others, subject: "agent:claude%20%C3%A9" })
    assert.strictEqual(sent.headers["Content-Type"], datacontenttype)
    assert.deepStrictEqual(sent.body, own.body)
  })

  it("is parsed by the JavaScript SDK", () => {
    for (const sent of [structuredCloudEvent(own), binaryCloudEvent({ ...own, subject: "agent:claude" })]) {
      const event = parsed(sent)
      assert.deepInclude(event, { id: "42", source: "/starling", type: "queue.paused", data: envelope })
      assert.deepInclude(event, { sequence: "0000000000000042", datacontenttype: "application/json" })
      assert.strictEqual(Date.parse(event.time ?? ""), Date.parse(envelope.occurredAt))
    }
  })

  it("without an entity, or with one of characters that no attribute holds, has no subject", () => {
    for (const subject of [undefined, "agent:\u0000", "agent:\ud800"]) {
      assert.notProperty(structured({ ...own, subject }), "subject")
    }
  })

  it("carries the trace that it was published in", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert.strictEqual(structured({ ...own, traceparent })["traceparent"], traceparent)
  })
})

describe("an event that came as a CloudEvent", () => {
  it("leaves with its own attributes and data, digit for digit", () => {
    const sent = structuredCloudEvent(foreign)
    const { data: _, ...attributes } = JSON.parse(textOf(sent)) as Record<string, unknown>
    assert.deepStrictEqual(attributes, {
      specversion: "1.0",
      id: "o-7",
      source: "/shop",
      type: "order.placed",
      time: "2026-01-02T03:04:05Z",
      subject: 'a "b" €',
      datacontenttype: "application/json",
      priority: 3,
      sequence: "0000000000000042"
    })
    assert.include(textOf(sent), `"data":${data}}`)
    const binary = binaryCloudEvent(foreign)
    assert.strictEqual(textOf(binary), data)
    assert.deepInclude(attributesOf(binary), { id: "o-7", subject: "a%20%22b%22%20%E2%82%AC", priority: "3" })
  })

  it("keeps its own sequence, content type and lack of data", () => {
    const body = bytes({
      ...envelope,
      details: null,
      cloudEvent: { id: "1", source: "/a", sequence: "b", datacontenttype: "application/vnd.a+json" }
    })
    assert.deepInclude(structured({ ...own, body }), { sequence: "b", datacontenttype: "application/vnd.a+json" })
    assert.notProperty(structured({ ...own, body }), "data")
    const sent = binaryCloudEvent({ ...own, body })
    assert.deepInclude(sent, { body: new Uint8Array(0) })
    assert.strictEqual(sent.headers["Content-Type"], "application/vnd.a+json")
  })

  it("is the same again after it was read", () => {
    for (const sent of [structuredCloudEvent(foreign), binaryCloudEvent(foreign)]) {
      const headers = Object.fromEntries(
        Object.entries(sent.headers).map(([name, value]) => [name.toLowerCase(), value])
      )
      const read = Result.getOrThrow(readCloudEvent({ headers, body: sent.body }, { receivedAtMs: 0 }))
      assert.deepStrictEqual(structured({ ...foreign, body: read.body }), {
        ...structured(foreign),
        // Headers hold text alone.
        ...(sent.headers["ce-priority"] === undefined ? {} : { priority: "3" })
      })
    }
  })

  it.each([
    ["no object", "7"],
    ["null", "null"],
    ["a list", "[1]"],
    ["no id", '{"source":"/a"}'],
    ["a line break in a name", '{"id":"1","source":"/a","x\\r\\ny":"z"}'],
    ["a line break in a value", '{"id":"1","source":"/a","x":"y\\r\\nz"}'],
    ["a content type that no header holds", '{"id":"1","source":"/a","datacontenttype":"application/json; a=é"}'],
    ["more than fits into headers", `{"id":"1","source":"/a","x":"${"y".repeat(5_000)}"}`]
  ])("is told from an envelope whose field is %s", (_, field) => {
    const body = bytes(`${JSON.stringify(envelope).slice(0, -1)},"cloudEvent":${field}}`)
    assert.deepInclude(structured({ ...own, body }), { id: "42", source: "/starling" })
    assert.deepStrictEqual(binaryCloudEvent({ ...own, body }).body, body)
  })
})
