/**
 * Whether somebody outside is reached (a chain's nodes, a facilitator), as its newest call found, in a gauge. A call
 * that found them proves it for as long as a check pauses, so that a check asks nothing while calls are made.
 */
import { Clock, Effect } from "effect"
import { defineGauge, Metrics } from "#runtime"

export interface Reach {
  readonly note: (isReached: boolean) => void
  /** The newest call was well, and recent. For checks; once one has asked, the gauge is kept. */
  readonly isProven: () => boolean
}

const provenForMs = 10_000

export const openReach = Effect.fnUntraced(function* (
  gauge: typeof chainUnreachable,
  network: string
): Effect.fn.Return<Reach, never, Metrics> {
  const unreachable = (yield* Metrics).gauge(gauge)
  const clock = yield* Clock.Clock
  let wellAtMs: number | undefined
  // Without checks the failure of a last call would stand for ever.
  let isChecked = false
  return {
    note: (isReached) => {
      wellAtMs = isReached ? clock.currentTimeMillisUnsafe() : undefined
      if (isChecked) unreachable.set({ network }, isReached ? 0 : 1)
    },
    isProven: () => {
      isChecked = true
      return wellAtMs !== undefined && clock.currentTimeMillisUnsafe() - wellAtMs < provenForMs
    }
  }
})

export const chainUnreachable = defineGauge({
  name: "x402_chain_unreachable",
  help: "1 while no node of the network answers a verifier or a settler: by the newest call, and every ten seconds by a check where no call told.",
  labels: ["network"]
})

export const facilitatorUnreachable = defineGauge({
  name: "x402_facilitator_unreachable",
  help: "1 while the facilitator of a network gives no answer, or one of 5xx, 408 or 429, to a verifier or a settler: by the newest call, and every ten seconds by a check (`GET /supported`) where no call told.",
  labels: ["network"]
})

export const reachMetrics = [chainUnreachable, facilitatorUnreachable]
