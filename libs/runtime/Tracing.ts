/**
 * Traces, when a collector is configured: sampled spans go to a bounded buffer and from there in batches to
 * the collector. A collector that is slow or away costs dropped spans, which are counted, and nothing else.
 */
import { Context, Effect, Layer, Option, Queue, Schedule, Schema, Tracer } from "effect"
import { defineCounter } from "./metrics-definition.ts"
import { Metrics } from "./Metrics.ts"
import { otlpRequest, otlpSpan } from "./otlp.ts"
import { Role } from "./Role.ts"

/** The collector did not take what was sent. */
export class OtlpRefused extends Schema.TaggedError<OtlpRefused>()("OtlpRefused", { reason: Schema.String }) {}

/** How traces leave the process; the egress provides it. */
export class OtlpTransport extends Context.Service<
  OtlpTransport,
  {
    /** POSTs a JSON body to a path below the collector's base URL. */
    readonly send: (path: string, body: string) => Effect.Effect<void, OtlpRefused>
  }
>()("starling/runtime/OtlpTransport") {}

export const tracedSpans = defineCounter({
  name: "tracing_spans_total",
  help: "Sampled spans by outcome: sent, or dropped because the collector did not keep up.",
  labels: ["outcome"]
})
export const tracingMetrics = [tracedSpans]

const bufferSpans = 2_048
const batchSpans = 512
const sendEvery = "5 seconds"

export const Tracing = {
  /** `sampleRatio`: the share of traces begun here that are kept, 0 to 1. A caller's decision is followed. */
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
              Effect.as("sent"),
              Effect.catch((error) => Effect.as(Effect.logDebug("traces were not taken", error), "dropped"))
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
