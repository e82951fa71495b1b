/**
 * What the views show of a work item beside its project, state and times: lists show it, pickup and sweeps go by it.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Uuid } from "../primitives.ts"
import { FailureKind, WorkItemKind, WorkItemPhase } from "./work-item-state.ts"

const MaybeText = Schema.NullOr(Schema.String)

export const WorkItemSummary = Schema.Struct({
  title: Schema.String,
  kind: WorkItemKind,
  agent: Schema.String,
  /** Who alone is to take the phase, since it was moved there; null: whoever `agent` stands for. */
  assignedAgent: MaybeText,
  /** Higher goes first; among equals the older. */
  priority: Schema.Int,
  /** In hand, waited for, or to be taken up again. */
  phase: Schema.NullOr(WorkItemPhase),
  /** A runner may take that phase, from `notBeforeMs` on. */
  isReady: Schema.Boolean,
  notBeforeMs: Schema.NullOr(EpochMs),
  dispatchId: Schema.NullOr(Id),
  runner: Schema.NullOr(Id),
  agentAtWork: MaybeText,
  run: Ordinal,
  auditedIterations: Count,
  externalId: MaybeText,
  releaseId: MaybeText,
  originCheckWorkItemId: Schema.NullOr(Uuid),
  repositoryUrl: Schema.String,
  baseBranch: Schema.String,
  workBranch: Schema.String,
  lastError: MaybeText,
  failureKind: Schema.NullOr(FailureKind),
  failedAgent: MaybeText,
  openQuestionIds: Schema.Array(Schema.String),
  recoveryAttempts: Count,
  quotaRetries: Count,
  transientRetries: Count,
  upstreamPushAttempts: Count,
  conflictReworks: Count,
  terminalFailures: Count,
  pullRequestNumber: Schema.NullOr(Count),
  pullRequestUrl: MaybeText,
  isPullRequestOpen: Schema.Boolean,
  costTotalMicroUsd: Schema.NullOr(Count)
})
export interface WorkItemSummary extends Schema.Schema.Type<typeof WorkItemSummary> {}

/**
 * The deadlines of a work item's row: `lastProgress` when its runner was heard of last, `stale` when an item that
 * should move changed last, `retryAt` and `quotaResetAt` when its wait is over, `ended` when it came to its end.
 * Those that tell of the past are compared with a moment as long ago as is tolerated.
 */
export const workItemDeadlines = ["lastProgress", "stale", "retryAt", "quotaResetAt", "ended"] as const
export type WorkItemDeadline = (typeof workItemDeadlines)[number]
