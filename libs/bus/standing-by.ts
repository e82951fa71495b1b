/**
 * When a relay that stands by takes up the work: pure. Its twin gives no other sign of life than the cursor, which it
 * moves as long as it has something to do. So one that stands still while something waits is dead, or slow enough to be
 * helped; one that stands still for want of work cannot be told from a dead one, and is succeeded after a while too. To
 * be wrong costs one lost write, for nothing is written but on the condition that the cursor is still the one read.
 */

/** The stored cursor as it was just seen. */
export interface Sighting {
  /** Of the cursor in the target stream: it changes with every step. */
  readonly sequence: number
  /** Does the source have anything after the cursor? */
  readonly isBehind: boolean
  /** Would this relay leave it as it is? Not, where a twin with another configuration made it its own. */
  readonly isOurs: boolean
}

export interface StandingBy {
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
export const seen = (
  before: StandingBy | undefined,
  { sequence, isBehind, isOurs }: Sighting,
  nowMs: number
): StandingBy =>
  before === undefined || before.sequence !== sequence
    ? { sequence, sinceMs: nowMs, behindSinceMs: isBehind ? nowMs : null, isOurs }
    : { ...before, behindSinceMs: isBehind ? (before.behindSinceMs ?? nowMs) : null }

/** From a twin that may only be idle nothing is taken by one of another configuration: a newer one began after it. */
export const takesUp = ({ sinceMs, behindSinceMs, isOurs }: StandingBy, patience: Patience, nowMs: number): boolean =>
  (isOurs && nowMs - sinceMs >= patience.quietMs) ||
  (behindSinceMs !== null && nowMs - behindSinceMs >= patience.behindMs)
