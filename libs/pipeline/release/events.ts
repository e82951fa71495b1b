/**
 * The events of a release. The envelope carries the release in place of a work item. Details that the specification
 * leaves open stay so: counts of the linked items where the release changes its state, ids where somebody has to look
 * at an item, the reason that an operator gave.
 */
import type { EventDraft, DecisionContext } from "#actors/definition"
import type { ReleaseFact, ReleaseFactOf, ReleaseFactTag, ReleaseState } from "#contracts"
import { countsOf, idsOf } from "./linked-items.ts"

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
