/**
 * Rate limits within this process. Several windows are taken all or none, and the one that lets a caller wait
 * longest is the one that refuses: its headers are sent, and only then, for on other answers they would
 * describe a window that decides nothing.
 */
import { Clock, Effect } from "effect"
import { type RateDecision, rateTable, type RateTableOptions } from "./rate-table.ts"
import { rateLimited } from "./wire-errors.ts"

export interface RateWindowOptions extends Omit<RateTableOptions, "keysMax"> {
  /** Names the window in refusals. */
  readonly source: string
  readonly keysMax?: number
}

export interface RateWindow {
  readonly source: string
  readonly limit: number
  readonly look: (key: string, cost?: number) => Effect.Effect<RateDecision>
  readonly take: (key: string, cost?: number) => Effect.Effect<RateDecision>
  /** Undoes a `take` that turned out not to count. */
  readonly giveBack: (key: string, cost?: number) => Effect.Effect<void>
}

export type Refusal = Extract<RateDecision, { readonly _tag: "Refused" }>

const keysMaxDefault = 10_000

export const rateWindow = ({ source, limit, windowMs, keysMax = keysMaxDefault }: RateWindowOptions): RateWindow => {
  const table = rateTable({ limit, windowMs, keysMax })
  const at = <A>(decide: (nowMs: number) => A) => Effect.map(Clock.currentTimeMillis, decide)
  return {
    source,
    limit,
    look: (key, cost) => at((nowMs) => table.look(key, nowMs, cost)),
    take: (key, cost) => at((nowMs) => table.take(key, nowMs, cost)),
    giveBack: (key, cost) => at((nowMs) => table.giveBack(key, nowMs, cost))
  }
}

/** Headers that describe the window that refused; an API with its own spelling gives its own. */
export const rateLimitHeaders = ({ limit, retryAfterMs }: Refusal): Readonly<Record<string, string>> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": "0",
  "ratelimit-reset": String(Math.ceil(retryAfterMs / 1_000))
})

/** Takes from every window, or from none and fails with 429. */
export const takeFrom = Effect.fnUntraced(function* (
  windows: ReadonlyArray<RateWindow>,
  key: string,
  headersOf: (refusal: Refusal) => Readonly<Record<string, string>> = rateLimitHeaders
) {
  let longest: { readonly source: string; readonly refusal: Refusal } | undefined
  for (const { source, look } of windows) {
    const decision = yield* look(key)
    if (decision._tag === "Refused" && decision.retryAfterMs > (longest?.refusal.retryAfterMs ?? -1)) {
      longest = { source, refusal: decision }
    }
  }
  if (longest !== undefined) {
    const { source, refusal } = longest
    return yield* rateLimited(refusal.retryAfterMs / 1_000, source, headersOf(refusal))
  }
  for (const { take } of windows) yield* take(key)
})
