/** The times at which conditions stood: kept in KV `conditions`, so that a new console knows since when. */
import { createHash } from "node:crypto"
import { Effect, Result, Schema, Stream } from "effect"
import { Kv, records } from "#bus"
import { isoTime, Timestamp } from "#base"
import type { Happening } from "#console/api"
import { type Looked, type Standing, told } from "#console/conditions"
import { happening } from "#console/history"

/** One time that a condition stood; the last one is kept. */
const Episode = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  severity: Schema.Literals(["critical", "warning", "info"]),
  title: Schema.String,
  labels: Schema.Record(Schema.String, Schema.String),
  since: Timestamp,
  endedAt: Schema.NullOr(Timestamp)
})
type Episode = Schema.Schema.Type<typeof Episode>

// A process that begins reads no more of what its predecessors left open.
const openMax = 1_000
// What begins or ends in one look beyond this is written with the next ones.
const writesAtOnceMax = 50

/** A key has few characters; an id has the names of endpoints. */
const keyOf = (id: string) => createHash("sha256").update(id).digest("hex").slice(0, 32)

export const episodes = Effect.gen(function* () {
  const kv = yield* Kv
  /** Those that are known to stand in KV, by id. */
  const open = new Map<string, number>()
  let isRead = false

  const readOnce = Effect.gen(function* () {
    if (isRead) return
    const bucket = yield* kv.open("conditions", Episode)
    const found = yield* Stream.runCollect(
      bucket.scan(">").pipe(
        Stream.filter(({ value }) => value.endedAt === null),
        Stream.take(openMax)
      )
    )
    for (const { value } of found) open.set(value.id, Date.parse(value.since))
    isRead = true
  })

  const change = Effect.fnUntraced(function* (
    id: string,
    decide: (before: Episode | undefined) => Episode | undefined
  ) {
    const { change: changed } = records(yield* kv.open("conditions", Episode))
    const { value } = yield* changed(keyOf(id), (before) => Result.succeed({ answer: undefined, next: decide(before) }))
    return value
  })

  const begin = Effect.fnUntraced(function* (one: Standing) {
    const own = begunOf(one)
    const kept = (yield* change(own.id, (before) => (before?.endedAt === null ? undefined : own))) ?? own
    open.set(own.id, Date.parse(kept.since))
    return happeningOf(kept)
  })

  const end = Effect.fnUntraced(function* (id: string, nowMs: number) {
    const ended = yield* change(id, (before) =>
      before?.endedAt === null ? { ...before, endedAt: isoTime(nowMs) } : undefined
    )
    open.delete(id)
    return ended === undefined ? [] : [happeningOf(ended)]
  })

  /**
   * Writes what begins and what ends, and gives it. A broker that is away or slow does not delay the next look: it is
   * written later.
   */
  const keep = Effect.fnUntraced(function* ({ atMs, standing, isWhole }: Looked) {
    const happened: Array<Happening> = []
    yield* Effect.gen(function* () {
      yield* readOnce
      const now = new Set(standing.map(({ id }) => id))
      const begun = standing.filter(({ id }) => !open.has(id)).slice(0, writesAtOnceMax)
      for (const one of begun) happened.push(yield* begin(one))
      // In its first half minute a console sees no rates, and cannot tell that something has ended.
      const ended = isWhole ? [...open.keys()].filter((id) => !now.has(id)).slice(0, writesAtOnceMax) : []
      for (const id of ended) happened.push(...(yield* end(id, atMs)))
    }).pipe(
      Effect.timeout("2 seconds"),
      Effect.catch((error) => Effect.logDebug("conditions cannot be kept now", error))
    )
    return happened
  })

  return { sinceOf: (id: string) => open.get(id), keep }
})

const begunOf = (one: Standing): Episode => ({
  id: one.id,
  name: one.condition.name,
  severity: one.condition.severity,
  title: told(one.condition.title, one),
  labels: one.labels,
  since: isoTime(one.sinceMs),
  endedAt: null
})

/** That it began, or that it ended. */
const happeningOf = ({ id, title, severity, since, endedAt }: Episode): Happening =>
  happening({
    id: `condition ${id} since ${since}${endedAt === null ? "" : " ended"}`,
    at: endedAt ?? since,
    kind: "condition",
    change: endedAt === null ? "begun" : "ended",
    what: title,
    severity
  })
