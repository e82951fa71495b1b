import { assert, describe, it } from "@effect/vitest"
import { CloudEvent, HTTP } from "cloudevents"
import { Result } from "effect"
import type { SourceMessage } from "#bus"
import type { DeclaredTypes } from "#events"
import { readStoredEvent, storedEventBody } from "#webhooks"

const utf8 = new TextEncoder()

const stored = (data: string, headers: Readonly<Record<string, unknown>> = {}): SourceMessage => ({
  subject: "events-from.internal-services.order.placed",
  sequence: 7,
  storedAtMs: Date.UTC(2026, 4, 6),
  data: utf8.encode(data),
  header: (name) => (Object.hasOwn(headers, name) ? String(headers[name]) : undefined),
  headerNames: () => ["Nats-Stream", ...Object.keys(headers)]
})

const cloudEvent = new CloudEvent({
  id: "o-7",
  source: "/shop",
  type: "order.placed",
  subject: "7",
  data: { total: 1 }
})
const binary = HTTP.binary(cloudEvent)
const structured = HTTP.structured(cloudEvent)
const upper = Object.fromEntries(Object.entries(binary.headers).map(([name, value]) => [name.toUpperCase(), value]))

const anything: DeclaredTypes = { at: () => undefined, takesUndeclared: true }

const faultsIn = (message: SourceMessage) => {
  const read = readStoredEvent(message, anything)
  return Result.isFailure(read) ? read.failure.map(({ path }) => path) : []
}

describe("an event as stored", () => {
  it("that came as a CloudEvent is an envelope, the same bytes at every reading", () => {
    for (const message of [
      stored(String(binary.body), binary.headers),
      stored(String(binary.body), upper),
      stored(String(structured.body), structured.headers),
      stored(String(structured.body))
    ]) {
      const { event, isDeclared } = Result.getOrThrow(readStoredEvent(message, anything))
      assert.deepInclude(event, { event: "order.placed", schemaVersion: "1.0.0", entity: "subject:7", sequence: 7 })
      assert.strictEqual(event.from, "internal-services")
      assert.isFalse(isDeclared)
      assert.deepInclude(event.envelope, { details: { total: 1 }, occurredAt: cloudEvent.time ?? "" })
      assert.deepInclude(event.envelope.cloudEvent, { id: "o-7", source: "/shop", subject: "7" })
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(event.body)), event.envelope)
      assert.deepStrictEqual(Result.getOrThrow(readStoredEvent(message, anything)).event.body, event.body)
      assert.deepStrictEqual(storedEventBody(message), event.body)
    }
  })

  it("that is an envelope keeps its bytes, whatever its content type", () => {
    const text = `{ "eventSchemaVersion":"1.0.0", "event":"order.placed", "occurredAt":"2026-01-01T00:00:00Z",
      "specversion":"1.0", "details":{"total":1.0} }`
    const message = stored(`\ufeff${text}`, { "Content-Type": "application/json" })
    assert.strictEqual(new TextDecoder().decode(Result.getOrThrow(readStoredEvent(message, anything)).event.body), text)
  })

  it("is refused with the place of its faults", () => {
    assert.deepStrictEqual(faultsIn(stored(String(binary.body), { ...binary.headers, "ce-id": "" })), ["/id"])
    assert.deepStrictEqual(faultsIn(stored(String(binary.body), { ...binary.headers, "ce-type": "order.paid" })), [
      "/event"
    ])
    assert.deepStrictEqual(faultsIn(stored("[]", { "content-type": "application/cloudevents-batch+json" })), [""])
    assert.strictEqual(new TextDecoder().decode(storedEventBody(stored("{"))), "{")
  })
})
