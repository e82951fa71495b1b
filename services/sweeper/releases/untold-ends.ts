/**
 * Linked items whose end, or return, their release was not told of. Whoever follows the log tells it; here releases
 * whose counts do not fit their items are told again, item by item: what a release knows already changes nothing. Items
 * that are gone are not in the views, so a release may know of more that ended, never of fewer. Pure.
 */
import type { ReleaseCommandOf, WorkItemStateName } from "#contracts"
import type { PlannedCommand } from "../planned-command.ts"
import type { SeenRelease, SeenWorkItem } from "../view-summaries.ts"

export interface ReleasesInput {
  readonly releases: ReadonlyArray<SeenRelease>
  readonly items: ReadonlyArray<SeenWorkItem>
  readonly nowMs: number
  /** An item is left to whoever follows the log for so long after it changed. */
  readonly patienceMs: number
}

type Outcome = ReleaseCommandOf<"EndWorkItem">["outcome"]

const outcomes: Readonly<Partial<Record<WorkItemStateName, Outcome>>> = {
  Done: "done",
  NoActionRequired: "done",
  Cancelled: "cancelled",
  Failed: "failed",
  AuditFailed: "failed",
  MergeConflictResolutionFailed: "failed",
  AbandonedAfterRecoveryAttempts: "failed"
}

const outcomeOf = ({ state }: SeenWorkItem): Outcome | undefined =>
  (outcomes as Readonly<Record<string, Outcome | undefined>>)[state]

export const untoldEnds = ({ releases, items, nowMs, patienceMs }: ReleasesInput): ReadonlyArray<PlannedCommand> => {
  const byRelease = Map.groupBy(items, ({ summary }) => summary.releaseId)
  return releases.flatMap((release) => {
    const linked = byRelease.get(release.id) ?? []
    if (fits(release, linked)) return []
    return linked.filter(({ updatedAtMs }) => nowMs - updatedAtMs >= patienceMs).map((item) => telling(release, item))
  })
}

const fits = ({ summary }: SeenRelease, linked: ReadonlyArray<SeenWorkItem>) => {
  const count = (outcome: Outcome | undefined) => linked.filter((item) => outcomeOf(item) === outcome).length
  return (
    summary.openCount === count(undefined) &&
    summary.doneCount >= count("done") &&
    summary.failedCount >= count("failed") &&
    summary.cancelledCount >= count("cancelled")
  )
}

const telling = (release: SeenRelease, item: SeenWorkItem): PlannedCommand => {
  const outcome = outcomeOf(item)
  return {
    entity: "release",
    id: release.id,
    // The item's record is what is told: of one release there are many.
    commandId: `sweep.linked-item.${item.sequence}`,
    command:
      outcome === undefined
        ? { _tag: "ReturnWorkItem", workItemId: item.id }
        : { _tag: "EndWorkItem", workItemId: item.id, outcome },
    finding: "linked-item"
  }
}
