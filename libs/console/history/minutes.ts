/**
 * Counts what readings show, minute by minute. A process that restarts begins at zero, one that is new to us at what it
 * shows, and one that is silent for a moment goes on. What lies between two readings far apart belongs to no minute.
 */
import { quantileOf, type Reading, type Window, windowOf } from "#console/readings"
import { type Source, sources } from "./sources.ts"
import type { Counted, Figures } from "./spans.ts"

type Exposition = NonNullable<ReturnType<Reading["targets"]["get"]>>
type Expositions = ReadonlyMap<string, Exposition>

const minuteMs = 60_000
/** A process that is silent for longer begins anew. */
const silentMsMax = 60_000
/** Readings of very large fleets are a minute apart. */
const apartMsMax = 90_000
// Less than one interval of readings.
const secondsMin = 4

interface Tally {
  readonly calls: number
  readonly failed: number
  readonly buckets: ReadonlyMap<number, number>
}

export const idOf = ({ kind }: Source, name: string) => `${kind}/${name}`

/** What the processes have counted since a moment. */
const processes = () => {
  let base = new Map<string, Exposition>()
  let last = new Map<string, { readonly exposition: Exposition; readonly atMs: number }>()
  let tallies: ReadonlyMap<string, Tally> = new Map()

  const newest = () => new Map([...last].map(([url, { exposition }]) => [url, exposition]))
  /** Counts what a process has shown before it is another one. */
  const settle = (url: string) => {
    const [before, after] = [base.get(url), last.get(url)?.exposition]
    if (before === undefined || after === undefined) return
    tallies = joined(tallies, talliesOf(new Map([[url, before]]), new Map([[url, after]])))
  }
  const take = ({ targets, atMs }: Reading, beforeMs: number) => {
    for (const [url, exposition] of targets) {
      if (exposition === undefined) continue
      const before = last.get(url)
      if (before === undefined || startOf(before.exposition) !== startOf(exposition)) {
        settle(url)
        // It has counted all of it since the reading before.
        base.set(url, startOf(exposition) * 1_000 >= beforeMs ? nothing : exposition)
      }
      last.set(url, { exposition, atMs })
    }
    for (const [url, seen] of last) {
      if (atMs - seen.atMs <= silentMsMax) continue
      settle(url)
      base.delete(url)
      last.delete(url)
    }
  }
  const counted = () => ({ tallies: joined(tallies, talliesOf(base, newest())), isSeen: seenBy(newest()) })
  const begin = () => {
    base = newest()
    tallies = new Map()
  }
  const forget = () => {
    last = new Map()
    begin()
  }
  return { take, counted, begin, forget }
}

/** Gives what was counted in a minute with the first reading after it. */
export const minutes = () => {
  const seen = processes()
  let [baseAtMs, lastAtMs] = [Number.NaN, Number.NaN]
  /** What was counted up to the last reading, if somebody asked. */
  let known: Counted | undefined

  const counted = (untilMs: number): Counted => {
    const { tallies, isSeen } = seen.counted()
    return {
      number: Math.floor(baseAtMs / minuteMs),
      seconds: (untilMs - baseAtMs) / 1_000,
      used: new Map([...tallies].filter(([, { calls }]) => calls > 0).map(([id, tally]) => [id, figuresIn(tally)])),
      isSeen
    }
  }
  const close = (untilMs: number): ReadonlyArray<Counted> => {
    const done = counted(untilMs)
    seen.begin()
    baseAtMs = untilMs
    return done.seconds >= secondsMin ? [done] : []
  }
  const add = (reading: Reading): ReadonlyArray<Counted> => {
    const { atMs } = reading
    if (atMs <= lastAtMs) return []
    known = undefined
    const isFirst = Number.isNaN(lastAtMs)
    const isGap = isFirst || atMs - lastAtMs > apartMsMax
    const before = isGap && !isFirst ? close(lastAtMs) : []
    if (isGap) {
      seen.forget()
      baseAtMs = atMs
    }
    seen.take(reading, lastAtMs)
    lastAtMs = atMs
    const isNext = Math.floor(atMs / minuteMs) !== Math.floor(baseAtMs / minuteMs)
    return [...before, ...(isNext ? close(atMs) : [])]
  }
  /** What was counted of the minute that is not over. */
  const present = (): Counted | undefined => {
    if (lastAtMs - baseAtMs < secondsMin * 1_000) return undefined
    known ??= counted(lastAtMs)
    return known
  }
  return { add, present }
}

const nothing: Exposition = Object.assign(new Map<string, never>(), { characters: 0 })

const startOf = (exposition: Exposition) => exposition.get("process_start_time_seconds")?.[0]?.value ?? 0

const talliesOf = (before: Expositions, after: Expositions) => {
  const window = windowOf({ atMs: 0, targets: before }, { atMs: 1, targets: after })
  return new Map(sources.flatMap((source) => tallied(source, window)))
}

const tallied = (source: Source, window: Window): ReadonlyArray<readonly [string, Tally]> => {
  const { by, calls, failed, seconds } = source
  const names = "id" in by ? [by.id] : window.values(calls.metric, by.label)
  return names.map((name) => {
    const own = "id" in by ? {} : { [by.label]: name }
    const sum = (counter: typeof calls) => window.increase(counter.metric, { ...own, ...counter.labels })
    const tally: Tally = {
      calls: sum(calls),
      failed: failed.reduce((total, counter) => total + sum(counter), 0),
      buckets: window.buckets(seconds.metric, { ...own, ...seconds.labels })
    }
    return [idOf(source, name), tally] as const
  })
}

const joined = (left: ReadonlyMap<string, Tally>, right: ReadonlyMap<string, Tally>): ReadonlyMap<string, Tally> => {
  const all = new Map(left)
  for (const [id, tally] of right) {
    const known = all.get(id)
    if (known === undefined) {
      all.set(id, tally)
      continue
    }
    const buckets = new Map(known.buckets)
    for (const [upTo, count] of tally.buckets) buckets.set(upTo, (buckets.get(upTo) ?? 0) + count)
    all.set(id, { calls: known.calls + tally.calls, failed: known.failed + tally.failed, buckets })
  }
  return all
}

const figuresIn = ({ calls, failed, buckets }: Tally): Figures => ({
  calls,
  failed: Math.min(calls, failed),
  p50Ms: quantileOf([...buckets], 0.5) * 1_000,
  p95Ms: quantileOf([...buckets], 0.95) * 1_000
})

const seenBy = (expositions: Expositions) => {
  const roles = new Set(
    [...expositions.values()].flatMap((one) => (one.get("bus_connected") ?? []).map(({ labels }) => labels["role"]))
  )
  return (id: string) => {
    const [kind, name] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)]
    return sources.some(
      (source) =>
        source.kind === kind &&
        (!("id" in source.by) || source.by.id === name) &&
        source.roles.some((role) => roles.has(role))
    )
  }
}
