import { assert, describe, it } from "@effect/vitest"
import { CloudEvent, HTTP } from "cloudevents"
import { Result } from "effect"
import { decodeEnvelope, entityOf, type Fault } from "#base"
import {
  type CloudEventMessage,
  cloudEventMode,
  isCloudEvent,
  readCloudEvent,
  readCloudEvents
} from "#events/cloudevents"

const bytes = (text: string) => new TextEncoder().encode(text)
const options = { receivedAtMs: Date.UTC(2026, 4, 6) }

const attributes = { specversion: "1.0", id: "7", source: "/shop", type: "order.placed" }
const structured = (event: unknown): CloudEventMessage => ({
  headers: { "content-type": "application/cloudevents+json; charset=utf-8" },
  body: bytes(typeof event === "string" ? event : JSON.stringify(event))
})
const binary = (headers: CloudEventMessage["headers"] = {}, body = '{"total":12}'): CloudEventMessage => ({
  headers: {
    "content-type": "application/json",
    ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
    ...headers
  },
  body: bytes(body)
})
const batch = (events: unknown): CloudEventMessage => ({
  headers: { "content-type": "application/cloudevents-batch+json" },
  body: bytes(JSON.stringify(events))
})

const read = (message: CloudEventMessage) => Result.getOrThrow(readCloudEvent(message, options))
const faults = (message: CloudEventMessage): ReadonlyArray<Fault> => {
  const found = readCloudEvents(message, options)
  return Result.isFailure(found) ? found.failure : []
}
const pathsOf = (message: CloudEventMessage) => faults(message).map(({ path }) => path)

describe("a CloudEvent", () => {
  it("becomes an envelope, whichever way it came", () => {
    const expected = {
      event: "order.placed",
      eventSchemaVersion: "1.0.0",
      occurredAt: "2026-05-06T00:00:00.000Z",
      workItem: null,
      project: null,
      details: { total: 12 },
      cloudEvent: { id: "7", source: "/shop" }
    }
    const whole = read(structured({ ...attributes, data: { total: 12 } }))
    assert.deepStrictEqual(whole.envelope, expected)
    assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(whole.body)), expected)
    assert.deepStrictEqual(read(binary()).envelope, {
      ...expected,
      cloudEvent: { datacontenttype: "application/json", id: "7", source: "/shop" }
    })
    assert.isTrue(Result.isSuccess(decodeEnvelope(whole.envelope)))
  })

  it("keeps its other attributes, and its time", () => {
    const more = {
      time: "2026-01-02t03:04:05.123456789+01:00",
      subject: "order 7 €",
      dataschema: "https://shop.example/order.json",
      datacontenttype: "application/vnd.shop+json; charset=utf-8",
      priority: 3,
      urgent: true,
      traceparent: "00-1-2-01"
    }
    const { envelope } = read(structured({ ...attributes, ...more, comexample: null, data: { total: 12 } }))
    const { time, ...others } = more
    assert.strictEqual(envelope.occurredAt, time.toUpperCase())
    assert.deepStrictEqual(envelope.cloudEvent, { id: "7", source: "/shop", ...others })
    assert.strictEqual(entityOf(envelope), "subject:order 7 €")
  })

  it("without data has no details", () => {
    for (const message of [structured(attributes), structured({ ...attributes, data: null }), binary({}, "")]) {
      assert.isNull(read(message).envelope.details)
    }
  })

  it("passes its data on digit for digit", () => {
    const data = '{ "total" : 12345678901234567890.10, "a" : 1e400, "text" : "\\u00e9\\ud83d" }'
    const text = `{"data":${data},"specversion":"1.0","id":"7","source":"/shop","type":"order.placed"}`
    for (const message of [structured(text), binary({}, `\ufeff ${data}\n`)]) {
      assert.include(new TextDecoder().decode(read(message).body), `"details":${data},"cloudEvent":`)
    }
  })

  it("in headers is percent-encoded, and was quoted once", () => {
    const headers = { "ce-subject": '"a \\"b\\" %E2%82%AC%20%F0%9f%98%80"', "ce-note": "100%zz é" }
    assert.deepInclude(read(binary(headers)).envelope.cloudEvent, { subject: 'a "b" € 😀', note: "100%zz é" })
    assert.deepStrictEqual(pathsOf(binary({ "ce-subject": "%C0%A0" })), ["/subject"])
  })

  it("has the address that was meant, whether its percent signs were encoded for the header or not", () => {
    for (const sent of ["/a%20b?c=%25", "/a%2520b?c=%2525"]) {
      assert.strictEqual(read(binary({ "ce-source": sent })).envelope.cloudEvent?.source, "/a%20b?c=%25")
    }
  })

  it("of NATS names its content type among its attributes", () => {
    const { "content-type": _, ...headers } = binary().headers
    const message = { ...binary(), headers: { ...headers, "ce-datacontenttype": "application/json" } }
    assert.strictEqual(read(message).envelope.cloudEvent?.["datacontenttype"], "application/json")
  })

  it.each<[string, CloudEventMessage, ReadonlyArray<string>]>([
    ["nothing of what is needed", structured({}), ["/specversion", "/id", "/source", "/type"]],
    ["another version", structured({ ...attributes, specversion: "0.3" }), ["/specversion"]],
    ["no id, and a source that is none", structured({ ...attributes, id: "", source: "a b" }), ["/id", "/source"]],
    ["a broken percent sign in its source", structured({ ...attributes, source: "/a%2" }), ["/source"]],
    ["a type that is no name", structured({ ...attributes, type: "com.Example" }), ["/type"]],
    ["a type of 101 characters", structured({ ...attributes, type: "a".repeat(101) }), ["/type"]],
    ["a time that is none", structured({ ...attributes, time: "2026-02-30T00:00:00Z" }), ["/time"]],
    ["a time without its offset", binary({ "ce-time": "2026-02-20T00:00:00" }), ["/time"]],
    ["a relative dataschema", structured({ ...attributes, dataschema: "/a" }), ["/dataschema"]],
    ["an empty subject", structured({ ...attributes, subject: "" }), ["/subject"]],
    ["data that is a text", structured({ ...attributes, data: "a" }), ["/data"]],
    ["data that is a list", binary({}, "[1]"), ["/data"]],
    ["data that is no JSON", binary({}, "<a/>"), ["/data"]],
    ["data that is XML", binary({ "content-type": "application/xml" }), ["/datacontenttype"]],
    ["data in base64", structured({ ...attributes, data_base64: "YQ==" }), ["/data_base64"]],
    ["data in a header", binary({ "ce-data": "1" }), ["/data"]],
    [
      "names outside of the alphabet",
      structured({ ...attributes, "my-name": "a", Upper: "b" }),
      ["/my-name", "/Upper"]
    ],
    ["an attribute that is an object", structured({ ...attributes, tenant: {} }), ["/tenant"]],
    ["numbers beyond 32 bits, or broken", structured({ ...attributes, a: 2 ** 31, b: 0.5 }), ["/a", "/b"]],
    ["a control character", structured({ ...attributes, subject: "a\nb" }), ["/subject"]],
    ["half a character", structured({ ...attributes, subject: "a\ud83d" }), ["/subject"]],
    ["attributes that fill a receiver's headers", structured({ ...attributes, note: "a".repeat(4_096) }), [""]],
    ["a key twice", structured('{"specversion":"1.0","id":"1","id":"2"}'), ["/id"]],
    ["a key twice in its data", binary({}, '{"a":1,"a":2}'), ["/data/a"]],
    ["no object", structured([attributes]), [""]],
    ["bytes that are no UTF-8", { ...structured({}), body: new Uint8Array([0xff]) }, [""]]
  ])("with %s is refused", (_, message, paths) => {
    assert.deepStrictEqual(pathsOf(message), paths)
  })

  it("is known by its headers, and without any by its members", () => {
    assert.deepStrictEqual(
      [structured({}), binary(), batch([]), { headers: { "content-type": "application/json" } }].map(({ headers }) =>
        cloudEventMode(headers)
      ),
      ["structured", "binary", "batch", undefined]
    )
    assert.strictEqual(cloudEventMode({ "ce-id": "1" }), "binary")
    assert.isTrue(isCloudEvent(attributes))
    assert.isFalse(isCloudEvent({ event: "order.placed", eventSchemaVersion: "1.0.0", specversion: "a field" }))
    assert.deepStrictEqual(read({ ...structured(attributes), headers: {} }), read(structured(attributes)))
  })
})

describe("a batch", () => {
  it("is read in order", () => {
    const ids = Array.from({ length: 100 }, (_, index) => String(index + 1))
    const events = Result.getOrThrow(
      readCloudEvents(batch(ids.map((id) => ({ ...attributes, id, data: {} }))), options)
    )
    assert.deepStrictEqual(
      events.map(({ envelope }) => envelope.cloudEvent?.["id"]),
      ids
    )
  })

  it("is refused as a whole, with the faults of all its events", () => {
    const { id: _, ...noId } = attributes
    assert.deepStrictEqual(pathsOf(batch([attributes, noId, 7, { ...attributes, data: 1 }])), [
      "/1/id",
      "/2",
      "/3/data"
    ])
    assert.deepStrictEqual(pathsOf(batch(attributes)), [""])
    assert.deepStrictEqual(pathsOf(batch(Array.from({ length: 101 }, () => attributes))), [""])
    assert.isTrue(Result.isFailure(readCloudEvent(batch([attributes]), options)))
  })
})

describe("what the JavaScript SDK emits", () => {
  const event = new CloudEvent({
    id: "7",
    source: "https://shop.example/orders?a=b",
    type: "order.placed",
    subject: "order-7",
    time: "2026-01-02T03:04:05.678Z",
    tenant: "north",
    data: { total: 12, lines: [{ sku: "é" }] }
  })
  const messageOf = ({ headers, body }: ReturnType<typeof HTTP.binary>): CloudEventMessage => ({
    headers: headers as Record<string, string>,
    body: bytes(String(body))
  })

  it("is read, binary, structured and as a batch", () => {
    const expected = { id: "7", source: event.source, subject: "order-7", tenant: "north" }
    const all = [messageOf(HTTP.binary(event)), messageOf(HTTP.structured(event)), batch([event])].flatMap((message) =>
      Result.getOrThrow(readCloudEvents(message, options))
    )
    assert.lengthOf(all, 3)
    for (const { envelope } of all) {
      const { datacontenttype: _, ...cloudEvent } = envelope.cloudEvent ?? { id: "", source: "" }
      assert.deepStrictEqual(cloudEvent, expected)
      assert.strictEqual(envelope.occurredAt, "2026-01-02T03:04:05.678Z")
      assert.deepStrictEqual(envelope.details, event.data as Record<string, unknown>)
    }
  })
})
