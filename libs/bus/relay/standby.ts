/**
 * The standby of a relay that lost a write to its twin, and the rule by which it takes over. The cursor is the twin's
 * only sign of life. A cursor that stands still while source messages wait belongs to a dead twin, or a slow one; a
 * cursor that stands still for want of work is taken over after a while too. A wrong guess costs one lost write, for
 * each write expects the cursor it read.
 */
import { Clock, Effect, Option, Random } from "effect"
import type { Nats } from "../connection/connection.ts"
import type { BusError } from "../errors.ts"
import { lastOfSource, storedCursor } from "./cursor.ts"
import type { RelayOptions } from "./relay.ts"

// A read of one message, and only when the cursor has not moved one more.
const lookEveryMs = 250

/**
 * Checks a few times a second how far the twin has come, and returns when this relay should take over. `onMoved` gets
 * every cursor that a twin has stored.
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

/** The stored cursor, as just read. */
export interface Observation {
  /** The cursor's sequence in the target stream: it changes with every step. */
  readonly sequence: number
  /** Whether the source has anything after the cursor. */
  readonly isBehind: boolean
  /**
   * Whether this relay would leave the cursor as it is; false when a twin with another configuration made it its own.
   */
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
  /** How long the cursor may stand still while source messages wait. */
  readonly behindMs: number
  /** How long it may stand still at all. */
  readonly quietMs: number
}

// Longer than a collector or a slow disk delays a healthy relay. With the check in between, work goes on after 1.3 s at
// the latest. A half-written step that nothing came after waits for quietMs.
const behindMs = 500
const quietMs = 3_000

/** Between once and twice as long, so that of several standbys one is the first. `share` is from 0 to 1. */
export const patienceOf = (share: number): Patience => ({
  behindMs: behindMs * (1 + share),
  quietMs: quietMs * (1 + share)
})

/** `before` is undefined at first: observations from before a twin won say nothing of the twin. */
export const observe = (
  before: Standby | undefined,
  { sequence, isBehind, isOurs }: Observation,
  nowMs: number
): Standby =>
  before === undefined || before.sequence !== sequence
    ? { sequence, sinceMs: nowMs, behindSinceMs: isBehind ? nowMs : null, isOurs }
    : { ...before, behindSinceMs: isBehind ? (before.behindSinceMs ?? nowMs) : null }

/** A relay with another configuration takes nothing from a twin that may only be idle: a newer one began after it. */
export const takesOver = ({ sinceMs, behindSinceMs, isOurs }: Standby, patience: Patience, nowMs: number): boolean =>
  (isOurs && nowMs - sinceMs >= patience.quietMs) ||
  (behindSinceMs !== null && nowMs - behindSinceMs >= patience.behindMs)
