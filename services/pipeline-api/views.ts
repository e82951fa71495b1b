/**
 * The API's views: work items, projects with their spend, releases, agents and the pickup queue, each from its state,
 * or for lists from its row. Also the rows behind lists, pickup and follow-ups, with their summaries parsed. Pure.
 */
import {
  type AgentBench,
  agentOfId,
  type AgentPause,
  type AgentState,
  AgentSummary,
  type ConcernedItem,
  type ProjectSettings,
  projectSettingsDefault,
  type ProjectState,
  ProjectSummary,
  type QueueState,
  type ReleaseState,
  ReleaseSummary,
  type WorkItemState,
  WorkItemSummary
} from "#pipeline/contract"
import type { ConfigurationFile } from "#configuration"
import { type Hold, isoTime } from "#base"
import type {
  AgentView,
  ProjectRow,
  ProjectView,
  PutProjectRequest,
  QueueView,
  ReleaseRow,
  ReleaseView,
  WorkItemRow,
  WorkItemView
} from "#pipeline/api"
import { agentHold, agentHolds, eventItem, isQueuePaused, isReady, projectHolds } from "#pipeline"
import { summaryReader, type SummaryRow } from "#actors"

export type SeenWorkItem = SummaryRow<WorkItemSummary>
export type SeenAgent = SummaryRow<AgentSummary>
export type SeenProject = SummaryRow<ProjectSummary>
export type SeenRelease = SummaryRow<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readProjects = summaryReader(ProjectSummary)
export const readReleases = summaryReader(ReleaseSummary)

export const maybeTime = (epochMs: number | null): string | null => (epochMs === null ? null : isoTime(epochMs))

const microUsdPerUsd = 1_000_000
export const usdOf = (microUsd: number): number => microUsd / microUsdPerUsd
export const microUsdOf = (usd: number): number => Math.round(usd * microUsdPerUsd)

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

/** `spendMicroUsd`: over the last thirty days; null: not summed yet. */
export const projectView = (
  id: string,
  project: ProjectState,
  { sequence, spendMicroUsd = null }: { readonly sequence: number; readonly spendMicroUsd?: number | null }
): ProjectView => {
  const { settings, manualPause, automaticPause } = project
  return {
    id,
    displayName: settings.displayName,
    repositoryUrl: settings.repositoryUrl,
    state: isQueuePaused(project) ? "Paused" : "Running",
    holds: projectHolds(project),
    manualPause: manualPause === null ? null : queuePauseOf(manualPause, manualPause.pausedBy),
    automaticPause: automaticPause === null ? null : queuePauseOf(automaticPause, null),
    monthlyBudgetUsd: settings.budgetMicroUsd === null ? null : usdOf(settings.budgetMicroUsd),
    warningThresholdPct: settings.warningThresholdPct,
    hardCapPct: settings.hardCapPct,
    maxInFlightItems: settings.maxInFlightItems,
    maxInFlightItemsPerAgent: settings.maxInFlightItemsPerAgent,
    workItems: settings.workItems,
    budget: budgetOf(project, spendMicroUsd),
    createdAt: isoTime(project.createdAtMs),
    updatedAt: isoTime(project.updatedAtMs),
    sequence
  }
}

const queuePauseOf = ({ reason, pausedAtMs }: { reason: string; pausedAtMs: number }, pausedBy: string | null) => ({
  reason,
  pausedBy,
  pausedAt: isoTime(pausedAtMs)
})

const budgetOf = ({ settings, budget }: ProjectState, spendMicroUsd: number | null): ProjectView["budget"] => {
  const { budgetMicroUsd } = settings
  if (budgetMicroUsd === null || spendMicroUsd === null) return null
  return {
    currentSpendUsd: usdOf(spendMicroUsd),
    budgetUsd: usdOf(budgetMicroUsd),
    pct: (spendMicroUsd / budgetMicroUsd) * 100,
    band: budget.band
  }
}

export const projectRow = ({ id, state, createdAtMs, updatedAtMs, summary }: SeenProject): ProjectRow => {
  const { settings } = summary
  return {
    id,
    displayName: settings.displayName,
    repositoryUrl: settings.repositoryUrl,
    state: state as ProjectRow["state"],
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs)
  }
}

/** Omitted fields are as configured, or unset. */
export const projectSettingsOf = (
  request: PutProjectRequest,
  { WarningThresholdPct, HardCapPct }: ConfigurationFile["Budget"]
): ProjectSettings => ({
  ...projectSettingsDefault,
  displayName: request.displayName,
  repositoryUrl: request.repositoryUrl,
  budgetMicroUsd: request.monthlyBudgetUsd == null ? null : microUsdOf(request.monthlyBudgetUsd),
  warningThresholdPct: request.warningThresholdPct ?? WarningThresholdPct,
  hardCapPct: request.hardCapPct ?? HardCapPct,
  maxInFlightItems: request.maxInFlightItems ?? null,
  maxInFlightItemsPerAgent: request.maxInFlightItemsPerAgent ?? null,
  workItems: overridesOf(request.workItems ?? {})
})

const overridesOf = ({
  delegatesAfterFailures,
  ...others
}: NonNullable<PutProjectRequest["workItems"]>): ProjectSettings["workItems"] => ({
  ...(Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)) as ProjectSettings["workItems"]),
  // Null is a value here, distinct from undefined.
  ...(delegatesAfterFailures === undefined ? {} : { delegatesAfterFailures })
})

export const releaseView = (id: string, release: ReleaseState, sequence: number): ReleaseView => ({
  id,
  name: release.name,
  projectId: release.project.id,
  state: release.state,
  sourceBranch: release.sourceBranch,
  targetBranch: release.targetBranch,
  createdAt: isoTime(release.createdAtMs),
  updatedAt: isoTime(release.updatedAtMs),
  description: release.description,
  endedAt: maybeTime(release.endedAtMs),
  workItems: release.items,
  deepAudit: release.deepAudit,
  mergeSha: release.mergeSha,
  forgeReleaseUrl: release.forgeReleaseUrl,
  sequence
})

export const releaseRow = ({
  id,
  project,
  state,
  createdAtMs,
  updatedAtMs,
  summary: release
}: SeenRelease): ReleaseRow => {
  return {
    id,
    name: release.name,
    projectId: project ?? "",
    state: state as ReleaseRow["state"],
    sourceBranch: release.sourceBranch,
    targetBranch: release.targetBranch,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
    workItemCount: release.workItemCount,
    openCount: release.openCount,
    doneCount: release.doneCount,
    failedCount: release.failedCount,
    cancelledCount: release.cancelledCount
  }
}

/** `agent` null: it has no state yet. */
export const agentView = (
  id: string,
  agent: AgentState | null,
  { sequence, nowMs }: { readonly sequence: number; readonly nowMs: number }
): AgentView => ({
  ...namesOf(id),
  state: agentHold(agent, nowMs) ?? "Available",
  holds: agent === null ? [] : agentHolds(agent, nowMs),
  pause: pauseOf(agent?.pause ?? null),
  bench: benchOf(agent?.bench ?? null),
  quotaResetAt: maybeTime(agent?.quota?.resetAtMs ?? null),
  sequence
})

export const agentRow = (row: SeenAgent, nowMs: number): AgentView => {
  const { id, sequence, summary } = row
  const { pause, bench, quotaResetAtMs } = summary
  const causes = { pause, bench, quota: quotaOf(row) }
  return {
    ...namesOf(id),
    state: agentHold(causes, nowMs) ?? "Available",
    holds: agentHolds(causes, nowMs),
    pause: pauseOf(pause),
    bench: benchOf(bench),
    quotaResetAt: maybeTime(quotaResetAtMs),
    sequence
  }
}

const quotaOf = ({ summary, updatedAtMs }: SeenAgent): AgentState["quota"] =>
  summary.isQuotaExhausted ? { hitAtMs: summary.quotaHitAtMs ?? updatedAtMs, resetAtMs: summary.quotaResetAtMs } : null

const namesOf = (id: string) => {
  const { agentKind, agentInstanceId } = agentOfId(id)
  return { agent: agentKind, agentInstanceId }
}

const pauseOf = (pause: AgentPause | null): AgentView["pause"] =>
  pause === null
    ? null
    : {
        reason: pause.reason,
        pausedBy: pause.pausedBy,
        pausedAt: isoTime(pause.pausedAtMs),
        expiresAt: maybeTime(pause.expiresAtMs)
      }

const benchOf = (bench: AgentBench | null): AgentView["bench"] =>
  bench === null
    ? null
    : { cause: bench.cause, reason: bench.reason, category: bench.category, since: isoTime(bench.sinceMs) }

/** `queue` null: it has never been paused. */
export const queueView = (queue: QueueState | null, sequence: number): QueueView => {
  const pause = queue?.pause ?? null
  return {
    state: pause === null ? "Running" : "Paused",
    holds: pause === null ? [] : [holdOf(pause)],
    reason: pause?.reason ?? null,
    pausedBy: pause?.pausedBy ?? null,
    pausedAt: maybeTime(pause?.pausedAtMs ?? null),
    sequence
  }
}

const holdOf = ({ reason, pausedBy, pausedAtMs }: NonNullable<QueueState["pause"]>): Hold => ({
  cause: "manual",
  reason,
  pausedBy,
  since: isoTime(pausedAtMs),
  until: null
})
