/** A work item's row for lists and sweeps. It has a deadline only where somebody has to act by then. */
import { Schema } from "effect"
import type { Projection } from "#actors/definition"
import { type WorkItemDeadline, WorkItemState, type WorkItemSummary } from "#contracts"
import { isEnded, isParked, isReady } from "./states.ts"

export const workItemProjection: Projection<WorkItemState | null> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  show: (item) =>
    item === null
      ? undefined
      : {
          project: item.projectId,
          state: item.state,
          createdAtMs: item.createdAtMs,
          updatedAtMs: item.updatedAtMs,
          deadlinesMs: deadlinesOf(item),
          summary: { ...summaryOf(item) }
        }
}

const deadlinesOf = (item: WorkItemState): Readonly<Record<string, number>> => {
  // An item in a queue, for a runner or for delegation, is not stale, however long it takes.
  const isQueued = item.state === "Queued" || (item.state === "Delegated" && item.dispatch === null)
  const isMoving = !isQueued && !isParked(item.state) && !isEnded(item.state)
  const deadlines: Record<WorkItemDeadline, number | null> = {
    lastProgress: item.dispatch?.lastProgressAtMs ?? null,
    stale: isMoving ? item.updatedAtMs : null,
    retryAt: item.retryAtMs,
    quotaResetAt: item.quotaResetAtMs,
    ended: item.endedAtMs
  }
  return Object.fromEntries(Object.entries(deadlines).filter((entry): entry is [string, number] => entry[1] !== null))
}

const summaryOf = (item: WorkItemState): WorkItemSummary => ({
  title: item.title,
  kind: item.kind,
  agent: item.agent,
  assignedAgent: item.assignedAgent,
  priority: item.priority,
  phase: item.phase,
  isReady: isReady(item),
  notBeforeMs: item.notBeforeMs,
  dispatchId: item.dispatch?.dispatchId ?? null,
  runner: item.dispatch?.runner ?? null,
  agentAtWork: item.dispatch?.agent ?? null,
  run: item.run,
  auditedIterations: item.auditedIterations,
  externalId: item.externalId,
  releaseId: item.releaseId,
  originCheckWorkItemId: item.originCheckWorkItemId,
  repositoryUrl: item.project.repositoryUrl,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch,
  lastError: item.lastError,
  failureKind: item.failureKind,
  failedAgent: item.failedAgent,
  openQuestionIds: item.openQuestions.map(({ questionId }) => questionId),
  recoveryAttempts: item.recoveryAttempts,
  quotaRetries: item.quotaRetries,
  transientRetries: item.transientRetries,
  upstreamPushAttempts: item.upstreamPushAttempts,
  conflictReworks: item.conflictReworks,
  terminalFailures: item.terminalFailures,
  pullRequestNumber: item.pullRequest?.number ?? null,
  pullRequestUrl: item.pullRequest?.url ?? null,
  isPullRequestOpen: item.pullRequest !== null && item.pullRequest.mergedSha === null,
  costTotalMicroUsd: item.usageTotal?.costMicroUsd ?? null
})
