/**
 * The release actor: a collection of work items that is closed, reviewed in depth and published as one. A command is
 * checked against the table of states first, then its own guards. Items can still fail after the release was closed.
 * Each failure makes one event, and a second one only after the item failed again.
 */
import { Result, Schema } from "effect"
import {
  type ActorDefinition,
  type DecisionContext,
  EntityNotFound,
  type Projection,
  Refusal
} from "#actors/definition"
import {
  type ReleaseCommand,
  type ReleaseCommandOf,
  type ReleaseCommandTag,
  type ReleaseDeadline,
  ReleaseFact,
  type ReleaseFactOf,
  type ReleaseFactTag,
  releaseItemsMax,
  ReleaseState,
  type ReleaseStateName,
  type ReleaseSummary,
  syncConflictsMax
} from "#pipeline/contract"
import { countsOf, findItem, hasLost, isLost, linked, withOutcome, toEvents } from "./events.ts"

const decide: ActorDefinition<ReleaseState | null, ReleaseCommand, ReleaseFact>["decide"] = (
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
  // A command and its decider have the same tag, which the compiler cannot see when each is looked up apart.
  type Decide = (release: ReleaseState, command: ReleaseCommand, context: DecisionContext) => Decision
  return (deciders[command._tag] as Decide)(release, command, context)
}

const evolve = (release: ReleaseState | null, fact: ReleaseFact, context: DecisionContext) => {
  if (fact._tag === "Created") return created(fact, context)
  if (release === null) return null
  // A fact and its function have the same tag, which the compiler cannot see when each is looked up apart.
  type Evolve = (release: ReleaseState, fact: ReleaseFact, context: DecisionContext) => Partial<ReleaseState>
  const changed = (evolvers[fact._tag] as Evolve)(release, fact, context)
  return { ...release, ...changed, updatedAtMs: context.atMs }
}

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
    // A remediation is linked at its dispatch, so the command that follows its creation finds it here.
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
    const ended = { _tag: "WorkItemStood", workItemId, outcome } as const
    return isNewlyLost ? decided(ended, failedWorkItemsFound) : decided(ended)
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
    const earlier = release.syncConflicts.find(
      (conflict) => conflict.sourceBranch === sourceBranch && conflict.targetBranch === targetBranch
    )
    if (earlier !== undefined && atMs < earlier.notBeforeMs) return nothing
    return decided({ _tag: "SyncConflictFound", sourceBranch, targetBranch, notBeforeMs: atMs + sweepIntervalMs })
  },
  Retire: (release, { endedBeforeMs }) =>
    release.endedAtMs !== null && release.endedAtMs <= endedBeforeMs
      ? decided({ _tag: "Retired" })
      : refused(release, "it has not ended long enough ago")
}

// The deep audit. A blocking iteration requests an item to fix the findings, while another iteration is allowed;
// otherwise it fails the release. Iterations already counted, and those of a finished review, are late and change
// nothing.

type Completed = ReleaseCommandOf<"CompleteAuditIteration">

const isLateIteration = (release: ReleaseState, { auditId, iteration }: Completed): boolean => {
  const audit = release.deepAudit
  if (audit === null) return false
  if (release.state !== "in_review") return auditId === audit.auditId
  return (auditId !== null && auditId !== audit.auditId) || iteration <= audit.iteration
}

const iterationCompleted = (release: ReleaseState, command: Completed): ReadonlyArray<ReleaseFact> => {
  const { iteration, maxIterations, blockingFindings, totalFindings, remediation } = command
  const completed = {
    _tag: "AuditIterationCompleted",
    iteration,
    maxIterations,
    blockingFindings,
    totalFindings
  } as const
  if (blockingFindings === 0) return [completed]
  if (iteration >= maxIterations) {
    return [completed, { _tag: "Failed", iteration, maxIterations, blockingFindings }]
  }
  if (remediation === null || findItem(release, remediation.workItemId) !== undefined) return [completed]
  const { project, sourceBranch: baseBranch } = release
  return [
    completed,
    {
      _tag: "RemediationDispatched",
      ...remediation,
      projectId: project.id,
      baseBranch,
      iteration,
      blockingFindings
    }
  ]
}

/** No known finding blocks the release. */
const isUnblocked = ({ deepAudit }: ReleaseState): boolean => (deepAudit?.blockingFindings ?? 0) === 0

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
  WorkItemStood: (release, { workItemId, outcome }) => ({ items: withOutcome(release, workItemId, outcome) }),
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
        (earlier) =>
          earlier.notBeforeMs > atMs &&
          !(earlier.sourceBranch === found.sourceBranch && earlier.targetBranch === found.targetBranch)
      ),
      found
    ].slice(-syncConflictsMax)
  }),
  Retired: () => ({})
}

/** Null: no release of that id is known. */
export const release: ActorDefinition<ReleaseState | null, ReleaseCommand, ReleaseFact> = {
  entity: "release",
  state: Schema.NullOr(ReleaseState),
  fact: ReleaseFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve,
  toEvents,
  begins: ({ _tag }) => _tag === "Create",
  retires: (fact) => fact._tag === "Retired"
}

/** A release as lists and sweeps see it. */
export const releaseProjection: Projection<ReleaseState | null> = {
  entity: "release",
  state: Schema.NullOr(ReleaseState),
  show: (release) =>
    release === null
      ? undefined
      : {
          project: release.project.id,
          state: release.state,
          createdAtMs: release.createdAtMs,
          updatedAtMs: release.updatedAtMs,
          deadlinesMs: deadlinesOf(release),
          summary: { ...summaryOf(release) }
        }
}

// A failed release can be reopened, so it is never retired.
const deadlinesOf = ({ state, endedAtMs }: ReleaseState): Readonly<Partial<Record<ReleaseDeadline, number>>> =>
  endedAtMs !== null && releaseTransitions[state].Retire !== undefined ? { ended: endedAtMs } : {}

const summaryOf = (release: ReleaseState): ReleaseSummary => ({
  name: release.name,
  description: release.description,
  sourceBranch: release.sourceBranch,
  targetBranch: release.targetBranch,
  ...countsOf(release),
  auditId: release.deepAudit?.auditId ?? null,
  auditIteration: release.deepAudit?.iteration ?? 0,
  auditMaxIterations: release.deepAudit?.maxIterations ?? null,
  blockingFindings: release.deepAudit?.blockingFindings ?? 0,
  mergeSha: release.mergeSha,
  forgeReleaseUrl: release.forgeReleaseUrl
})

export type ReleaseInput = Exclude<ReleaseCommandTag, "Create">
type Row = Partial<Record<ReleaseInput, ReadonlyArray<ReleaseStateName>>>

/** Linked items reach their ends regardless of the release. */
const items = (state: ReleaseStateName) => ({ EndWorkItem: [state], ReturnWorkItem: [state] }) satisfies Row
/** The release's branch stays in step with its target until the release is over. */
const synced = (state: ReleaseStateName) => ({ ...items(state), ReportSyncConflict: [state] }) satisfies Row

export const releaseTransitions: Record<ReleaseStateName, Row> = {
  open: { ...synced("open"), AddWorkItem: ["open"], Close: ["closed"], Abandon: ["abandoned"] },
  closed: { ...synced("closed"), AddWorkItem: [], BeginDeepAudit: ["in_review"] },
  in_review: {
    ...synced("in_review"),
    AddWorkItem: [],
    BeginDeepAudit: [],
    CompleteAuditIteration: ["in_review", "failed"],
    Publish: ["published"]
  },
  failed: { ...synced("failed"), AddWorkItem: [], Reopen: ["open"] },
  published: { ...items("published"), AddWorkItem: [], Retire: ["published"] },
  abandoned: { ...items("abandoned"), AddWorkItem: [], Retire: ["abandoned"] }
}

const refusals: Record<ReleaseInput, string> = {
  AddWorkItem: "only an open release takes work items",
  EndWorkItem: "it takes no ends of items",
  ReturnWorkItem: "it takes no items back",
  Close: "only an open release can be closed",
  BeginDeepAudit: "only a closed release can be reviewed",
  CompleteAuditIteration: "no deep audit of it runs",
  Publish: "only a release in review can be published",
  Reopen: "only a failed release can be opened again",
  Abandon: "only an open release can be abandoned",
  ReportSyncConflict: "its branch is not synced any more",
  Retire: "only a release that is over can be retired"
}

/** Why a state does not accept a command, in words for its sender. */
export const refusalOf = (input: ReleaseInput): string => refusals[input]
