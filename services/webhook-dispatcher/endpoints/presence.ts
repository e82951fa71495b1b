/**
 * This dispatcher's presence among the others: a key that it renews each second, with the last change of endpoints that
 * it acts on. Whoever removes an endpoint waits for these keys. A dispatcher that could not renew its key stops sending
 * to endpoints made at run time before the broker declares it gone, and begins again when it knows all changes.
 */
import { Clock, Effect, Schedule, Semaphore } from "effect"
import { type BusError, BusUnavailable, type KvBucket, records } from "#bus"
import type { DispatcherPresence } from "#webhooks/contract"
import { presenceMs } from "#webhooks"

export interface Presence {
  /** Whether nobody can have taken this dispatcher for dead. Read before every request; never waits. */
  readonly isHeld: () => boolean
  /** Tells at once that more changes are acted on. A failure is made up for by the next renewal. */
  readonly tell: Effect.Effect<void>
}

interface PresenceOptions {
  readonly presences: KvBucket<DispatcherPresence>
  /** The change of endpoints that this process acts on. */
  readonly actsOn: () => number
  /** Completes when every change that is stored by now is acted on. */
  readonly catchUp: Effect.Effect<void, BusError>
  /** The lanes that this process was set to: they change once every dispatcher tells the same number. */
  readonly lanes: number
}

const renewEvery = "1 second"
// The two clocks may differ a little over three seconds, and a request leaves a moment after it was allowed.
const marginMs = 500

/** A lease by two clocks: one may stand still while the machine sleeps, the other may be set. */
interface Instant {
  readonly wallMs: number
  readonly monotonicMs: number
}

const instantOf = (clock: Clock.Clock): Instant => ({
  wallMs: clock.currentTimeMillisUnsafe(),
  monotonicMs: Number(clock.currentTimeNanosUnsafe() / 1_000_000n)
})

/** Whether a renewal that was sent at `sentAt` still protects. Pure. */
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

  const isHeld = () => isProtected(sentAt, instantOf(clock))
  const write = Effect.gen(function* () {
    const now = instantOf(clock)
    const value = { actsOn: actsOn(), ...(lanes === 1 ? {} : { lanes }) }
    const { answer, revision: stored } = yield* replace(key, value, revision)
    revision = stored
    if (answer) return now
    // The key is gone, or the answer to the last write was lost. The next write goes on from what is there.
    if (stored === 0) sentAt = undefined
    return yield* new BusUnavailable({ operation: "renew a presence", detail: "another write came first" })
  }).pipe(Effect.timeout(`${presenceMs} millis`), oneAtATime.withPermits(1))

  /** After a gap others may have counted this dispatcher out, and answered removals that it has yet to see. */
  const renew = Effect.gen(function* () {
    const wasHeld = isHeld()
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
  const tell = Effect.ignore(Effect.suspend(() => (isHeld() ? write : Effect.void)))
  const presence: Presence = { isHeld, tell }
  return presence
})
