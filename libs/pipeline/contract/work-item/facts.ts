/**
 * The facts of a work item, as its log records them. Facts are private: some become events, the others (created,
 * dispatched, usage, rationales) stay internal. Followers of the log read them to act on other entities: a follow-up to
 * create, spending to count, a release to inform.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, QuestionId, ResolutionSha, Uuid } from "#base"
import { recoveryReasons, retryFromPhases, workItemCommands, WorkItemDeferral } from "./commands.ts"
import { auditorsMax, ReportedFinding, ReportedSuggestion, workItemReports } from "./reports.ts"
import {
  AgentName,
  Branch,
  countedMarkCharacters,
  FailureKind,
  workItemCost,
  WorkItemDispatch,
  workItemOrigin,
  WorkItemPhase,
  WorkItemSettings,
  WorkItemStateName
} from "./state.ts"

const fact = Schema.TaggedStruct
const { Answer, AutoRetry, Cancel, Delegate, DismissQuestion } = workItemCommands
const reports = workItemReports
const MaybeText = Schema.NullOr(Schema.String)

/** A phase that moves from its agent to another one, or to none if none is left. */
const handover = {
  phase: WorkItemPhase,
  iteration: Ordinal,
  reason: Schema.String,
  fromAgent: AgentName,
  fromModel: Schema.NullOr(AgentName)
}

const lifecycle = {
  Created: fact("Created", { ...workItemOrigin, workBranch: Branch }),
  /** `from`: the state in which the item was taken. */
  Dispatched: fact("Dispatched", {
    dispatch: WorkItemDispatch,
    auditors: Schema.Array(Schema.String).check(Schema.isMaxLength(auditorsMax)),
    settings: WorkItemSettings,
    from: WorkItemStateName
  }),
  Progressed: fact("Progressed", {}),
  /**
   * `projectId`: the project that paid. `iteration` null: that of a dispatch before the last, unknown by now.
   * `countedAs`: the mark of the report with the cost, by which a repeat is recognized.
   */
  UsageAdded: fact("UsageAdded", {
    projectId: Id,
    run: Schema.optionalKey(Ordinal),
    iteration: Schema.NullOr(Ordinal),
    countedAs: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(countedMarkCharacters))),
    ...workItemCost
  }),
  IterationCompleted: fact("IterationCompleted", {
    iteration: Ordinal,
    phase: Schema.Literals(["work", "rework"]),
    commitSha: MaybeText,
    durationMs: Count
  }),
  WorkCompleted: fact("WorkCompleted", { commitSha: MaybeText }),
  EndedWithoutAction: fact("EndedWithoutAction", {}),
  Completed: fact("Completed", {}),
  Failed: fact("Failed", { error: Schema.String, failureKind: FailureKind, agent: Schema.NullOr(AgentName) }),
  /**
   * Comes before the `Failed` of an item whose agent's credentials are refused; the agent's own actor reports the
   * agent.
   */
  AuthFailed: fact("AuthFailed", {
    agent: AgentName,
    agentInstanceId: Schema.NullOr(Id),
    reason: reports.authFailed.fields.reason,
    category: reports.authFailed.fields.category
  }),
  Retired: fact("Retired", {})
}

const audit = {
  AuditEnded: fact("AuditEnded", {
    iteration: Ordinal,
    totalIterations: Ordinal,
    findings: Schema.Array(ReportedFinding),
    blocking: Count,
    nonBlocking: Count,
    verdict: Schema.Literals(["pass", "fail"]),
    durationMs: Count
  }),
  AuditorTimedOut: fact("AuditorTimedOut", {
    iteration: Ordinal,
    auditor: Schema.String,
    agent: AgentName,
    sandboxId: Schema.NullOr(Id)
  }),
  AuditPassed: fact("AuditPassed", {}),
  ReworkBegan: fact("ReworkBegan", {}),
  AuditFailed: fact("AuditFailed", {})
}

const merge = {
  Merged: fact("Merged", { mergeSha: MaybeText }),
  /** `headSha`: the head of the pull request whose base has moved on. */
  ConflictFound: fact("ConflictFound", {
    source: Schema.Literals(["merge", "pull-request"]),
    reason: Schema.String,
    headSha: Schema.optionalKey(Schema.String)
  }),
  /** `headSha`: the work branch's commit since then, where known. */
  ConflictResolved: fact("ConflictResolved", { headSha: Schema.optionalKey(Schema.String) }),
  StaleHeadNoted: fact("StaleHeadNoted", { pullRequestNumber: Count, headSha: Schema.String }),
  StaleHeadForgotten: fact("StaleHeadForgotten", { headSha: MaybeText }),
  ConflictResolutionFailed: fact("ConflictResolutionFailed", handover),
  PullRequestOpened: fact("PullRequestOpened", {
    pullRequestNumber: Count,
    pullRequestUrl: Schema.String,
    mergedSha: MaybeText
  }),
  PushFailed: fact("PushFailed", { reason: Schema.String, notBeforeMs: EpochMs })
}

const people = {
  OperatorInputNeeded: fact("OperatorInputNeeded", {}),
  QuestionAsked: fact("QuestionAsked", { questionId: QuestionId, questionText: Schema.String }),
  QuestionAnswered: fact("QuestionAnswered", { questionId: QuestionId, answer: Answer.fields.answer }),
  QuestionDismissed: fact("QuestionDismissed", { questionId: QuestionId, reason: DismissQuestion.fields.reason }),
  SuggestionMade: fact("SuggestionMade", { id: Id, ...ReportedSuggestion.fields }),
  /** `isDetailed`: the event carries details. */
  Cancelled: fact("Cancelled", {
    priorState: WorkItemStateName,
    reason: Cancel.fields.reason,
    resolutionSha: Schema.NullOr(ResolutionSha),
    isDetailed: Schema.Boolean
  }),
  Resumed: fact("Resumed", { resumedFromPhase: Schema.NullOr(WorkItemPhase) }),
  Delegated: fact("Delegated", {
    trigger: Delegate.fields.trigger,
    priorState: WorkItemStateName,
    reason: Schema.String,
    note: MaybeText,
    terminalFailureCount: Count,
    isAutoEscalated: Schema.Boolean
  })
}

const waits = {
  WaitingForAgent: fact("WaitingForAgent", { reason: Schema.String, retryFrom: Schema.Literals(retryFromPhases) }),
  AgentResumed: fact("AgentResumed", {}),
  WaitingForRetry: fact("WaitingForRetry", {
    phase: WorkItemPhase,
    agent: AgentName,
    reason: Schema.String,
    nextRetryAtMs: EpochMs,
    attempts: Ordinal
  }),
  WaitingForQuota: fact("WaitingForQuota", { ...handover, resetAtMs: Schema.NullOr(EpochMs) }),
  FellBack: fact("FellBack", { ...handover, toAgent: AgentName, toModel: Schema.NullOr(AgentName) }),
  AutoRetried: fact("AutoRetried", {
    reason: AutoRetry.fields.reason,
    attemptNumber: Ordinal,
    triggeredBy: AutoRetry.fields.triggeredBy
  }),
  AgentRestoreRequeued: fact("AgentRestoreRequeued", {
    restoredAgent: AgentName,
    failureKind: Schema.NullOr(FailureKind),
    from: Schema.NullOr(WorkItemPhase),
    outageStartedAtMs: Schema.NullOr(EpochMs),
    restoredAtMs: EpochMs
  }),
  Deferred: fact("Deferred", { deferral: WorkItemDeferral, resumeState: WorkItemStateName }),
  AgentStuck: fact("AgentStuck", {
    phase: Schema.Literals(["work", "rework", "merge"]),
    agentKind: AgentName,
    stuckSeconds: Count
  }),
  Preempted: fact("Preempted", {}),
  Recovered: fact("Recovered", {
    fromState: WorkItemStateName,
    toState: WorkItemStateName,
    reason: Schema.Literals(recoveryReasons),
    recoveryAttempt: Ordinal,
    maxRecoveryAttempts: Count
  })
}

const checks = {
  /** An item with that id is to be created, with this item's project and settings. */
  FollowUpAsked: fact("FollowUpAsked", {
    followupWorkItemId: Uuid,
    title: Schema.String,
    instructions: MaybeText,
    answer: Schema.String
  }),
  RecheckCompleted: fact("RecheckCompleted", {
    iteration: Ordinal,
    answer: Schema.String,
    actionableAnswer: Schema.String,
    originCheckWorkItemId: Uuid
  })
}

export const workItemFacts = { ...lifecycle, ...audit, ...merge, ...people, ...waits, ...checks }
export const WorkItemFact = Schema.Union(Object.values(workItemFacts))
export type WorkItemFact = typeof WorkItemFact.Type
export type WorkItemFactTag = WorkItemFact["_tag"]
export type WorkItemFactOf<Tag extends WorkItemFactTag> = Extract<WorkItemFact, { readonly _tag: Tag }>
