/**
 * What the agents of a dispatch have spent, by their own lines as they come, until a report tells it. However a phase
 * ends, called off, too long or broken in the middle, what was spent by then is not lost with it.
 */
import type { ReportedUsage } from "#contracts"

export interface Spending {
  readonly add: (usage: ReportedUsage) => void
  /** What no report has told yet, to be part of one; it is told then. */
  readonly told: () => { readonly usage?: ReportedUsage }
}

export const spending = (): Spending => {
  let untold: ReportedUsage | undefined
  return {
    add: (usage) => void (untold = untold === undefined ? usage : sum(untold, usage)),
    told: () => {
      const usage = untold
      untold = undefined
      return usage === undefined ? {} : { usage }
    }
  }
}

const sum = (one: ReportedUsage, other: ReportedUsage): ReportedUsage => ({
  tokensInput: one.tokensInput + other.tokensInput,
  tokensOutput: one.tokensOutput + other.tokensOutput,
  tokensCached: one.tokensCached + other.tokensCached,
  costMicroUsd: one.costMicroUsd + other.costMicroUsd,
  elapsedMs: one.elapsedMs + other.elapsedMs
})
