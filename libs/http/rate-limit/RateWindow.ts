/**
 * Rate limits: a bound on a key's calls in any stretch of a window. One interface, and two places to count: this
 * process, or a store that all replicas share (`sharedWindow`). Only a window that refuses describes itself in headers;
 * on other answers they would describe a window that decides nothing.
 */
import { Clock, Effect } from "effect"

export interface RateWindow<E = never> {
  /** Names the window in refusals. */
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly take: (key: string) => Effect.Effect<RateDecision, E>
  /** Undoes a `take` that turned out not to count. */
  readonly giveBack: (key: string, taken: RateTaken) => Effect.Effect<void, E>
}

interface RateWindowOptions {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  /** Beyond this number the key with the oldest last take is forgotten. */
  readonly keysMax?: number
}

const keysMaxDefault = 10_000

/** Counts in this process. */
export const rateWindow = ({ name, limit, windowMs, keysMax = keysMaxDefault }: RateWindowOptions): RateWindow => {
  // In the order of their last takes.
  const logs = new Map<string, RateLog>()
  const keep = (key: string, log: RateLog) => {
    logs.delete(key)
    for (const oldest of logs.keys()) {
      if (logs.size < keysMax) break
      logs.delete(oldest)
    }
    logs.set(key, log)
  }
  const take = (key: string) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const { decision, log } = takeFromLog(logs.get(key) ?? [], { limit, windowMs }, nowMs)
      if (decision._tag === "Taken") keep(key, log)
      return decision
    })
  const giveBack = (key: string, { takenAtMs }: RateTaken) =>
    Effect.sync(() => {
      const log = giveBackToLog(logs.get(key) ?? [], takenAtMs)
      // The key keeps its place in the order: giving back is not a take.
      if (log.length === 0) logs.delete(key)
      else if (logs.has(key)) logs.set(key, log)
    })
  return { name, limit, windowMs, take, giveBack }
}

/** Headers that describe the window that refused; an API that spells them differently provides its own. */
export const rateLimitHeaders = ({
  limit,
  retryAfterMs
}: Pick<RateRefused, "limit" | "retryAfterMs">): Readonly<Record<string, string>> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": "0",
  "ratelimit-reset": String(Math.ceil(retryAfterMs / 1_000))
})

/**
 * A sliding window as the times of the calls that it admitted. Any stretch of `windowMs` holds at most `limit` of them,
 * and a refusal names the exact moment at which the oldest one leaves. In ascending order; at most `limit` of them.
 */
export type RateLog = ReadonlyArray<number>

export interface RateTaken {
  readonly _tag: "Taken"
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the next slot is free. */
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

/** The decision, and the log to keep if a slot was taken. */
export const takeFromLog = (
  log: RateLog,
  { limit, windowMs }: Rule,
  nowMs: number
): { readonly decision: RateDecision; readonly log: RateLog } => {
  const live = log.filter((atMs) => atMs + windowMs > nowMs)
  const blocking = live.at(-limit)
  if (blocking !== undefined) return { decision: refusedUntil(limit, blocking + windowMs, nowMs), log: live }
  // Another replica's clock can be ahead, so the order of the log is the order of the takes.
  const takenAtMs = Math.max(nowMs, live.at(-1) ?? nowMs)
  const next = [...live, takenAtMs]
  const resetMs = (next[0] ?? takenAtMs) + windowMs - nowMs
  return { decision: { _tag: "Taken", limit, remaining: limit - next.length, resetMs, takenAtMs }, log: next }
}

export const refusedUntil = (limit: number, resetAtMs: number, nowMs: number): RateRefused => {
  const retryAfterMs = resetAtMs - nowMs
  return { _tag: "Refused", limit, remaining: 0, resetMs: retryAfterMs, resetAtMs, retryAfterMs }
}

/** The log without one call taken at that time. */
export const giveBackToLog = (log: RateLog, takenAtMs: number): RateLog => {
  const index = log.lastIndexOf(takenAtMs)
  return index < 0 ? log : log.toSpliced(index, 1)
}
