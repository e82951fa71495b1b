/**
 * How a model's calls ended, counted by quarter-hour and by hour: the record that KV `model-uptime` stores for each
 * model, how several processes add to it, and what is read from it. Pure.
 */
import { Schema } from "effect"
import { Count, encodeToken, EpochMs, Id, text } from "#base"

/**
 * Answered; failed by the provider's fault; circuit open, because every provider had failed too often; refused because
 * our own limit at the provider was used up. A caller's mistake, or a caller that left, says nothing about a model.
 */
export const callOutcomes = ["answered", "failed", "leftAlone", "limited"] as const
export type CallOutcome = (typeof callOutcomes)[number]
export type OutcomeCounts = Readonly<Record<CallOutcome, number>>

const quarterMs = 900_000
const quartersInHour = 4
const hourMs = quartersInHour * quarterMs
const hoursInDay = 24
const quartersKept = hoursInDay * quartersInHour
const daysKept = 30
const hoursKept = daysKept * hoursInDay

/** A model that is no longer called is forgotten together with its last hour. */
export const modelUptimeKeptMs = hoursKept * hourMs

/** The quarter-hour of an instant, counted from the epoch. */
export const quarterOf = (epochMs: number): number => Math.floor(epochMs / quarterMs)

/** The calls of one time span, which is counted from the epoch, in the order of `callOutcomes`. */
const Cell = Schema.Tuple([Count, Count, Count, Count, Count])
export type Cell = typeof Cell.Type

// A writer's clock may be this far ahead of a reader's.
const clockSkewMax = { quarters: quartersInHour, hours: 1 }
const spans = {
  quarters: Schema.Array(Cell).check(Schema.isMaxLength(quartersKept + clockSkewMax.quarters)),
  hours: Schema.Array(Cell).check(Schema.isMaxLength(hoursKept + clockSkewMax.hours))
}
export interface Spans {
  readonly quarters: ReadonlyArray<Cell>
  readonly hours: ReadonlyArray<Cell>
}

// The eight that a model can have, and some of earlier configurations.
const providersMax = 12
const writersMax = 128
// Longer than any writer is unsure whether its last write was stored.
const writerKnownMs = 3_600_000

export const ModelUptime = Schema.Struct({
  model: Id,
  /** All calls of the model: one that its second provider answered counts as answered. */
  ...spans,
  /** The attempts at each provider. */
  providers: Schema.Array(Schema.Struct({ provider: text(64), ...spans })).check(Schema.isMaxLength(providersMax)),
  /** The last batch of each process, so that one that is written twice counts once. */
  writers: Schema.Array(Schema.Struct({ writer: text(64), batch: Count, atMs: EpochMs })).check(
    Schema.isMaxLength(writersMax)
  )
})
export interface ModelUptime extends Schema.Schema.Type<typeof ModelUptime> {}

/** Every id that a configuration can have fits, part by part. */
export const modelUptimeKey = (model: string): string => model.split("/").map(encodeToken).join(".")

/** What one process has counted since its last batch, in quarter-hours. */
export interface UptimeBatch {
  readonly writer: string
  readonly batch: number
  readonly model: string
  readonly calls: ReadonlyArray<Cell>
  readonly providers: ReadonlyMap<string, ReadonlyArray<Cell>>
}

const nothing: Spans = { quarters: [], hours: [] }

/** The record with a batch; undefined if it already includes it. Spans older than the retention are dropped. */
export const withBatch = (
  before: ModelUptime | undefined,
  { writer, batch, model, calls, providers }: UptimeBatch,
  nowMs: number
): ModelUptime | undefined => {
  const writers = before?.writers ?? []
  if (writers.some((known) => known.writer === writer && known.batch >= batch)) return undefined
  const known = new Map((before?.providers ?? []).map((each) => [each.provider, each]))
  const names = [...new Set([...known.keys(), ...providers.keys()])]
  return {
    model,
    ...added(before ?? nothing, calls, nowMs),
    providers: names
      .map((provider) => ({
        provider,
        ...added(known.get(provider) ?? nothing, providers.get(provider) ?? [], nowMs)
      }))
      .filter(({ hours }) => hours.length > 0)
      .toSorted((left, right) => lastHour(right) - lastHour(left))
      .slice(0, providersMax),
    writers: [
      { writer, batch, atMs: nowMs },
      ...writers.filter((each) => each.writer !== writer && nowMs - each.atMs < writerKnownMs)
    ].slice(0, writersMax)
  }
}

const lastHour = ({ hours }: Spans) => hours.at(-1)?.[0] ?? 0

const added = ({ quarters, hours }: Spans, counted: ReadonlyArray<Cell>, nowMs: number): Spans => {
  const present = quarterOf(nowMs)
  const hour = Math.floor(present / quartersInHour)
  const byHour = counted.map(([quarter, ...counts]): Cell => [Math.floor(quarter / quartersInHour), ...counts])
  return {
    quarters: summed([...quarters, ...counted], present - quartersKept + 1, present + clockSkewMax.quarters),
    hours: summed([...hours, ...byHour], hour - hoursKept + 1, hour + clockSkewMax.hours)
  }
}

/** One cell per span, from one span to another. */
const summed = (cells: ReadonlyArray<Cell>, from: number, to: number): ReadonlyArray<Cell> => {
  const bySpan = new Map<number, Cell>()
  for (const cell of cells) {
    const [span] = cell
    if (span < from || span > to) continue
    const before = bySpan.get(span)
    bySpan.set(span, before === undefined ? cell : plus(before, cell))
  }
  return [...bySpan.values()].toSorted(([left], [right]) => left - right)
}

const plus = ([span, ...left]: Cell, [, ...right]: Cell): Cell => [
  span,
  left[0] + right[0],
  left[1] + right[1],
  left[2] + right[2],
  left[3] + right[3]
]

/** Calls over a period: their sums, and the spans with any calls, oldest first. */
export interface CallWindow {
  readonly fromMs: number
  readonly spanMs: number
  readonly counts: OutcomeCounts
  readonly series: ReadonlyArray<OutcomeCounts & { readonly atMs: number }>
}

/** The last 96 quarter-hours, including the current one. */
export const lastDay = ({ quarters }: Spans, nowMs: number): CallWindow =>
  windowOf(quarters, { spanMs: quarterMs, from: quarterOf(nowMs) - quartersKept + 1, joined: 1 })

/** The last 720 hours, including the current one, in days of 24 of these hours. */
export const lastMonth = ({ hours }: Spans, nowMs: number): CallWindow =>
  windowOf(hours, { spanMs: hourMs, from: Math.floor(nowMs / hourMs) - hoursKept + 1, joined: hoursInDay })

interface WindowShape {
  readonly spanMs: number
  /** Its first span. */
  readonly from: number
  /** How many spans make up one of its series. */
  readonly joined: number
}

const windowOf = (cells: ReadonlyArray<Cell>, { spanMs, from, joined }: WindowShape): CallWindow => {
  const within = cells.filter(([span]) => span >= from)
  const steps = within.map(([span, ...counts]): Cell => [Math.floor((span - from) / joined), ...counts])
  const series = summed(steps, 0, Number.POSITIVE_INFINITY)
  return {
    fromMs: from * spanMs,
    spanMs: joined * spanMs,
    counts: countsOf(series.reduce(plus, [0, 0, 0, 0, 0])),
    series: series.map((cell) => ({ atMs: from * spanMs + cell[0] * joined * spanMs, ...countsOf(cell) }))
  }
}

const countsOf = ([, answered, failed, leftAlone, limited]: Cell): OutcomeCounts => ({
  answered,
  failed,
  leftAlone,
  limited
})

/** The share of calls that were answered, among those that providers could have answered; null without any. */
export const uptimeOf = ({ answered, failed, leftAlone }: OutcomeCounts): number | null => {
  const calls = answered + failed + leftAlone
  return calls === 0 ? null : answered / calls
}
