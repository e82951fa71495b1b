/**
 * The events of a release. The envelope carries the release instead of a work item. Details that the specification
 * leaves open stay so: counts of the linked items where the release changes its state, ids where an operator must look
 * at an item, the reason that an operator gave.
 *
 * The work items linked to a release, and the outcome of each. Their number is bounded; an item that is not linked
 * changes nothing.
 */
import type { DecisionContext, EventDraft } from "#actors/definition"
import {
  type ReleaseFact,
  type ReleaseFactOf,
  type ReleaseFactTag,
  type ReleaseItem,
  releaseItemsMax,
  type ReleaseState
} from "#pipeline/contract"

type Outcome = ReleaseItem["outcome"]

export const findItem = ({ items }: Pick<ReleaseState, "items">, workItemId: string): ReleaseItem | undefined =>
  items.find((item) => item.workItemId === workItemId)

/** The linked items with one more in the pipeline, while there is room. */
export const linked = (release: ReleaseState, workItemId: string): ReadonlyArray<ReleaseItem> =>
  release.items.length >= releaseItemsMax || findItem(release, workItemId) !== undefined
    ? release.items
    : [...release.items, { workItemId, outcome: "open" }]

export const withOutcome = (release: ReleaseState, workItemId: string, outcome: Outcome): ReadonlyArray<ReleaseItem> =>
  release.items.map((item) => (item.workItemId === workItemId ? { workItemId, outcome } : item))

/** The item ended, but not well. */
export const isLost = (outcome: Outcome): boolean => outcome === "failed" || outcome === "cancelled"

export const hasLost = ({ items }: Pick<ReleaseState, "items">): boolean => items.some(({ outcome }) => isLost(outcome))

export const idsOf = ({ items }: Pick<ReleaseState, "items">, outcome: Outcome): ReadonlyArray<string> =>
  items.filter((item) => item.outcome === outcome).map(({ workItemId }) => workItemId)

export const countsOf = (release: Pick<ReleaseState, "items">) => ({
  workItemCount: release.items.length,
  openCount: idsOf(release, "open").length,
  doneCount: idsOf(release, "done").length,
  failedCount: idsOf(release, "failed").length,
  cancelledCount: idsOf(release, "cancelled").length
})

type Event = readonly [event: string, details: Readonly<Record<string, unknown>>] | undefined
type EventsByFact = {
  readonly [Tag in ReleaseFactTag]: (release: ReleaseState, fact: ReleaseFactOf<Tag>) => Event
}

const silent = () => undefined

const eventsByFact: EventsByFact = {
  Created: ({ sourceBranch, targetBranch, description }) => [
    "release.created",
    { sourceBranch, targetBranch, description }
  ],
  WorkItemAdded: (release, { workItemId, title }) => [
    "release.work_item_added",
    { workItemId, title, workItemCount: release.items.length }
  ],
  WorkItemStood: silent,
  Closed: (release, { reason }) => ["release.closed", { reason, ...countsOf(release) }],
  FailedWorkItemsFound: (release) => [
    "release.has_failed_work_items",
    {
      ...countsOf(release),
      failedWorkItemIds: idsOf(release, "failed"),
      cancelledWorkItemIds: idsOf(release, "cancelled")
    }
  ],
  DeepAuditBegan: (release, { auditId, maxIterations }) => [
    "release.in_review",
    { auditId, maxIterations, ...countsOf(release) }
  ],
  AuditIterationCompleted: (_release, { _tag, ...iteration }) => ["release.deep_audit_iteration_complete", iteration],
  RemediationDispatched: (_release, { workItemId, title, iteration, blockingFindings }) => [
    "release.deep_audit_remediation_dispatched",
    { workItemId, title, iteration, blockingFindings }
  ],
  Published: ({ sourceBranch, targetBranch }, { mergeSha, forgeReleaseUrl }) => [
    "release.published",
    { sourceBranch, targetBranch, mergeSha, forgeReleaseUrl }
  ],
  Failed: (_release, { iteration, maxIterations, blockingFindings }) => [
    "release.failed",
    { reason: "max audit iterations exceeded", iteration, maxIterations, blockingFindings }
  ],
  Reopened: (release, { reason }) => ["release.reopened", { reason, ...countsOf(release) }],
  Abandoned: (release, { reason }) => ["release.abandoned", { reason, ...countsOf(release) }],
  SyncConflictFound: (_release, { sourceBranch, targetBranch }) => [
    "release.sync_conflict",
    { sourceBranch, targetBranch }
  ],
  Retired: silent
}

export const toEvents = (
  release: ReleaseState | null,
  fact: ReleaseFact,
  { id }: DecisionContext
): ReadonlyArray<EventDraft> => {
  if (release === null) return []
  // A fact and its function have the same tag, which the compiler cannot see when each is looked up apart.
  type ToEvent = (release: ReleaseState, fact: ReleaseFact) => Event
  const made = (eventsByFact[fact._tag] as ToEvent)(release, fact)
  if (made === undefined) return []
  const { name, state, project } = release
  const [event, details] = made
  return [{ event, release: { id, name, state }, project, details }]
}
