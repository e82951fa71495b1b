/** What each fact makes of a release. Nothing here decides; what grows is bounded. */
import type { DecisionContext } from "#actors/definition"
import {
  type ReleaseFact,
  type ReleaseFactOf,
  type ReleaseFactTag,
  type ReleaseState,
  type ReleaseStateName,
  syncConflictsMax
} from "#contracts"
import { linked, stood } from "./linked-items.ts"

type Evolvers = {
  readonly [Tag in Exclude<ReleaseFactTag, "Created">]: (
    release: ReleaseState,
    fact: ReleaseFactOf<Tag>,
    context: DecisionContext
  ) => Partial<ReleaseState>
}

const created = ({ _tag, ...origin }: ReleaseFactOf<"Created">, { atMs }: DecisionContext): ReleaseState => ({
  ...origin,
  state: "open",
  createdAtMs: atMs,
  updatedAtMs: atMs,
  endedAtMs: null,
  items: [],
  deepAudit: null,
  mergeSha: null,
  forgeReleaseUrl: null,
  syncConflicts: []
})

const ended = (state: ReleaseStateName, { atMs }: DecisionContext) => ({ state, endedAtMs: atMs })

const evolvers: Evolvers = {
  WorkItemAdded: (release, { workItemId }) => ({ items: linked(release, workItemId) }),
  WorkItemStood: (release, { workItemId, outcome }) => ({ items: stood(release, workItemId, outcome) }),
  Closed: () => ({ state: "closed" }),
  FailedWorkItemsFound: () => ({}),
  DeepAuditBegan: (_release, { auditId, maxIterations }) => ({
    state: "in_review",
    deepAudit: { auditId, iteration: 0, maxIterations, blockingFindings: 0, totalFindings: 0 }
  }),
  AuditIterationCompleted: ({ deepAudit }, { _tag, ...iteration }) => ({
    deepAudit: deepAudit === null ? null : { ...deepAudit, ...iteration }
  }),
  RemediationDispatched: (release, { workItemId }) => ({ items: linked(release, workItemId) }),
  Published: (_release, { mergeSha, forgeReleaseUrl }, context) => ({
    ...ended("published", context),
    mergeSha,
    forgeReleaseUrl
  }),
  Failed: (_release, _fact, context) => ended("failed", context),
  Reopened: () => ({ state: "open", endedAtMs: null }),
  Abandoned: (_release, _fact, context) => ended("abandoned", context),
  SyncConflictFound: ({ syncConflicts }, { _tag, ...found }, { atMs }) => ({
    syncConflicts: [
      ...syncConflicts.filter(
        (told) =>
          told.notBeforeMs > atMs &&
          !(told.sourceBranch === found.sourceBranch && told.targetBranch === found.targetBranch)
      ),
      found
    ].slice(-syncConflictsMax)
  }),
  Retired: () => ({})
}

export const evolve = (release: ReleaseState | null, fact: ReleaseFact, context: DecisionContext) => {
  if (fact._tag === "Created") return created(fact, context)
  if (release === null) return null
  // A fact and its own function are of one tag; the compiler cannot tell that of two looked up apart.
  type Evolve = (release: ReleaseState, fact: ReleaseFact, context: DecisionContext) => Partial<ReleaseState>
  const changed = (evolvers[fact._tag] as Evolve)(release, fact, context)
  return { ...release, ...changed, updatedAtMs: context.atMs }
}
