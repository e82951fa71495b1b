/** One of every input of a work item, as plain as it can be. */
import type {
  WorkItemCommand,
  WorkItemCommandTag,
  WorkItemPhase,
  WorkItemReport,
  WorkItemReportKind,
  WorkItemSettings
} from "#pipeline/contract"
import { finding, freshId, itemId, startMs } from "./item-at-work.ts"

const of = { reportId: "r", workItemId: itemId, dispatchId: "d" }

const samples: { readonly [Kind in WorkItemReportKind]: Extract<WorkItemReport, { readonly kind: Kind }> } = {
  progress: { ...of, kind: "progress" },
  "iteration-ended": { ...of, kind: "iteration-ended", outcome: "committed", commitSha: "abc1234", durationMs: 1 },
  "audit-ended": { ...of, kind: "audit-ended", findings: [finding("Warning")], durationMs: 1 },
  "auditor-timed-out": { ...of, kind: "auditor-timed-out", auditor: "style", agent: "owl", sandboxId: null },
  "merge-ended": { ...of, kind: "merge-ended", outcome: "merged", mergeSha: "feed123", reason: null },
  "conflict-rework-ended": { ...of, kind: "conflict-rework-ended", outcome: "resolved", reason: null },
  "pull-request-opened": {
    ...of,
    kind: "pull-request-opened",
    pullRequestNumber: 7,
    pullRequestUrl: "https://git.example/pulls/7",
    mergedSha: null
  },
  "push-ended": { ...of, kind: "push-ended", outcome: "pushed", reason: null },
  "questions-asked": { ...of, kind: "questions-asked", questions: [{ questionId: "q", questionText: "Which?" }] },
  "suggestions-made": {
    ...of,
    kind: "suggestions-made",
    suggestions: [
      {
        title: "Oil it",
        rationale: "It creaks.",
        category: "other",
        severity: "minor",
        estimatedEffort: "tiny",
        filesReferenced: ["gate.ts"]
      }
    ]
  },
  "agent-stuck": { ...of, kind: "agent-stuck", stuckSeconds: 900 },
  "agent-died": { ...of, kind: "agent-died", reason: "exit 137" },
  "auth-failed": { ...of, kind: "auth-failed", reason: "auth", category: "Persistent" },
  "quota-hit": { ...of, kind: "quota-hit", reason: "quota", toAgent: null, toModel: null, resetAtMs: null },
  "transient-failed": { ...of, kind: "transient-failed", reason: "reset by peer" },
  failed: { ...of, kind: "failed", reason: "no", failureKind: "infra" },
  preempted: { ...of, kind: "preempted" },
  "check-verdict": { ...of, kind: "check-verdict", isMatched: true, answer: "yes", followUp: null },
  "recheck-completed": {
    kind: "recheck-completed",
    reportId: "r",
    workItemId: itemId,
    iteration: 1,
    answer: "yes",
    actionableAnswer: "no"
  }
}

/** Of the dispatch `d`. */
export const sampleReport = (kind: WorkItemReportKind): WorkItemReport => samples[kind]

export type PlainTag = Exclude<WorkItemCommandTag, "Create" | "Report">

export const plainTags: ReadonlyArray<PlainTag> = [
  "Dispatch",
  "Answer",
  "DismissQuestion",
  "Cancel",
  "Resume",
  "Delegate",
  "Recover",
  "AutoRetry",
  "ParkForAgent",
  "AgentResumed",
  "AgentRestoreRequeue",
  "RouteToConflictRework",
  "ForgetStaleHead",
  "Defer",
  "Retire"
]

/** Of the phase that the item is ready for; every time lies far away. */
export const sampleCommand = (tag: PlainTag, phase: WorkItemPhase, settings: WorkItemSettings): WorkItemCommand => {
  const commands: { readonly [Tag in PlainTag]: Extract<WorkItemCommand, { readonly _tag: Tag }> } = {
    Dispatch: {
      _tag: "Dispatch",
      dispatchId: freshId,
      phase,
      agent: "smith",
      model: null,
      agentInstanceId: null,
      runner: "forge-1",
      sandboxId: null,
      auditors: [],
      settings
    },
    Answer: { _tag: "Answer", questionId: "q", answer: "this" },
    DismissQuestion: { _tag: "DismissQuestion", questionId: "q", reason: null },
    Cancel: { _tag: "Cancel", reason: null, resolutionSha: null },
    Resume: { _tag: "Resume" },
    Delegate: { _tag: "Delegate", trigger: "operator", reason: "too hard", note: null },
    Recover: { _tag: "Recover", reason: "item-stale updatedAt", dispatchId: null },
    AutoRetry: { _tag: "AutoRetry", reason: "transient", triggeredBy: "startup", attempt: null },
    ParkForAgent: { _tag: "ParkForAgent", reason: "paused" },
    AgentResumed: { _tag: "AgentResumed" },
    AgentRestoreRequeue: {
      _tag: "AgentRestoreRequeue",
      restoredAgent: "smith",
      outageStartedAtMs: startMs,
      restoredAtMs: startMs + 10 ** 9
    },
    RouteToConflictRework: { _tag: "RouteToConflictRework", pullRequestNumber: 7, headSha: "abc1234" },
    ForgetStaleHead: { _tag: "ForgetStaleHead", pullRequestNumber: 7, headSha: "abc1234" },
    Defer: {
      _tag: "Defer",
      dispatchId: null,
      deferral: { kind: "budget", reason: "cap 5/5", suggestedRetryAtMs: startMs + 10 ** 10 }
    },
    Retire: { _tag: "Retire", endedBeforeMs: startMs + 10 ** 9 }
  }
  return commands[tag]
}
