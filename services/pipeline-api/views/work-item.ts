/** A work item in the API's form: from its state, or for lists from its row. Pure. */
import { type ConcernedItem, isoTime, type WorkItemState } from "#contracts"
import type { WorkItemRow, WorkItemView } from "#contracts/pipeline-api"
import { eventItem, isReady } from "#pipeline"
import { maybeTime, type SeenWorkItem, usdOf } from "./rows.ts"

export const workItemView = (id: string, item: WorkItemState, sequence: number): WorkItemView => ({
  ...identity(id, item),
  instructions: item.instructions,
  project: item.project,
  running: runningOf(item),
  openQuestions: item.openQuestions.map(({ questionId, questionText, askedAtMs }) => ({
    questionId,
    questionText,
    askedAt: isoTime(askedAtMs)
  })),
  retryAt: maybeTime(item.retryAtMs),
  quotaResetAt: maybeTime(item.quotaResetAtMs),
  endedAt: maybeTime(item.endedAtMs),
  auditedIterations: item.auditedIterations,
  recoveryAttempts: item.recoveryAttempts,
  quotaRetries: item.quotaRetries,
  transientRetries: item.transientRetries,
  conflictReworks: item.conflictReworks,
  pullRequest: item.pullRequest,
  commitSha: item.commitSha,
  mergeSha: item.mergeSha,
  followupWorkItemId: item.followupWorkItemId,
  ...usageOf(item),
  sequence
})

const identity = (id: string, item: WorkItemState) => ({
  ...eventItem(id, item),
  state: item.state,
  kind: item.kind,
  priority: item.priority,
  phase: item.phase,
  releaseId: item.releaseId,
  originCheckWorkItemId: item.originCheckWorkItemId,
  failureKind: item.failureKind,
  isReady: isReady(item),
  notBefore: maybeTime(item.notBeforeMs)
})

const runningOf = ({ dispatch }: WorkItemState): WorkItemView["running"] => {
  if (dispatch === null) return null
  const { atMs, lastProgressAtMs, sandboxId: _sandboxId, model: _model, progressGrainMs: _grain, ...running } = dispatch
  return { ...running, dispatchedAt: isoTime(atMs), lastProgressAt: isoTime(lastProgressAtMs) }
}

const usageOf = ({ usageTotal }: WorkItemState): Pick<WorkItemView, "usageTotal"> => {
  if (usageTotal === null) return {}
  const { costMicroUsd, ...cost } = usageTotal
  return { usageTotal: { ...cost, costUsd: usdOf(costMicroUsd) } }
}

export const workItemRow = ({
  id,
  project,
  state,
  createdAtMs,
  updatedAtMs,
  summary: item
}: SeenWorkItem): WorkItemRow => {
  return {
    id,
    externalId: item.externalId,
    projectId: project ?? "",
    title: item.title,
    agent: item.agent,
    repositoryUrl: item.repositoryUrl,
    baseBranch: item.baseBranch,
    workBranch: item.workBranch,
    state: state as WorkItemRow["state"],
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
    lastError: item.lastError,
    upstreamPushAttempts: item.upstreamPushAttempts,
    kind: item.kind,
    priority: item.priority,
    phase: item.phase,
    releaseId: item.releaseId,
    originCheckWorkItemId: item.originCheckWorkItemId,
    failureKind: item.failureKind,
    isReady: item.isReady,
    notBefore: maybeTime(item.notBeforeMs),
    openQuestionIds: item.openQuestionIds,
    recoveryAttempts: item.recoveryAttempts,
    pullRequestUrl: item.pullRequestUrl,
    costUsd: item.costTotalMicroUsd === null ? null : usdOf(item.costTotalMicroUsd)
  }
}

/** An item and its project, as events of other entities carry them. */
export const concernedItem = (id: string, item: WorkItemState): ConcernedItem => ({
  workItem: eventItem(id, item),
  project: item.project
})
