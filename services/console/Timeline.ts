/**
 * What happened to the fleet: what this console has seen and what others wrote to KV `history`, an hour a key, beside
 * what operators did, which AUDIT has.
 */
import { Clock, Context, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import { Kv, Leases, records, StreamReader } from "#bus"
import { type AuditRecord, subjects } from "#base"
import type { Happening } from "#console/api"
import {
  happening,
  HappeningsOfHour,
  hourNumberOf,
  hoursKept,
  hourWith,
  newestOf,
  type Noted,
  noticed,
  type Scan,
  taken
} from "#console/history"
import { auditCodec } from "#http"
import { FleetHistory } from "./FleetHistory.ts"

export class Timeline extends Context.Service<
  Timeline,
  {
    /** Notices what a scan shows, and writes it with what happened beside it. */
    readonly add: (scan: Scan, happened: ReadonlyArray<Happening>) => Effect.Effect<void>
    /** Newest first. */
    readonly all: Effect.Effect<ReadonlyArray<Happening>>
  }
>()("starling/console/Timeline") {
  static readonly layer = Layer.effect(
    Timeline,
    Effect.gen(function* () {
      const hours = yield* storedHours
      const leasesTaken = yield* leaseWatch
      const acts = yield* newestActs
      const { isWriter } = yield* FleetHistory
      let known: ReadonlyArray<Happening> = []
      let noted: Noted | undefined
      const learn = (happened: ReadonlyArray<Happening>) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          known = newestOf(known, happened, nowMs)
        })
      yield* Effect.forkScoped(Effect.retry(hours.each(learn), Schedule.spaced("10 seconds")))

      const add = Effect.fnUntraced(function* (scan: Scan, happened: ReadonlyArray<Happening>) {
        const seen = noticed(noted, scan)
        noted = seen.noted
        yield* Effect.gen(function* () {
          // Of several consoles one writes what all of them see.
          const own = isWriter() ? [...seen.happened, ...(yield* leasesTaken)] : []
          yield* learn([...happened, ...own])
          yield* hours.write([...happened, ...own])
        }).pipe(
          Effect.timeout(withinMs),
          Effect.catch((error) => Effect.logDebug("the timeline cannot be kept now", error))
        )
      })

      const all = Effect.gen(function* () {
        const done = yield* Effect.andThen(Effect.flatMap(hours.newest, learn), acts).pipe(
          Effect.timeout(withinMs),
          // What this process knows is better than nothing.
          Effect.orElseSucceed((): ReadonlyArray<Happening> => [])
        )
        return newestOf(known, done, yield* Clock.currentTimeMillis)
      })
      return Timeline.of({ add, all })
    })
  )
}

const withinMs = 2_000
const hourMs = 3_600_000
// Twenty requests each time.
const leasesEveryMs = 30_000
const hoursAtOnceMax = 8
const unwrittenMax = 500
const actsMax = 200
const keyOf = (hour: number) => `t.${hour % hoursKept}`

/** What happened, an hour a key. */
const storedHours = Effect.gen(function* () {
  const open = (yield* Kv).open("history", HappeningsOfHour)
  let unwritten: ReadonlyArray<Happening> = []

  const write = Effect.fnUntraced(function* (happened: ReadonlyArray<Happening>) {
    unwritten = [...unwritten, ...happened].slice(-unwrittenMax)
    if (unwritten.length === 0) return
    const nowMs = yield* Clock.currentTimeMillis
    const bucket = yield* open
    for (const [number, inHour] of [...Map.groupBy(unwritten, hourNumberOf)].slice(0, hoursAtOnceMax)) {
      const decide = (before: HappeningsOfHour | undefined) =>
        Result.succeed({ answer: undefined, next: hourWith(before, number, inHour) })
      if (nowMs - number * hourMs < hoursKept * hourMs) yield* records(bucket).change(keyOf(number), decide)
      unwritten = unwritten.filter((one) => !inHour.includes(one))
    }
  })
  const each = (learn: (happened: ReadonlyArray<Happening>) => Effect.Effect<void>) =>
    Effect.flatMap(open, (bucket) => Stream.runForEach(bucket.scan("t.*"), ({ value }) => learn(value.happenings)))
  /** Of this hour and the one before, which others may have written meanwhile. */
  const newest = Effect.gen(function* () {
    const present = Math.floor((yield* Clock.currentTimeMillis) / hourMs)
    const bucket = yield* open
    const found = yield* Effect.forEach([present - 1, present], (number) => bucket.get(keyOf(number)))
    return found.flatMap(Option.toArray).flatMap(({ value }) => value.happenings)
  })
  return { write, each, newest }
})

/** Leases that went to another process since the last look at them, now and then. */
const leaseWatch = Effect.gen(function* () {
  const leases = yield* Leases
  let last: { readonly atMs: number; readonly holders: ReadonlyMap<string, string> } | undefined
  return Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (last !== undefined && nowMs - last.atMs < leasesEveryMs) return []
    const held = yield* leases.held
    const before = last?.holders
    // A process that gives a lease back and takes it again is no news.
    last = {
      atMs: nowMs,
      holders: new Map([...(before ?? []), ...held.map(({ key, holder }) => [key, holder] as const)])
    }
    return before === undefined ? [] : taken(before, held, nowMs)
  })
})

const newestActs = Effect.map(StreamReader, (reader) =>
  Effect.map(
    reader.newest("AUDIT", {
      before: Number.MAX_SAFE_INTEGER,
      subject: subjects.auditAll,
      messagesMax: actsMax
    }),
    (messages) =>
      messages.flatMap((message) =>
        Option.toArray(Result.getSuccess(Result.map(auditCodec.decode(message), actOf(message.sequence))))
      )
  )
)

/** The audit log has all of it: rights of a token, a filter. */
const shownTarget = (target: string): ReadonlyArray<string> => {
  const [name = ""] = target.split(/ ?\{/u, 1)
  return name === "" ? [] : [name]
}

const actOf =
  (sequence: number) =>
  ({ at, action, target, reason, by }: AuditRecord): Happening =>
    happening({
      id: `act ${sequence}`,
      at,
      kind: "act",
      change: "done",
      what: `${[action, ...shownTarget(target)].join(" ")}: ${reason}`,
      by: (by.person ?? by.tokenId).slice(0, 300)
    })
