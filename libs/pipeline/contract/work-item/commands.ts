/**
 * The commands on a work item. The command carries all randomness and external input (ids, jitter, times to wait for);
 * the actor supplies the time of the decision. A command that names a dispatch or an attempt can come from a sender
 * that is behind: if that dispatch or attempt is not the current one, nothing happens.
 */
import { Schema } from "effect"
import { cancelReasonCharactersMax, Count, EpochMs, Id, Ordinal, QuestionId, ResolutionSha, text, Uuid } from "#base"
import { auditorsMax, WorkItemReport } from "./reports.ts"
import {
  AgentName,
  errorCharactersMax,
  WorkItemDispatch,
  workItemOrigin,
  WorkItemPhase,
  WorkItemSettings
} from "./state.ts"

/** The three reasons for which an item is handed back after a crash. */
export const recoveryReasons = [
  "dead worker detected",
  "orchestrator restart with stranded item",
  "item-stale updatedAt"
] as const

export const retryFromPhases = ["work", "audit", "merge", "upstream"] as const
export const answerCharactersMax = 8_000

const reason = Schema.String.check(Schema.isBetweenLength(1, errorCharactersMax))
const suggestedRetryAtMs = EpochMs

/** Why an item is not worked on now; each reason becomes the event of the same name. */
export const WorkItemDeferral = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("budget"), reason, suggestedRetryAtMs }),
  Schema.Struct({
    kind: Schema.Literal("disk"),
    mountPath: text(1_000),
    freeBytes: Count,
    thresholdBytes: Count,
    suggestedRetryAtMs
  }),
  Schema.Struct({
    kind: Schema.Literal("sandbox"),
    provider: text(200),
    operation: text(200),
    errorClass: text(200),
    suggestedRetryAtMs
  })
])
export type WorkItemDeferral = typeof WorkItemDeferral.Type

/** The outage that identifies the items that failed in an agent's absence. Null: nothing is retried. */
const outage = {
  restoredAgent: AgentName,
  outageStartedAtMs: Schema.NullOr(EpochMs),
  restoredAtMs: EpochMs
}

export const workItemCommands = {
  /** `workBranchPrefix`: the work branch is `<prefix>/<first eight characters of the id>`. */
  Create: Schema.TaggedStruct("Create", {
    ...workItemOrigin,
    workBranchPrefix: Schema.String.check(Schema.isBetweenLength(1, 200))
  }),
  /**
   * A runner took the phase. `auditors`: those of an audit, in a stable order. `settings`: the settings at this moment.
   */
  Dispatch: Schema.TaggedStruct("Dispatch", {
    dispatchId: Id,
    phase: WorkItemPhase,
    agent: AgentName,
    model: Schema.NullOr(AgentName),
    agentInstanceId: Schema.NullOr(Id),
    runner: Id,
    sandboxId: Schema.NullOr(Id),
    auditors: Schema.Array(text(100)).check(Schema.isMaxLength(auditorsMax)),
    settings: WorkItemSettings,
    progressGrainMs: WorkItemDispatch.fields.progressGrainMs
  }),
  /** `jitter`: random, from 0 to 1. `freshWorkItemId`: the id of the follow-up, if the report asks for one. */
  Report: Schema.TaggedStruct("Report", {
    report: WorkItemReport,
    jitter: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    freshWorkItemId: Uuid
  }),
  /** The sender has removed secrets from the answer. */
  Answer: Schema.TaggedStruct("Answer", { questionId: QuestionId, answer: text(answerCharactersMax) }),
  /** The sender has removed secrets from the reason. */
  DismissQuestion: Schema.TaggedStruct("DismissQuestion", {
    questionId: QuestionId,
    reason: Schema.NullOr(text(answerCharactersMax))
  }),
  Cancel: Schema.TaggedStruct("Cancel", {
    reason: Schema.NullOr(text(cancelReasonCharactersMax)),
    resolutionSha: Schema.NullOr(ResolutionSha)
  }),
  Resume: Schema.TaggedStruct("Resume", {}),
  Delegate: Schema.TaggedStruct("Delegate", {
    trigger: Schema.Literals(["operator", "audit-max-iterations", "repeated-terminal-failure"]),
    reason,
    note: Schema.NullOr(text(2_000))
  }),
  /** `dispatchId`: the dispatch whose worker is gone; null: whichever is current. */
  Recover: Schema.TaggedStruct("Recover", {
    reason: Schema.Literals(recoveryReasons),
    dispatchId: Schema.NullOr(Id)
  }),
  /** `attempt`: the retry that is due, counted from 1; null: the next. */
  AutoRetry: Schema.TaggedStruct("AutoRetry", {
    reason: Schema.Literals(["quota", "transient"]),
    triggeredBy: Schema.Literals(["targeted", "periodic", "rearm-overdue", "startup"]),
    attempt: Schema.NullOr(Ordinal)
  }),
  /** The only agent that could take the item is paused. */
  ParkForAgent: Schema.TaggedStruct("ParkForAgent", { reason }),
  /** That agent takes work again. */
  AgentResumed: Schema.TaggedStruct("AgentResumed", {}),
  AgentRestoreRequeue: Schema.TaggedStruct("AgentRestoreRequeue", outage),
  /**
   * The item's pull request can no longer be merged, because its base has moved. While a runner has the item, or the
   * item waits for something, the head is remembered. A head reported before changes nothing.
   */
  RouteToConflictRework: Schema.TaggedStruct("RouteToConflictRework", {
    pullRequestNumber: Count,
    headSha: text(64)
  }),
  /** The pull request is mergeable with that head after all. `headSha` null: it is closed, whatever its head. */
  ForgetStaleHead: Schema.TaggedStruct("ForgetStaleHead", {
    pullRequestNumber: Count,
    headSha: Schema.NullOr(text(64))
  }),
  /** `dispatchId`: the launch that was refused; null: at pickup. */
  Defer: Schema.TaggedStruct("Defer", { dispatchId: Schema.NullOr(Id), deferral: WorkItemDeferral }),
  /** Removes the item if it ended no later than that. */
  Retire: Schema.TaggedStruct("Retire", { endedBeforeMs: EpochMs })
}

export const WorkItemCommand = Schema.Union(Object.values(workItemCommands))
export type WorkItemCommand = typeof WorkItemCommand.Type
export type WorkItemCommandTag = WorkItemCommand["_tag"]
export type WorkItemCommandOf<Tag extends WorkItemCommandTag> = Extract<WorkItemCommand, { readonly _tag: Tag }>

// Every item has its own branch: these first characters of its id identify it within a project.
const shortIdCharacters = 8

/** `<prefix>/<short id>`. */
export const workBranchOf = (prefix: string, id: string): string => `${prefix}/${id.slice(0, shortIdCharacters)}`
