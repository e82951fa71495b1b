/**
 * What is known of a release: its name and branches, the work items linked to it and how each of them ended, and how
 * far its deep audit is. Linked items are counted up to a bound, so that the record of a decision stays small.
 */
import { Schema } from "effect"
import { Project, releaseStates } from "../entities.ts"
import { Count, EpochMs, Id, text, Uuid } from "../primitives.ts"
import { Branch } from "./work-item-state.ts"

export const ReleaseStateName = Schema.Literals(releaseStates)
export type ReleaseStateName = typeof ReleaseStateName.Type

// Each takes some seventy bytes of every record of its release.
export const releaseItemsMax = 1_000
/** Pairs of branches whose conflict is remembered at once; a release has one or two. */
export const syncConflictsMax = 8
export const releaseNameCharactersMax = 200
export const releaseReasonCharactersMax = 500

/** `open`: in the pipeline. Every end but done and cancelled is `failed`. */
export const releaseItemOutcomes = ["open", "done", "failed", "cancelled"] as const
export const ReleaseItem = Schema.Struct({ workItemId: Uuid, outcome: Schema.Literals(releaseItemOutcomes) })
export interface ReleaseItem extends Schema.Schema.Type<typeof ReleaseItem> {}

/** What a release is from its creation on. Its items start at `sourceBranch`, which is merged to `targetBranch`. */
export const releaseOrigin = {
  name: Schema.String.check(Schema.isBetweenLength(1, releaseNameCharactersMax)),
  project: Project,
  sourceBranch: Branch,
  targetBranch: Branch,
  description: Schema.NullOr(text(2_000))
}

export const ReleaseDeepAudit = Schema.Struct({
  auditId: Id,
  /** The last iteration that ended; 0 before the first. */
  iteration: Count,
  maxIterations: Schema.NullOr(Count),
  blockingFindings: Count,
  totalFindings: Count
})
export interface ReleaseDeepAudit extends Schema.Schema.Type<typeof ReleaseDeepAudit> {}

export const ReleaseState = Schema.Struct({
  ...releaseOrigin,
  state: ReleaseStateName,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When it came to its present end (published, failed, abandoned); null before one. */
  endedAtMs: Schema.NullOr(EpochMs),
  items: Schema.Array(ReleaseItem).check(Schema.isMaxLength(releaseItemsMax)),
  /** Of the present review, or the last one; null before the first. */
  deepAudit: Schema.NullOr(ReleaseDeepAudit),
  mergeSha: Schema.NullOr(text(64)),
  forgeReleaseUrl: Schema.NullOr(text(1_000)),
  /** Told, and not to be told again before. */
  syncConflicts: Schema.Array(
    Schema.Struct({ sourceBranch: Branch, targetBranch: Branch, notBeforeMs: EpochMs })
  ).check(Schema.isMaxLength(syncConflictsMax))
}).annotate({ identifier: "ReleaseState" })
export interface ReleaseState extends Schema.Schema.Type<typeof ReleaseState> {}

/** What the views show of a release beside its project, state and times. */
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

/** The deadlines of a release's row: `ended` when it came to an end that stays. */
export const releaseDeadlines = ["ended"] as const
export type ReleaseDeadline = (typeof releaseDeadlines)[number]
