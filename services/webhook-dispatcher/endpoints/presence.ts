/**
 * This dispatcher's presence among the others: a key that it renews each second, with the latest endpoint change that
 * it acts on. Removing an endpoint waits for these keys. A dispatcher that could not renew its key stops sending to
 * runtime endpoints before the broker declares it gone, and resumes once it knows all changes.
 */
import { Clock, Effect, Schedule, Semaphore } from "effect"
import { type BusError, BusUnavailable, type KvBucket, records } from "#bus"
import type { DispatcherPresence } from "#webhooks/contract"
import { presenceMs } from "#webhooks"

export interface Presence {
  /** Whether no other process can have declared this dispatcher dead. Read before every request; never waits. */
  readonly isCurrent: () => boolean
  /** Publishes at once that more changes are acted on. The next renewal makes up for a failure. */
  readonly announce: Effect.Effect<void>
}

interface PresenceOptions {
  readonly presences: KvBucket<DispatcherPresence>
  /** The latest endpoint change that this process acts on. */
  readonly actsOn: () => number
  /** Completes when every change stored by now is acted on. */
  readonly catchUp: Effect.Effect<void, BusError>
  /** This process's configured lanes: they change once every dispatcher reports the same number. */
  readonly lanes: number
}

const renewEvery = "1 second"
// The two clocks can differ slightly over three seconds, and a request leaves a moment after it was allowed.
const marginMs = 500

/** A lease by two clocks: one can stop while the machine sleeps, the other can be set. */
export interface Instant {
  readonly wallMs: number
  readonly monotonicMs: number
}

export const instantOf = (clock: Clock.Clock): Instant => ({
  wallMs: clock.currentTimeMillisUnsafe(),
  monotonicMs: Number(clock.currentTimeNanosUnsafe() / 1_000_000n)
})

/** Whether a renewal sent at `sentAt` still protects. Pure. */
export const isProtected = (sentAt: Instant | undefined, now: Instant): boolean =>
  sentAt !== undefined &&
  now.wallMs >= sentAt.wallMs &&
  Math.max(now.wallMs - sentAt.wallMs, now.monotonicMs - sentAt.monotonicMs) < presenceMs - marginMs

export const holdPresence = Effect.fnUntraced(function* ({ presences, actsOn, catchUp, lanes }: PresenceOptions) {
  const clock = yield* Clock.Clock
  const { replace } = records(presences, { keptMs: () => presenceMs })
  const key = crypto.randomUUID()
  const oneAtATime = yield* Semaphore.make(1)
  let revision = 0
  let sentAt: Instant | undefined

  const isCurrent = () => isProtected(sentAt, instantOf(clock))
  const write = Effect.gen(function* () {
    const now = instantOf(clock)
    const value = { actsOn: actsOn(), ...(lanes === 1 ? {} : { lanes }) }
    const { answer, revision: stored } = yield* replace(key, value, revision)
    revision = stored
    if (answer) return now
    // The key is gone, or the answer to the last write was lost. The next write continues from what is stored.
    if (stored === 0) sentAt = undefined
    return yield* new BusUnavailable({ operation: "renew a presence", detail: "another write came first" })
  }).pipe(Effect.timeout(`${presenceMs} millis`), oneAtATime.withPermits(1))

  /** During a gap others may have counted this dispatcher out, and answered removals that it has not read yet. */
  const renew = Effect.gen(function* () {
    const wasHeld = isCurrent()
    const first = yield* write
    if (wasHeld) return void (sentAt = first)
    yield* catchUp
    sentAt = yield* write
  })
  const renewing = renew.pipe(
    Effect.catch((error) => Effect.logDebug("this dispatcher's presence was not renewed", error)),
    Effect.repeat(Schedule.spaced(renewEvery))
  )
  yield* Effect.acquireRelease(Effect.forkScoped(renewing), () =>
    Effect.suspend(() => (revision === 0 ? Effect.void : presences.erase(key, revision))).pipe(
      Effect.timeout("1 second"),
      Effect.ignore
    )
  )
  const announce = Effect.ignore(Effect.suspend(() => (isCurrent() ? write : Effect.void)))
  const presence: Presence = { isCurrent, announce }
  return presence
})
