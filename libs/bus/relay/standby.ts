/**
 * The standby of a relay that lost a write to its twin, and when it takes over. The cursor is the twin's only sign of
 * life: one that stands still while something waits is a dead twin's, or a slow one's; one that stands still for want of
 * work is taken over after a while too. To be wrong costs one lost write, for each write expects the cursor it read.
 */
import { Clock, Effect, Option, Random } from "effect"
import type { Nats } from "../connection/connection.ts"
import type { BusError } from "../errors.ts"
import { lastOfSource, storedCursor } from "./cursor.ts"
import type { RelayOptions } from "./relay.ts"

// A read of one message, and only where the cursor has not moved one more.
const lookEveryMs = 250

/**
 * Looks a few times a second how far the twin has come, and returns when this relay should take up the work. `onMoved` is
 * told of every cursor that a twin is seen to have stored.
 */
export const untilNeeded = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>,
  onMoved: (cursor: Cursor) => Effect.Effect<void, never, R>
): Effect.fn.Return<void, BusError, R> {
  const patience = patienceOf(yield* Random.next)
  let state: Standby | undefined
  while (true) {
    options.loop.beat()
    const stored = yield* storedCursor(nats, options)
    if (Option.isNone(stored)) return
    const { sequence, record } = stored.value
    if (record.handedOver === true) return
    const isMoved = state?.sequence !== sequence
    if (isMoved) yield* onMoved(record.cursor)
    const isBehind = !isMoved && (yield* lastOfSource(nats, options)) > options.position(record.cursor)
    const nowMs = yield* Clock.currentTimeMillis
    state = observe(state, { sequence, isBehind, isOurs: options.isOurs(record.cursor) }, nowMs)
    if (takesOver(state, patience, nowMs)) return
    yield* Effect.sleep(lookEveryMs)
  }
})

/** The stored cursor as it was just seen. */
export interface Observation {
  /** Of the cursor in the target stream: it changes with every step. */
  readonly sequence: number
  /** Does the source have anything after the cursor? */
  readonly isBehind: boolean
  /** Would this relay leave it as it is? Not, where a twin with another configuration made it its own. */
  readonly isOurs: boolean
}

export interface Standby {
  readonly sequence: number
  /** When the cursor was first seen at this place. */
  readonly sinceMs: number
  /** Since when the source is known to have more; null while it is not. */
  readonly behindSinceMs: number | null
  readonly isOurs: boolean
}

export interface Patience {
  /** How long the cursor may stand still while something waits. */
  readonly behindMs: number
  /** How long it may stand still at all. */
  readonly quietMs: number
}

// Longer than a collector or a slow disk holds up a healthy relay; with the look between, work goes on after 1.3 s at
// the latest, also what a relay left half written that nothing came after: that waits for quietMs.
const behindMs = 500
const quietMs = 3_000

/** Between once and twice as long, so that of several that stand by one is the first. `share` is from 0 to 1. */
export const patienceOf = (share: number): Patience => ({
  behindMs: behindMs * (1 + share),
  quietMs: quietMs * (1 + share)
})

/** `before` is undefined at first: what was seen before a twin won says nothing of the twin. */
export const observe = (
  before: Standby | undefined,
  { sequence, isBehind, isOurs }: Observation,
  nowMs: number
): Standby =>
  before === undefined || before.sequence !== sequence
    ? { sequence, sinceMs: nowMs, behindSinceMs: isBehind ? nowMs : null, isOurs }
    : { ...before, behindSinceMs: isBehind ? (before.behindSinceMs ?? nowMs) : null }

/** From a twin that may only be idle nothing is taken by one of another configuration: a newer one began after it. */
export const takesOver = ({ sinceMs, behindSinceMs, isOurs }: Standby, patience: Patience, nowMs: number): boolean =>
  (isOurs && nowMs - sinceMs >= patience.quietMs) ||
  (behindSinceMs !== null && nowMs - behindSinceMs >= patience.behindMs)
