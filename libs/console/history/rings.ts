/**
 * The last day by the minute and the last thirty days by the hour, of each thing, in memory of a fixed size. A span that
 * nobody has seen is a gap, never zero.
 */
import { isoTime } from "#base"
import {
  type History,
  type HistoryPoint,
  type HistoryRange,
  type ThingKind,
  thingsKeptMax,
  thingsShownMax
} from "#console/api"
import { type Figures, figuresOf, type HistorySpan, rowOf, sumOf } from "./spans.ts"

interface Unit {
  readonly name: "minute" | "hour"
  readonly ms: number
  readonly kept: number
}
export const minute: Unit = { name: "minute", ms: 60_000, kept: 1_440 }
export const hour: Unit = { name: "hour", ms: 3_600_000, kept: 720 }
const minutesInHour = 60

/** How a range is shown: so many points of so many spans each. */
const ranges: Readonly<Record<HistoryRange, { readonly unit: Unit; readonly points: number; readonly spans: number }>> =
  {
    hour: { unit: minute, points: 60, spans: 1 },
    day: { unit: minute, points: 288, spans: 5 },
    month: { unit: hour, points: 720, spans: 1 }
  }

// Calls, failed, p50, p95: four numbers of four bytes.
const width = 4

/** The spans of one length: when each place was written, and what of each thing. */
const ring = (unit: Unit) => {
  const numbers = new Float64Array(unit.kept).fill(-1)
  const seconds = new Float32Array(unit.kept)
  const things = new Map<string, Float32Array>()
  const placeOf = (number: number) => number % unit.kept
  const has = (number: number) => numbers[placeOf(number)] === number

  const put = (span: HistorySpan) => {
    const place = placeOf(span.number)
    // A place holds the newest span, and of that one what saw the most of it.
    const [held = -1, seen = 0] = [numbers[place], seconds[place]]
    if (held > span.number || (held === span.number && seen > span.seconds)) return
    numbers[place] = span.number
    seconds[place] = span.seconds
    for (const id of Object.keys(span.things)) {
      if (!things.has(id) && things.size < thingsKeptMax)
        things.set(id, new Float32Array(unit.kept * width).fill(Number.NaN))
    }
    for (const [id, values] of things) {
      const row = span.things[id]
      const { calls, failed, p50Ms, p95Ms } = figuresOf(row ?? [Number.NaN, Number.NaN])
      values.set([calls, failed, p50Ms, p95Ms], place * width)
    }
  }
  const at = (id: string, number: number): (Figures & { readonly seconds: number }) | undefined => {
    const values = things.get(id)
    if (values === undefined || !has(number)) return undefined
    const from = placeOf(number) * width
    const [calls = Number.NaN, failed = 0, p50Ms = Number.NaN, p95Ms = Number.NaN] = values.subarray(from, from + width)
    return Number.isNaN(calls) ? undefined : { calls, failed, p50Ms, p95Ms, seconds: seconds[placeOf(number)] ?? 0 }
  }
  const callsIn = (id: string, from: number, until: number) => {
    const values = things.get(id)
    if (values === undefined) return 0
    let calls = 0
    for (let number = from; number < until; number += 1) {
      if (has(number)) calls += values[placeOf(number) * width] || 0
    }
    return calls
  }
  /** Forgets things without a call in all that is kept. */
  const prune = (newest: number) => {
    for (const [id, values] of things) {
      const isUsed = numbers.some(
        (number, place) => number > newest - unit.kept && (values[place * width] ?? Number.NaN) > 0
      )
      if (!isUsed) things.delete(id)
    }
  }
  return { put, at, callsIn, has, prune, ids: () => things.keys() }
}

export const rings = () => {
  const all = { minute: ring(minute), hour: ring(hour) }

  const known = (): ReadonlySet<string> => new Set([...all.minute.ids(), ...all.hour.ids()])
  const put = (unit: Unit, span: HistorySpan) => all[unit.name].put(span)

  /** An hour as the sum of its minutes; undefined where none was seen. */
  const hourOf = (number: number): HistorySpan | undefined => {
    const numbers = Array.from({ length: minutesInHour }, (_, index) => number * minutesInHour + index)
    const seen = numbers.filter((each) => all.minute.has(each))
    if (seen.length === 0) return undefined
    const things = [...known()].flatMap((id) => {
      const spans = seen.flatMap((each) => all.minute.at(id, each) ?? [])
      return spans.length === 0 ? [] : [[id, rowOf(sumOf(spans)), sum(spans.map(({ seconds }) => seconds))] as const]
    })
    return {
      number,
      seconds: Math.max(0, ...things.map(([, , seconds]) => seconds)),
      things: Object.fromEntries(things.map(([id, row]) => [id, row]))
    }
  }

  /** Hours that are over and were not made of their minutes yet. */
  const hoursDue = (nowMs: number): ReadonlyArray<HistorySpan> => {
    const present = Math.floor(nowMs / hour.ms)
    return Array.from({ length: 23 }, (_, index) => present - 23 + index)
      .filter((number) => !all.hour.has(number))
      .flatMap((number) => hourOf(number) ?? [])
  }

  const prune = (nowMs: number) => {
    for (const unit of [minute, hour]) all[unit.name].prune(Math.floor(nowMs / unit.ms))
  }

  return { put, known, hoursDue, prune, view: viewOf(all, hourOf) }
}

export type Rings = ReturnType<typeof rings>

interface Asked {
  readonly kind: ThingKind
  readonly id?: string | undefined
  readonly range: HistoryRange
  readonly nowMs: number
  readonly leftOut: number
  /** The minute that is not over, if something of it was seen. */
  readonly present: HistorySpan | undefined
}

type Spans = Readonly<Record<Unit["name"], ReturnType<typeof ring>>>

const viewOf =
  (all: Spans, hourOf: (number: number) => HistorySpan | undefined) =>
  (asked: Asked): History => {
    const { kind, id, range, nowMs, leftOut, present } = asked
    const { unit, points, spans } = ranges[range]
    const last = Math.floor(nowMs / (unit.ms * spans))
    const numbers = Array.from({ length: points }, (_, index) => last - points + 1 + index)
    // The hour that is not over is made of its minutes.
    const newest = unit.name === "hour" ? hourOf(last) : present
    const isNewest = (number: number) => newest !== undefined && number === newest.number && !all[unit.name].has(number)
    const every = new Set([...all.minute.ids(), ...all.hour.ids(), ...Object.keys(present?.things ?? {})])
    const ids = [...every].filter((one) => one.startsWith(`${kind}/`))
    const from = (numbers[0] ?? last) * spans
    const newestOf = (one: string) =>
      figuresOf((newest !== undefined && isNewest(newest.number) && newest.things[one]) || [])
    const items = ids
      .filter((one) => id === undefined || one === `${kind}/${id}`)
      .map((one) => ({ one, calls: all[unit.name].callsIn(one, from, from + points * spans) + newestOf(one).calls }))
      .toSorted((left, right) => right.calls - left.calls || (left.one < right.one ? -1 : 1))
      .slice(0, thingsShownMax)
      .map(({ one, calls }) => {
        const seenAt = (number: number) => {
          const row = isNewest(number) ? newest?.things[one] : undefined
          return row === undefined
            ? all[unit.name].at(one, number)
            : { ...figuresOf(row), seconds: newest?.seconds ?? 0 }
        }
        const seen = numbers.map((number) => ({
          atMs: number * unit.ms * spans,
          parts: Array.from({ length: spans }, (_, index) => seenAt(number * spans + index) ?? []).flat()
        }))
        const shown = seen.filter(({ parts }) => parts.length > 0)
        return { kind, id: one.slice(kind.length + 1), calls, points: shown.map(pointOf) }
      })
    return {
      from: isoTime(from * unit.ms),
      to: isoTime(nowMs),
      spanSeconds: (unit.ms * spans) / 1_000,
      count: ids.length,
      leftOut,
      items
    }
  }

interface Seen {
  readonly atMs: number
  readonly parts: ReadonlyArray<Figures & { readonly seconds: number }>
}

const pointOf = ({ atMs, parts }: Seen): HistoryPoint => {
  const { calls, failed, p50Ms, p95Ms } = sumOf(parts)
  return {
    at: isoTime(atMs),
    perSecond: exact(calls / Math.max(1, sum(parts.map(({ seconds }) => seconds)))),
    success: calls === 0 ? null : Number(((calls - failed) / calls).toFixed(4)),
    p50Ms: Number.isNaN(p50Ms) ? null : exact(p50Ms),
    p95Ms: Number.isNaN(p95Ms) ? null : exact(p95Ms)
  }
}

const exact = (value: number) => Number(value.toPrecision(3))
const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
