/**
 * The cost of an item. Each report counts once: the item remembers the hashes of the last reports, because a report can
 * be redelivered long after. Spent money counts however late its report is. The latest iteration's share is the sum of
 * all its reports; a new iteration, or a new run, begins its own. The total only grows, up to the largest exact
 * integer.
 */
import { hash } from "node:crypto"
import {
  countedMarkCharacters,
  countedReportsMax,
  type WorkItemCost,
  type WorkItemFactOf,
  type WorkItemReport,
  type WorkItemState
} from "#pipeline/contract"
import { type Concern, silent } from "./concern.ts"
import { iterationOf } from "./states.ts"

export const usage = {
  evolve: {
    UsageAdded: (item, { _tag, projectId: _projectId, run = item.run, iteration, countedAs = "", ...cost }) => ({
      usage: latest(item, { run, iteration, cost }),
      usageTotal: sum(item.usageTotal ?? free, cost),
      countedReports: `${countedAs}${item.countedReports ?? ""}`.slice(0, countedMarkCharacters * countedReportsMax)
    })
  },
  events: {
    UsageAdded: silent
  }
} satisfies Concern

/** The fact of a report with a cost; undefined for one without a cost, or already counted. */
export const usageAdded = (item: WorkItemState, report: WorkItemReport): WorkItemFactOf<"UsageAdded"> | undefined => {
  if (report.kind === "recheck-completed" || report.usage === undefined) return undefined
  const countedAs = hashOf(report.reportId)
  if (isCounted(item, countedAs)) return undefined
  const isOfLast = report.dispatchId === item.lastDispatchId
  return {
    _tag: "UsageAdded",
    projectId: item.projectId,
    run: item.lastDispatchIn?.run ?? item.run,
    iteration: isOfLast ? lastIteration(item) : null,
    countedAs,
    // Reserved on the wire: nothing is counted there yet.
    tokensReasoning: 0,
    ...report.usage
  }
}

const lastIteration = (item: WorkItemState) => item.lastDispatchIn?.iteration ?? iterationOf(item, item.phase)

const hashOf = (reportId: string) => hash("sha256", reportId, "base64url").slice(0, countedMarkCharacters)

const isCounted = ({ countedReports = "" }: WorkItemState, reportHash: string) => {
  let at = countedReports.indexOf(reportHash)
  // The match can straddle two neighbouring hashes: only a multiple of the length is one.
  while (at > 0 && at % countedMarkCharacters !== 0) at = countedReports.indexOf(reportHash, at + 1)
  return at >= 0
}

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

/** The cost of the latest iteration with a known cost. A cost without a known iteration counts only in the total. */
const latest = (
  item: WorkItemState,
  { run, iteration, cost }: { run: number; iteration: number | null; cost: WorkItemCost }
) => {
  const { usage } = item
  if (iteration === null) return usage ?? { run, iteration: lastIteration(item), ...cost }
  const isSame = usage !== null && usage.run === run && usage.iteration === iteration
  return { run, iteration, ...sum(isSame ? usage : free, cost) }
}
