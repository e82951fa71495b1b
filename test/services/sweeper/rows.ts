/** Rows of the views as sweeps see them, to be changed where a test looks. */
import type { AgentSummary, ReleaseSummary, WorkItemSummary } from "#pipeline/contract"
import type { SeenAgent, SeenRelease, SeenWorkItem } from "../../../services/sweeper/seen-entities.ts"

export const nowMs = 1_700_000_000_000
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The time of day, for tests against a real server. */
export const present = () => Date.now()

/** A UUID of that number. */
export const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`

const plain: WorkItemSummary = {
  title: "Mend the gate",
  kind: "act",
  agent: "smith",
  assignedAgent: null,
  priority: 5,
  phase: "work",
  isReady: false,
  notBeforeMs: null,
  dispatchId: null,
  runner: null,
  agentAtWork: null,
  run: 1,
  auditedIterations: 0,
  externalId: null,
  releaseId: null,
  originCheckWorkItemId: null,
  repositoryUrl: "https://git.example/garden.git",
  baseBranch: "main",
  workBranch: "starling/1",
  lastError: null,
  failureKind: null,
  failedAgent: null,
  openQuestionIds: [],
  recoveryAttempts: 0,
  quotaRetries: 0,
  transientRetries: 0,
  upstreamPushAttempts: 0,
  conflictReworks: 0,
  terminalFailures: 0,
  pullRequestNumber: null,
  pullRequestUrl: null,
  isPullRequestOpen: false,
  costTotalMicroUsd: null
}

type ItemChanges = Partial<Omit<SeenWorkItem, "summary">> & { readonly summary?: Partial<WorkItemSummary> }

export const itemRow = ({ summary, ...changes }: ItemChanges = {}): SeenWorkItem => ({
  entity: "workitem",
  id: uuid(1),
  project: "garden",
  state: "Working",
  createdAtMs: nowMs - dayMs,
  updatedAtMs: nowMs,
  deadlinesMs: {},
  sequence: 7,
  ...changes,
  summary: { ...plain, ...summary }
})

type AgentChanges = Partial<Omit<SeenAgent, "summary">> & { readonly summary?: Partial<AgentSummary> }

export const agentRow = ({ summary, ...changes }: AgentChanges = {}): SeenAgent => {
  const id = changes.id ?? "smith"
  const [agentKind = id, agentInstanceId = null] = id.split("/")
  return {
    entity: "agent",
    id,
    project: null,
    state: "Available",
    createdAtMs: nowMs - dayMs,
    updatedAtMs: nowMs,
    deadlinesMs: {},
    sequence: 9,
    ...changes,
    summary: {
      agentKind,
      agentInstanceId,
      pause: null,
      bench: null,
      quotaResetAtMs: null,
      isQuotaExhausted: false,
      restore: null,
      fastFails: 0,
      ...summary
    }
  }
}

export const releaseRow = (summary: Partial<ReleaseSummary> = {}): SeenRelease => ({
  entity: "release",
  id: uuid(900),
  project: "garden",
  state: "open",
  createdAtMs: nowMs - dayMs,
  updatedAtMs: nowMs,
  deadlinesMs: {},
  sequence: 11,
  summary: {
    name: "Spring",
    description: null,
    sourceBranch: "release/1",
    targetBranch: "main",
    workItemCount: 0,
    openCount: 0,
    doneCount: 0,
    failedCount: 0,
    cancelledCount: 0,
    auditId: null,
    auditIteration: 0,
    auditMaxIterations: null,
    blockingFindings: 0,
    mergeSha: null,
    forgeReleaseUrl: null,
    ...summary
  }
})
