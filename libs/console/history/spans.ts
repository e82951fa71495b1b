/** What was counted of each thing in a minute or an hour, as the bucket `history` keeps it. Pure. */
import { Schema } from "effect"
import { Count } from "#base"
import { thingsKeptMax } from "#console/api"

/** `[]` without a call; `[calls, failed]` where nothing was timed; else `[calls, failed, p50 in ms, p95 in ms]`. */
const Row = Schema.Array(Schema.Finite).check(Schema.isMaxLength(4))

export const HistorySpan = Schema.Struct({
  /** Of the minute or hour, since the epoch. */
  number: Count,
  /** How much of it was seen. */
  seconds: Schema.Finite,
  things: Schema.Record(Schema.String, Row)
})
export interface HistorySpan extends Schema.Schema.Type<typeof HistorySpan> {}

export interface Figures {
  readonly calls: number
  readonly failed: number
  /** NaN where nothing was timed. */
  readonly p50Ms: number
  readonly p95Ms: number
}

export const figuresOf = ([calls = 0, failed = 0, p50Ms = Number.NaN, p95Ms = Number.NaN]: ReadonlyArray<number>) => ({
  calls,
  failed,
  p50Ms,
  p95Ms
})

export const rowOf = ({ calls, failed, p50Ms, p95Ms }: Figures): ReadonlyArray<number> =>
  calls === 0 ? [] : Number.isNaN(p50Ms) ? [calls, failed] : [calls, failed, rounded(p50Ms), rounded(p95Ms)]

// Nobody reads a chart more exactly, and buckets do not know more.
const rounded = (ms: number) => Number(ms.toPrecision(3))

/** Several spans as one: sums of calls, and means of latencies by their calls. */
export const sumOf = (all: ReadonlyArray<Figures>): Figures => {
  const mean = (part: "p50Ms" | "p95Ms") => {
    const timed = all.filter((one) => !Number.isNaN(one[part]))
    return timed.reduce((sum, one) => sum + one[part] * one.calls, 0) / timed.reduce((sum, { calls }) => sum + calls, 0)
  }
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    p50Ms: mean("p50Ms"),
    p95Ms: mean("p95Ms")
  }
}

/** What was counted in a span. */
export interface Counted {
  readonly number: number
  readonly seconds: number
  readonly used: ReadonlyMap<string, Figures>
  /** Whether a process answered that would have shown the thing's calls. */
  readonly isSeen: (id: string) => boolean
}

/**
 * The span of what was counted. A thing is kept from its first call on, the busiest first where there is not room for
 * all; one that is known and was not used is idle, unless nobody could see it.
 */
export const spanOf = ({ number, seconds, used, isSeen }: Counted, known: ReadonlySet<string>) => {
  const newer = [...used].filter(([id]) => !known.has(id)).toSorted(([, left], [, right]) => right.calls - left.calls)
  const room = Math.max(0, thingsKeptMax - known.size)
  const entering = new Set(newer.slice(0, room).map(([id]) => id))
  const rows = [...known, ...entering].flatMap((id) => {
    const figures = used.get(id)
    return figures !== undefined ? [[id, rowOf(figures)] as const] : isSeen(id) ? [[id, []] as const] : []
  })
  const span: HistorySpan = { number, seconds, things: Object.fromEntries(rows) }
  return { span, leftOut: newer.slice(room).map(([id]) => id) }
}
