/**
 * The spending of a dispatch's agents, by their own lines as they come, until a report carries it. However a phase
 * ends, called off, too long or broken in the middle, its spending is not lost.
 */
import type { ReportedUsage } from "#pipeline/contract"

export interface Spending {
  readonly add: (usage: ReportedUsage) => void
  /** The spending that no report has carried yet; it counts as reported from here on. */
  readonly takeUnreported: () => { readonly usage?: ReportedUsage }
}

export const spending = (): Spending => {
  let unreported: ReportedUsage | undefined
  return {
    add: (usage) => void (unreported = unreported === undefined ? usage : sum(unreported, usage)),
    takeUnreported: () => {
      const usage = unreported
      unreported = undefined
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
