/**
 * What a release answers: first the table of its states, then the guards of each command. Items may fail after the
 * release was closed, and are told of then; an item that was told of is not told of again until it fails anew.
 */
import { Result } from "effect"
import { type ActorDefinition, type DecisionContext, EntityNotFound, Refusal } from "#actors/definition"
import {
  type ReleaseCommandOf,
  type ReleaseFact,
  type ReleaseCommand,
  releaseItemsMax,
  type ReleaseState
} from "#contracts"
import { isLateIteration, isUnblocked, iterationCompleted } from "./deep-audit.ts"
import { findItem, hasLost, isLost } from "./linked-items.ts"
import { refusalOf, type ReleaseInput, releaseTransitions } from "./transitions.ts"

type Decision = Result.Result<ReadonlyArray<ReleaseFact>, Refusal>
type Deciders = {
  readonly [Tag in ReleaseInput]: (
    release: ReleaseState,
    command: ReleaseCommandOf<Tag>,
    context: DecisionContext
  ) => Decision
}

const decided = (...facts: ReadonlyArray<ReleaseFact>): Decision => Result.succeed(facts)
const nothing = decided()
const refused = ({ state }: ReleaseState, reason: string): Decision => Result.fail(new Refusal({ state, reason }))

const failedWorkItemsFound = { _tag: "FailedWorkItemsFound" } as const

const itemDeciders = {
  AddWorkItem: (release, { workItemId, title }) => {
    // A remediation is linked when it is dispatched, and then created under its release's name.
    if (findItem(release, workItemId) !== undefined) return nothing
    if (release.state !== "open") return refused(release, refusalOf("AddWorkItem"))
    return release.items.length >= releaseItemsMax
      ? refused(release, `${releaseItemsMax} work items are the most`)
      : decided({ _tag: "WorkItemAdded", workItemId, title })
  },
  EndWorkItem: (release, { workItemId, outcome }) => {
    const item = findItem(release, workItemId)
    if (item === undefined || item.outcome === outcome) return nothing
    const isClosed = release.state === "closed" || release.state === "in_review"
    const isNewlyLost = isClosed && isLost(outcome) && !isLost(item.outcome)
    const stood = { _tag: "WorkItemStood", workItemId, outcome } as const
    return isNewlyLost ? decided(stood, failedWorkItemsFound) : decided(stood)
  },
  ReturnWorkItem: (release, { workItemId }) => {
    const item = findItem(release, workItemId)
    return item === undefined || item.outcome === "open"
      ? nothing
      : decided({ _tag: "WorkItemStood", workItemId, outcome: "open" })
  }
} satisfies Partial<Deciders>

const deciders: Deciders = {
  ...itemDeciders,
  Close: (release, { reason }) => {
    const closed = { _tag: "Closed", reason } as const
    return hasLost(release) ? decided(closed, failedWorkItemsFound) : decided(closed)
  },
  BeginDeepAudit: (release, { auditId, maxIterations }) => {
    if (release.state !== "in_review") return decided({ _tag: "DeepAuditBegan", auditId, maxIterations })
    return auditId === release.deepAudit?.auditId ? nothing : refused(release, "another deep audit of it runs")
  },
  CompleteAuditIteration: (release, command) => decided(...iterationCompleted(release, command)),
  Publish: (release, { mergeSha, forgeReleaseUrl }) =>
    isUnblocked(release)
      ? decided({ _tag: "Published", mergeSha, forgeReleaseUrl })
      : refused(release, "its deep audit has not passed"),
  Reopen: (_release, { reason }) => decided({ _tag: "Reopened", reason }),
  Abandon: (_release, { reason }) => decided({ _tag: "Abandoned", reason }),
  ReportSyncConflict: (release, { sourceBranch, targetBranch, sweepIntervalMs }, { atMs }) => {
    const told = release.syncConflicts.find(
      (conflict) => conflict.sourceBranch === sourceBranch && conflict.targetBranch === targetBranch
    )
    if (told !== undefined && atMs < told.notBeforeMs) return nothing
    return decided({ _tag: "SyncConflictFound", sourceBranch, targetBranch, notBeforeMs: atMs + sweepIntervalMs })
  },
  Retire: (release, { endedBeforeMs }) =>
    release.endedAtMs !== null && release.endedAtMs <= endedBeforeMs
      ? decided({ _tag: "Retired" })
      : refused(release, "it has not ended long enough ago")
}

export const decide: ActorDefinition<ReleaseState | null, ReleaseCommand, ReleaseFact>["decide"] = (
  release,
  command,
  context
) => {
  if (command._tag === "Create") {
    return release === null
      ? decided({ ...command, _tag: "Created" })
      : refused(release, "a release of that id is there already")
  }
  if (release === null) return Result.fail(new EntityNotFound({ entity: "release", id: context.id }))
  if (command._tag === "CompleteAuditIteration" && isLateIteration(release, command)) return nothing
  if (releaseTransitions[release.state][command._tag] === undefined) return refused(release, refusalOf(command._tag))
  // A command and its own decider are of one tag; the compiler cannot tell that of two looked up apart.
  type Decide = (release: ReleaseState, command: ReleaseCommand, context: DecisionContext) => Decision
  return (deciders[command._tag] as Decide)(release, command, context)
}
