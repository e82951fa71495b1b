/**
 * A release: its state, its commands and the facts of its log. Operators close, reopen and abandon it; the deep audit
 * reports its iterations; the pipeline reports how linked items end. The number of linked items is bounded, so that a
 * decision's record stays small.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Project, releaseStates, text, Uuid, WaitMs } from "#base"
import { AgentName, Branch, instructionsCharactersMax, titleCharactersMax } from "./work-item/state.ts"

export const ReleaseStateName = Schema.Literals(releaseStates)
export type ReleaseStateName = typeof ReleaseStateName.Type

// Each linked item takes about seventy bytes of every record of its release.
export const releaseItemsMax = 1_000
/** How many pairs of branches have their conflict remembered at once; a release has one or two. */
export const syncConflictsMax = 8
export const releaseNameCharactersMax = 200
export const releaseReasonCharactersMax = 500

/** `open`: in the pipeline. Every end except done and cancelled is `failed`. */
export const releaseItemOutcomes = ["open", "done", "failed", "cancelled"] as const
export const ReleaseItem = Schema.Struct({ workItemId: Uuid, outcome: Schema.Literals(releaseItemOutcomes) })
export interface ReleaseItem extends Schema.Schema.Type<typeof ReleaseItem> {}

/**
 * The fields that a release has from its creation on. Its items start at `sourceBranch`, which is merged to
 * `targetBranch`.
 */
const releaseOrigin = {
  name: Schema.String.check(Schema.isBetweenLength(1, releaseNameCharactersMax)),
  project: Project,
  sourceBranch: Branch,
  targetBranch: Branch,
  description: Schema.NullOr(text(2_000))
}

const ReleaseDeepAudit = Schema.Struct({
  auditId: Id,
  /** The last iteration that ended; 0 before the first. */
  iteration: Count,
  maxIterations: Schema.NullOr(Count),
  blockingFindings: Count,
  totalFindings: Count
})
interface ReleaseDeepAudit extends Schema.Schema.Type<typeof ReleaseDeepAudit> {}

export const ReleaseState = Schema.Struct({
  ...releaseOrigin,
  state: ReleaseStateName,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When it reached its current end (published, failed, abandoned); null before one. */
  endedAtMs: Schema.NullOr(EpochMs),
  items: Schema.Array(ReleaseItem).check(Schema.isMaxLength(releaseItemsMax)),
  /** The current review, or the last one; null before the first. */
  deepAudit: Schema.NullOr(ReleaseDeepAudit),
  mergeSha: Schema.NullOr(text(64)),
  forgeReleaseUrl: Schema.NullOr(text(1_000)),
  /** Reported conflicts, each with the time before which it is not reported again. */
  syncConflicts: Schema.Array(
    Schema.Struct({ sourceBranch: Branch, targetBranch: Branch, notBeforeMs: EpochMs })
  ).check(Schema.isMaxLength(syncConflictsMax))
}).annotate({ identifier: "ReleaseState" })
export interface ReleaseState extends Schema.Schema.Type<typeof ReleaseState> {}

/** The fields that views show of a release beside its project, state and times. */
export const ReleaseSummary = Schema.Struct({
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  sourceBranch: Schema.String,
  targetBranch: Schema.String,
  workItemCount: Count,
  openCount: Count,
  doneCount: Count,
  failedCount: Count,
  cancelledCount: Count,
  auditId: Schema.NullOr(Id),
  auditIteration: Count,
  auditMaxIterations: Schema.NullOr(Count),
  blockingFindings: Count,
  mergeSha: Schema.NullOr(Schema.String),
  forgeReleaseUrl: Schema.NullOr(Schema.String)
})
export interface ReleaseSummary extends Schema.Schema.Type<typeof ReleaseSummary> {}

/** The deadlines of a release's row: `ended` when it reached a permanent end. */
const releaseDeadlines = ["ended"] as const
export type ReleaseDeadline = (typeof releaseDeadlines)[number]

const command = Schema.TaggedStruct
const reason = Schema.NullOr(text(releaseReasonCharactersMax))

/** The item that is to fix the findings of a deep audit's iteration. */
export const ReleaseRemediation = Schema.Struct({
  workItemId: Uuid,
  title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax)),
  instructions: Schema.NullOr(text(instructionsCharactersMax)),
  agent: AgentName
})
export interface ReleaseRemediation extends Schema.Schema.Type<typeof ReleaseRemediation> {}

/** A command carries the ids of the items that it may create. */
const releaseCommands = {
  Create: command("Create", releaseOrigin),
  /** An item was created that names this release. No effect if it is already linked. */
  AddWorkItem: command("AddWorkItem", { workItemId: Uuid, title: text(titleCharactersMax) }),
  /** No effect on an item that is not linked. */
  EndWorkItem: command("EndWorkItem", {
    workItemId: Uuid,
    outcome: Schema.Literals(["done", "failed", "cancelled"])
  }),
  /** An ended item is in the pipeline again: resumed, requeued, delegated. */
  ReturnWorkItem: command("ReturnWorkItem", { workItemId: Uuid }),
  Close: command("Close", { reason }),
  BeginDeepAudit: command("BeginDeepAudit", { auditId: Id, maxIterations: Schema.NullOr(Ordinal) }),
  /**
   * `auditId` null: the audit in progress. `remediation`: dispatched when findings block and another iteration is
   * allowed; null: not wanted.
   */
  CompleteAuditIteration: command("CompleteAuditIteration", {
    auditId: Schema.NullOr(Id),
    iteration: Ordinal,
    maxIterations: Ordinal,
    blockingFindings: Count,
    totalFindings: Count,
    remediation: Schema.NullOr(ReleaseRemediation)
  }),
  /** The release was merged to its target; `forgeReleaseUrl` where a forge release was made of it. */
  Publish: command("Publish", { mergeSha: Schema.NullOr(text(64)), forgeReleaseUrl: Schema.NullOr(text(1_000)) }),
  Reopen: command("Reopen", { reason }),
  Abandon: command("Abandon", { reason }),
  /** A report of the sync service. `sweepIntervalMs`: how long the same conflict is not reported again. */
  ReportSyncConflict: command("ReportSyncConflict", {
    sourceBranch: Branch,
    targetBranch: Branch,
    sweepIntervalMs: WaitMs
  }),
  /** Removes the release if it ended permanently no later than that. */
  Retire: command("Retire", { endedBeforeMs: EpochMs })
}

export const ReleaseCommand = Schema.Union(Object.values(releaseCommands))
export type ReleaseCommand = typeof ReleaseCommand.Type
export type ReleaseCommandTag = ReleaseCommand["_tag"]
export type ReleaseCommandOf<Tag extends ReleaseCommandTag> = Extract<ReleaseCommand, { readonly _tag: Tag }>

const fact = Schema.TaggedStruct
const { Abandon, AddWorkItem, Close, Publish, Reopen } = releaseCommands

/**
 * After a `RemediationDispatched`, followers of the log create the item. The end of an item is private; everything else
 * becomes an event.
 */
const releaseFacts = {
  Created: fact("Created", releaseOrigin),
  WorkItemAdded: fact("WorkItemAdded", { workItemId: Uuid, title: AddWorkItem.fields.title }),
  /** A linked item's current outcome. */
  WorkItemStood: fact("WorkItemStood", ReleaseItem.fields),
  Closed: fact("Closed", { reason: Close.fields.reason }),
  /** The release is closed, and items that are linked to it failed or were cancelled. */
  FailedWorkItemsFound: fact("FailedWorkItemsFound", {}),
  DeepAuditBegan: fact("DeepAuditBegan", { auditId: Id, maxIterations: Schema.NullOr(Ordinal) }),
  AuditIterationCompleted: fact("AuditIterationCompleted", {
    iteration: Ordinal,
    maxIterations: Ordinal,
    blockingFindings: Count,
    totalFindings: Count
  }),
  /** An item with that id is to be created in this release's project and branch; it is linked already. */
  RemediationDispatched: fact("RemediationDispatched", {
    ...ReleaseRemediation.fields,
    projectId: Id,
    baseBranch: Branch,
    iteration: Ordinal,
    blockingFindings: Count
  }),
  Published: fact("Published", {
    mergeSha: Publish.fields.mergeSha,
    forgeReleaseUrl: Publish.fields.forgeReleaseUrl
  }),
  Failed: fact("Failed", { iteration: Ordinal, maxIterations: Ordinal, blockingFindings: Count }),
  Reopened: fact("Reopened", { reason: Reopen.fields.reason }),
  Abandoned: fact("Abandoned", { reason: Abandon.fields.reason }),
  SyncConflictFound: fact("SyncConflictFound", { sourceBranch: Branch, targetBranch: Branch, notBeforeMs: EpochMs }),
  Retired: fact("Retired", {})
}

export const ReleaseFact = Schema.Union(Object.values(releaseFacts))
export type ReleaseFact = typeof ReleaseFact.Type
export type ReleaseFactTag = ReleaseFact["_tag"]
export type ReleaseFactOf<Tag extends ReleaseFactTag> = Extract<ReleaseFact, { readonly _tag: Tag }>
