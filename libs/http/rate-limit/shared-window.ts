/**
 * A rate window over all replicas: each key's takes are a log in the store, changed by compare-and-set and in groups.
 * Exact as far as the replicas' clocks agree. A full log is believed for up to a second, so that a flood costs the
 * broker one read a second; a place that another replica gives back is noticed after that.
 */
import { hash } from "node:crypto"
import { Clock, Deferred, Effect, Exit, Option, Random, Schema } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, RevisionConflict } from "#bus"
import { Metrics } from "#runtime"
import { sharedWindowTakes } from "../metrics.ts"
import {
  giveBackToLog,
  type RateLog,
  type RateRefused,
  type RateTaken,
  type RateWindow,
  refusedUntil,
  takeFromLog
} from "./RateWindow.ts"

export interface SharedWindowOptions {
  /** Names the window in refusals, in metrics and in the store: letters, digits, `-` and `_`. */
  readonly name: string
  /** At most 300: that many times are kept for each key. */
  readonly limit: number
  /** At most a day. */
  readonly windowMs: number
}

const limitMax = 300
const windowMsMax = 86_400_000
const names = /^[A-Za-z0-9_-]{1,64}$/u
// Within a process one key's changes are written together, so only replicas compete: one of them wins each round.
const triesMax = 24
// Shorter than any caller waits for a refusal.
const withinMs = 3_000
// A place that was given back elsewhere is noticed after this.
const believedMs = 1_000
const rememberedMax = 10_000
const logOfTakes = Schema.Array(Schema.Int)

/** Made once, where its role starts. A limit, a length or a name that cannot be stored is a defect. */
export const sharedWindow = Effect.fnUntraced(function* (options: SharedWindowOptions) {
  const { name, limit, windowMs } = options
  if (!names.test(name) || limit < 1 || limit > limitMax || windowMs < 1 || windowMs > windowMsMax) {
    return yield* Effect.die(new RangeError(`no such window: ${JSON.stringify(options)}`))
  }
  const bucket = yield* (yield* Kv).open("rate-windows", logOfTakes)
  const takes = (yield* Metrics).counter(sharedWindowTakes)
  takes.begin({ window: name })
  const refusals = rememberedRefusals(limit)
  const change = groupedChanges(changeStored(bucket, name, windowMs))
  const changing = <A>(key: string, decide: (log: RateLog) => Change<RateLog, A>) =>
    inTime(change(`${name}.${hash("sha256", key, "hex")}`, decide), `count a call in ${name}`)
  const remembered = (key: string) => Effect.map(Clock.currentTimeMillis, (nowMs) => refusals.find(key, nowMs))

  const takeNow = Effect.fnUntraced(function* (key: string) {
    const known = yield* remembered(key)
    if (Option.isSome(known)) return known.value
    const clock = yield* Clock.Clock
    return yield* changing(key, (log) => {
      // The time of the decision, not of the request: other requests may have been decided meanwhile, at later times.
      const nowMs = clock.currentTimeMillisUnsafe()
      const { decision, log: next } = takeFromLog(log, options, nowMs)
      if (decision._tag === "Refused") refusals.remember(key, decision, nowMs)
      return { answer: decision, next: decision._tag === "Taken" ? next : undefined }
    })
  })
  const take = Effect.fn("SharedWindow.take")(function* (key: string) {
    const decision = yield* Effect.tapError(takeNow(key), () =>
      Effect.sync(() => takes.inc({ window: name, outcome: "failed" }))
    )
    takes.inc({ window: name, outcome: decision._tag === "Taken" ? "taken" : "refused" })
    return decision
  })
  const giveBack = Effect.fn("SharedWindow.giveBack")(function* (key: string, { takenAtMs }: RateTaken) {
    yield* changing(key, (log) => ({ answer: undefined, next: giveBackToLog(log, takenAtMs) }))
    refusals.forget(key)
  })
  const window: RateWindow<BusError> = { name, limit, windowMs, take, giveBack }
  return window
})

/** Tries again while other replicas win the race, but no longer than a caller would wait. */
const changeStored = (bucket: KvBucket<RateLog>, name: string, windowMs: number): ChangeStored<RateLog, BusError> => {
  const operation = `count a call in ${name}`
  const change = Effect.fnUntraced(function* (id: string, decide: (log: RateLog) => RateLog | undefined) {
    for (let tries = 1; tries <= triesMax; tries++) {
      const entry = yield* bucket.get(id)
      const next = decide(Option.match(entry, { onNone: () => [], onSome: ({ value }) => value }))
      if (next === undefined) return
      const written = yield* keep(bucket, id, next, entry, windowMs).pipe(
        Effect.as(true),
        Effect.catchTag("RevisionConflict", () => Effect.succeed(false))
      )
      if (written) return
      yield* Effect.sleep(yield* Random.nextIntBetween(0, tries * 2))
    }
    return yield* new RevisionConflict({ operation, detail: `${triesMax} tries, all lost` })
  })
  return (id, decide) => inTime(change(id, decide), operation)
}

const keep = (
  bucket: KvBucket<RateLog>,
  id: string,
  log: RateLog,
  entry: Option.Option<{ readonly revision: number }>,
  // A log lives a window longer than its last take; by then all its times are over.
  windowMs: number
) =>
  Option.isNone(entry)
    ? bucket.create(id, log, windowMs + 1_000)
    : bucket.update(id, log, entry.value.revision, windowMs + 1_000)

const inTime = <A>(effect: Effect.Effect<A, BusError>, operation: string) =>
  Effect.timeoutOrElse(effect, {
    duration: withinMs,
    orElse: () => Effect.fail(new BusUnavailable({ operation, detail: `no answer within ${withinMs} ms` }))
  })

/** Full windows that were seen a moment ago, so that a flood is refused without another look-up. Bounded. */
export const rememberedRefusals = (limit: number) => {
  const full = new Map<string, { readonly resetAtMs: number; readonly believedUntilMs: number }>()
  return {
    remember: (key: string, { resetAtMs }: RateRefused, nowMs: number) => {
      full.delete(key)
      for (const oldest of full.keys()) {
        if (full.size < rememberedMax) break
        full.delete(oldest)
      }
      full.set(key, { resetAtMs, believedUntilMs: Math.min(resetAtMs, nowMs + believedMs) })
    },
    find: (key: string, nowMs: number): Option.Option<RateRefused> => {
      const known = full.get(key)
      return known !== undefined && nowMs < known.believedUntilMs
        ? Option.some(refusedUntil(limit, known.resetAtMs, nowMs))
        : Option.none()
    },
    forget: (key: string) => full.delete(key)
  }
}

export interface Change<V, A> {
  readonly answer: A
  /** The value to keep; undefined when it does not change. */
  readonly next: V | undefined
}

/** Reads a value and stores the result of `decide`; a lost race reads and decides again. */
type ChangeStored<V, E> = (id: string, decide: (value: V) => V | undefined) => Effect.Effect<void, E>

interface Member<V, E> {
  /** May be called again: its last result counts. */
  readonly decide: (value: V) => V | undefined
  readonly conclude: (written: Exit.Exit<void, E>) => void
}

// A value is read and written once for this many changes; more would only delay the first of them.
const membersMax = 512

/**
 * Changes of stored values, written in groups: changes of a key that arrive while a group is being written form the
 * next group, so that a burst costs the store one write a turn and not one for each caller. A caller that is
 * interrupted before its group begins changes nothing; a group that cannot be written fails for each of its members.
 * Callers bound how many wait, and for how long.
 */
export const groupedChanges = <V, E>(change: ChangeStored<V, E>) => {
  const waiting = new Map<string, Array<Member<V, E>>>()

  const writeGroup = (id: string, group: ReadonlyArray<Member<V, E>>) =>
    change(id, (value) => {
      let next: V | undefined
      for (const { decide } of group) next = decide(next ?? value) ?? next
      return next
    })

  const writeAll = Effect.fnUntraced(function* (id: string) {
    let group = waiting.get(id)?.splice(0, membersMax) ?? []
    while (group.length > 0) {
      const written = yield* Effect.exit(writeGroup(id, group))
      for (const { conclude } of group) conclude(written)
      group = waiting.get(id)?.splice(0, membersMax) ?? []
    }
    waiting.delete(id)
  })

  return <A>(id: string, decide: (value: V) => Change<V, A>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const result = Deferred.makeUnsafe<A, E>()
      let last: Change<V, A> | undefined
      const member: Member<V, E> = {
        decide: (value) => {
          last = decide(value)
          return last.next
        },
        conclude: (written) => {
          const answer = last === undefined ? Exit.die("a member of a group was not asked") : Exit.succeed(last.answer)
          Deferred.doneUnsafe(result, Exit.isSuccess(written) ? answer : Exit.failCause(written.cause))
        }
      }
      const others = waiting.get(id)
      if (others !== undefined) others.push(member)
      else waiting.set(id, [member])
      const leave = Effect.sync(() => {
        const queue = waiting.get(id)
        const place = queue?.indexOf(member) ?? -1
        if (place >= 0) queue?.splice(place, 1)
      })
      // Detached: the caller that came first may be interrupted while others wait.
      const begun = others === undefined ? Effect.forkDetach(writeAll(id)) : Effect.void
      return Effect.andThen(
        begun,
        Effect.onInterrupt(Deferred.await(result), () => leave)
      )
    })
}
