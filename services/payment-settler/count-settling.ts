/** What came of a try to settle a payment, for whoever watches: by network, and how long those took that have ended. */
import { Clock, Effect } from "effect"
import { Metrics } from "#runtime"
import { settlementSeconds, settlementTries } from "./metrics.ts"
import type { Settling } from "./settling.ts"

export const settlingCounter = Effect.map(Metrics, (metrics) => {
  const tries = metrics.counter(settlementTries)
  const seconds = metrics.histogram(settlementSeconds)
  return (network: string, requestedAtMs: number, settling: Exclude<Settling, { readonly _tag: "Stale" }>) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const isEnded = settling._tag === "Ended"
      tries.inc({ network, outcome: isEnded ? settling.how : "later" })
      if (isEnded) seconds.observe({ network }, (nowMs - requestedAtMs) / 1_000)
    })
})
