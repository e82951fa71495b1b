/**
 * Traces, when a collector is configured: sampled spans go to a bounded buffer and from there in batches to the
 * collector. A slow or unavailable collector costs dropped spans, which are counted, and nothing else.
 *
 * Without `effect/observability` (4.1.0): its exporter begins a request for every thousand spans, however many are in
 * flight, so a slow collector costs unbounded memory. After a failure it drops the spans of a minute and counts none of
 * them. It encodes each span where the span ends, on the request's path, with full stack traces.
 */
import { Cause, Context, Effect, Exit, Layer, Option, Queue, Schedule, Schema, Tracer } from "effect"
import { defineCounter, Metrics } from "./Metrics.ts"
import { Role } from "./host.ts"

/** The collector rejected a request. */
export class OtlpRefused extends Schema.TaggedError<OtlpRefused>()("OtlpRefused", { reason: Schema.String }) {}

/** How traces leave the process; the egress provides it. */
export class OtlpTransport extends Context.Service<
  OtlpTransport,
  {
    /** POSTs a JSON body to a path below the collector's base URL. */
    readonly send: (path: string, body: string) => Effect.Effect<void, OtlpRefused>
  }
>()("starling/runtime/OtlpTransport") {}

const tracedSpans = defineCounter({
  name: "tracing_spans_total",
  help: "Sampled spans by outcome: sent, or dropped because the collector did not keep up.",
  labels: ["outcome"],
  values: { outcome: ["sent", "dropped"] }
})
export const tracingMetrics = [tracedSpans]

const bufferSpans = 2_048
const batchSpans = 512
const sendEvery = "5 seconds"

export const Tracing = {
  /** `sampleRatio`: the share of traces started here that are kept, 0 to 1. A caller's decision takes precedence. */
  layer: (sampleRatio: number) =>
    Layer.effect(
      Tracer.Tracer,
      Effect.gen(function* () {
        const transport = yield* OtlpTransport
        const role = yield* Role
        const spans = (yield* Metrics).counter(tracedSpans)
        const buffer = yield* Queue.dropping<Tracer.NativeSpan>(bufferSpans)
        const keep = (span: Tracer.NativeSpan) => {
          if (span.sampled && !Queue.offerUnsafe(buffer, span)) spans.inc({ outcome: "dropped" })
        }
        const sendAll = Effect.gen(function* () {
          while (Queue.sizeUnsafe(buffer) > 0) {
            const batch = yield* Queue.takeBetween(buffer, 1, batchSpans)
            const body = JSON.stringify(
              otlpRequest(
                role,
                batch.map(otlpSpan).filter((span) => span !== undefined)
              )
            )
            const outcome = yield* transport.send("/v1/traces", body).pipe(
              Effect.as("sent" as const),
              Effect.catch((error) => Effect.as(Effect.logDebug("traces were not taken", error), "dropped" as const))
            )
            spans.inc({ outcome }, batch.length)
          }
        })
        yield* Effect.forkScoped(Effect.repeat(sendAll, Schedule.spaced(sendEvery)))
        yield* Effect.addFinalizer(() => sendAll)
        return Tracer.make({
          span: (options) =>
            new KeptSpan({ ...options, sampled: isSampled(options.parent, options.sampled, sampleRatio) }, keep)
        })
      })
    )
}

const isSampled = (parent: Option.Option<Tracer.AnySpan>, wanted: boolean, ratio: number) =>
  Option.isSome(parent)
    ? parent.value.sampled
    : wanted && crypto.getRandomValues(new Uint32Array(1))[0]! < ratio * 2 ** 32

class KeptSpan extends Tracer.NativeSpan {
  readonly #keep: (span: Tracer.NativeSpan) => void

  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0], keep: (span: Tracer.NativeSpan) => void) {
    super(options)
    this.#keep = keep
  }

  override end(...ended: Parameters<Tracer.NativeSpan["end"]>) {
    super.end(...ended)
    this.#keep(this)
  }
}

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

/** An ended span; undefined while it runs. */
const otlpSpan = (span: Tracer.NativeSpan): Record<string, unknown> | undefined => {
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

/** The JSON form of OTLP/HTTP (opentelemetry-proto 1.x, `ExportTraceServiceRequest`). */
const otlpRequest = (service: string, spans: ReadonlyArray<Record<string, unknown>>) => ({
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

// The W3C trace context header, version 00. A newer version is read as far as 00 goes.
const pattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/u

export const formatTraceparent = (span: Tracer.AnySpan): string =>
  `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`

/** The caller's span, or nothing if the header is missing, malformed or all zeros. */
export const parseTraceparent = (header: string | undefined): Option.Option<Tracer.ExternalSpan> => {
  const found = pattern.exec(header ?? "")
  const [, traceId = "", spanId = "", flags = ""] = found ?? []
  if (found === null || /^0+$/u.test(traceId) || /^0+$/u.test(spanId) || header?.startsWith("ff")) return Option.none()
  return Option.some(Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }))
}

/**
 * Runs in a span of that name, for code that every call passes through. `Effect.fn` and `Effect.withSpan` also record
 * where in the program the span was started, which costs several times the span.
 */
export const inSpan =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.useSpan(name, (span) => Effect.provideService(effect, Tracer.ParentSpan, span))

/** The header for an outgoing request, if a span is open. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.map(
  Effect.serviceOption(Tracer.ParentSpan),
  (span) => (Option.isSome(span) ? formatTraceparent(span.value) : undefined)
)
