/**
 * A sliding window as the times of the calls that it let through. Pure. Any stretch of `windowMs` holds at most `limit`
 * of them, and a refusal names the very moment at which the oldest one leaves.
 */

/** In ascending order; at most `limit` of them. */
export type RateLog = ReadonlyArray<number>

export interface RateTaken {
  readonly _tag: "Taken"
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the next place becomes free. */
  readonly resetMs: number
  readonly takenAtMs: number
}

export interface RateRefused {
  readonly _tag: "Refused"
  readonly limit: number
  readonly remaining: 0
  readonly resetMs: number
  readonly resetAtMs: number
  readonly retryAfterMs: number
}

export type RateDecision = RateTaken | RateRefused

interface Rule {
  readonly limit: number
  readonly windowMs: number
}

/** The decision, and the log to keep when a place was taken. */
export const takeFromLog = (
  log: RateLog,
  { limit, windowMs }: Rule,
  nowMs: number
): { readonly decision: RateDecision; readonly log: RateLog } => {
  const live = log.filter((atMs) => atMs + windowMs > nowMs)
  const blocking = live.at(-limit)
  if (blocking !== undefined) return { decision: refusedUntil(limit, blocking + windowMs, nowMs), log: live }
  // Another replica's clock may be ahead, so the order of the log is the order of the takes.
  const takenAtMs = Math.max(nowMs, live.at(-1) ?? nowMs)
  const next = [...live, takenAtMs]
  const resetMs = (next[0] ?? takenAtMs) + windowMs - nowMs
  return { decision: { _tag: "Taken", limit, remaining: limit - next.length, resetMs, takenAtMs }, log: next }
}

export const refusedUntil = (limit: number, resetAtMs: number, nowMs: number): RateRefused => {
  const retryAfterMs = resetAtMs - nowMs
  return { _tag: "Refused", limit, remaining: 0, resetMs: retryAfterMs, resetAtMs, retryAfterMs }
}

/** The log without one call that was taken at that time. */
export const giveBackToLog = (log: RateLog, takenAtMs: number): RateLog => {
  const index = log.lastIndexOf(takenAtMs)
  return index < 0 ? log : log.toSpliced(index, 1)
}
