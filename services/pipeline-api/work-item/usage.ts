/**
 * What an item has cost. The latest iteration's share is summed over all that was reported of that iteration; a new
 * iteration, or a new run, begins its own. The total only grows, and stops at the largest exact integer.
 */
import type { ReportedUsage, WorkItemCost, WorkItemFactOf, WorkItemState } from "#contracts"
import { type Announcers, type Evolvers, silent } from "./decisions.ts"
import { iterationOf } from "./phases.ts"

/** The fact of a report that tells what was spent. */
export const usageAdded = (item: WorkItemState, usage: ReportedUsage): WorkItemFactOf<"UsageAdded"> => ({
  _tag: "UsageAdded",
  projectId: item.projectId,
  iteration: item.dispatch?.iteration ?? iterationOf(item, item.phase),
  // Reserved on the wire: nothing is counted there yet.
  tokensReasoning: 0,
  ...usage
})

const plus = (left: number, right: number) => Math.min(left + right, Number.MAX_SAFE_INTEGER)

const sum = (left: WorkItemCost, right: WorkItemCost): WorkItemCost => ({
  tokensInput: plus(left.tokensInput, right.tokensInput),
  tokensOutput: plus(left.tokensOutput, right.tokensOutput),
  tokensReasoning: plus(left.tokensReasoning, right.tokensReasoning),
  tokensCached: plus(left.tokensCached, right.tokensCached),
  costMicroUsd: plus(left.costMicroUsd, right.costMicroUsd),
  elapsedMs: plus(left.elapsedMs, right.elapsedMs)
})

const free: WorkItemCost = {
  tokensInput: 0,
  tokensOutput: 0,
  tokensReasoning: 0,
  tokensCached: 0,
  costMicroUsd: 0,
  elapsedMs: 0
}

export const usageEvolvers = {
  UsageAdded: (item, { iteration, ...cost }) => {
    const { run, usage } = item
    const isSame = usage !== null && usage.run === run && usage.iteration === iteration
    return {
      usage: { run, iteration, ...sum(isSame ? usage : free, cost) },
      usageTotal: sum(item.usageTotal ?? free, cost)
    }
  }
} satisfies Partial<Evolvers>

export const usageAnnouncers = { UsageAdded: silent } satisfies Partial<Announcers>
