/** The W3C trace context header, to and from spans (version 00; a newer one is read as far as 00 goes). */
import { Effect, Option, Tracer } from "effect"

const pattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/u

export const formatTraceparent = (span: Tracer.AnySpan): string =>
  `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`

/** The caller's span, or nothing for a header that is missing, malformed or all zeros. */
export const parseTraceparent = (header: string | undefined): Option.Option<Tracer.ExternalSpan> => {
  const found = pattern.exec(header ?? "")
  const [, traceId = "", spanId = "", flags = ""] = found ?? []
  if (found === null || /^0+$/u.test(traceId) || /^0+$/u.test(spanId) || header?.startsWith("ff")) return Option.none()
  return Option.some(Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }))
}

/** The header for what leaves now, if a span is open. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.map(
  Effect.serviceOption(Tracer.ParentSpan),
  (span) => (Option.isSome(span) ? formatTraceparent(span.value) : undefined)
)
