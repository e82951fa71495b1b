/** Spans in the JSON form of OTLP/HTTP (opentelemetry-proto 1.x, `ExportTraceServiceRequest`). Pure. */
import { Cause, Exit, type Tracer } from "effect"

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

/** An ended span, or undefined while it runs. */
export const otlpSpan = (span: Tracer.NativeSpan): Record<string, unknown> | undefined => {
  if (span.status._tag !== "Ended") return undefined
  const { startTime, endTime, exit } = span.status
  const parent = span.parent._tag === "Some" ? { parentSpanId: span.parent.value.spanId } : {}
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...parent,
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: String(startTime),
    endTimeUnixNano: String(endTime),
    attributes: attributes(span.attributes),
    events: span.events.map(([name, time, given]) => ({
      name,
      timeUnixNano: String(time),
      attributes: attributes(new Map(Object.entries(given)))
    })),
    status: Exit.isSuccess(exit) ? { code: 1 } : { code: 2, message: Cause.pretty(exit.cause).slice(0, 1_000) }
  }
}

export const otlpRequest = (service: string, spans: ReadonlyArray<Record<string, unknown>>) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(new Map([["service.name", service]])) },
      scopeSpans: [{ scope: { name: "starling" }, spans }]
    }
  ]
})

const attributes = (given: ReadonlyMap<string, unknown>) =>
  [...given].map(([key, value]) => ({ key, value: attributeValue(value) }))

const attributeValue = (value: unknown) => {
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { stringValue: typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)) }
}
