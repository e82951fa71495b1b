/**
 * Pickup: a runner requests work on `pickup.next.<agent kind>`, and gets one phase of one item or nothing. A repeat
 * with the same `pickupId` gets the same dispatch from every replica; once that dispatch is over, it gets nothing.
 * While working, the runner asks on `pickup.held` whether the dispatch is still its own.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Project, QuestionId, text, Uuid, WorkItem } from "#base"
import { answerCharactersMax } from "./work-item/commands.ts"
import { auditorsMax, findingsMax, questionsPerReportMax, ReportedFinding } from "./work-item/reports.ts"
import {
  AgentName,
  errorCharactersMax,
  instructionsCharactersMax,
  openQuestionsMax,
  WorkItemKind,
  WorkItemPhase,
  workItemPhases,
  WorkItemPullRequest,
  WorkItemSettings,
  WorkItemStateName
} from "./work-item/state.ts"

/** A runner waits at most this long for an answer; then it asks again. */
const pickupWaitMsMax = 30_000
const mountsMax = 16

export const PickupQuestion = Schema.Struct({
  /** The runner chooses a new one for each phase that it requests; it becomes the dispatch's id. */
  pickupId: Uuid,
  runner: Id,
  /** The agent kind, as in the subject. */
  agent: AgentName,
  agentInstanceId: Schema.NullOr(Id),
  model: Schema.NullOr(AgentName),
  phases: Schema.Array(WorkItemPhase).check(Schema.isBetweenLength(1, workItemPhases.length)),
  sandboxProvider: Schema.NullOr(Schema.String.check(Schema.isBetweenLength(1, 200))),
  sandboxId: Schema.NullOr(Id),
  /** Monitored mounts of the runner's host: nothing is launched on a mount below the configured minimum. */
  disks: Schema.Array(
    Schema.Struct({ mountPath: Schema.String.check(Schema.isBetweenLength(1, 1_000)), freeBytes: Count })
  ).check(Schema.isMaxLength(mountsMax)),
  /** How long to wait for work to appear, or for a pause to end; absent: not at all. */
  waitMs: Schema.optionalKey(Count.check(Schema.isLessThanOrEqualTo(pickupWaitMsMax)))
}).annotate({ identifier: "PickupQuestion" })
export interface PickupQuestion extends Schema.Schema.Type<typeof PickupQuestion> {}

/**
 * The answer exactly as the operator wrote it, secrets included, because the runner gets it only once. `text` null:
 * without a reason.
 */
export const PickupReply = Schema.Struct({
  questionId: QuestionId,
  outcome: Schema.Literals(["answered", "dismissed"]),
  text: Schema.NullOr(text(answerCharactersMax))
}).annotate({ identifier: "PickupReply" })
export interface PickupReply extends Schema.Schema.Type<typeof PickupReply> {}

const maybeSha = Schema.NullOr(text(64))

/** Everything a runner needs for one phase of one item. */
export const PickupDispatch = Schema.TaggedStruct("Dispatch", {
  dispatchId: Id,
  dispatchedAtMs: EpochMs,
  phase: WorkItemPhase,
  iteration: Ordinal,
  agent: AgentName,
  model: Schema.NullOr(AgentName),
  /** The auditors of an audit, in a stable order; else empty. */
  auditors: Schema.Array(text(100)).check(Schema.isMaxLength(auditorsMax)),
  workItem: WorkItem,
  project: Project,
  kind: WorkItemKind,
  instructions: Schema.NullOr(text(instructionsCharactersMax)),
  originCheckWorkItemId: Schema.NullOr(Uuid),
  releaseId: Schema.NullOr(Id),
  settings: WorkItemSettings,
  /** Replies to the item's questions that are now closed. */
  replies: Schema.Array(PickupReply).check(Schema.isMaxLength(openQuestionsMax + questionsPerReportMax)),
  /** Findings of the audit that led to this rework. */
  findings: Schema.Array(ReportedFinding).check(Schema.isMaxLength(findingsMax)),
  commitSha: maybeSha,
  mergeSha: maybeSha,
  pullRequest: Schema.NullOr(WorkItemPullRequest),
  lastError: Schema.NullOr(text(errorCharactersMax)),
  /** The runner reports progress at least this often. After `progressTimeoutMs` of silence it counts as dead. */
  progressEveryMs: Ordinal,
  progressTimeoutMs: Ordinal,
  /** The runner ends the phase by itself before this. */
  phaseTimeoutMs: Ordinal,
  /** An agent that is silent for this long is stuck. */
  stuckAfterMs: Ordinal,
  auditorTimeoutMs: Ordinal,
  /** Nothing is launched where less disk is free; 0: no limit. */
  minFreeBytes: Count
}).annotate({ identifier: "PickupDispatch" })
export interface PickupDispatch extends Schema.Schema.Type<typeof PickupDispatch> {}

const nothingReasons = [
  "empty",
  "queue-paused",
  "project-paused",
  "agent-paused",
  "agent-benched",
  "agent-unknown",
  "budget",
  "disk",
  "busy",
  "draining",
  "over"
] as const

export const PickupNothing = Schema.TaggedStruct("Nothing", {
  retryAfterMs: Count,
  /**
   * `empty`: no item waits for this agent and these phases. `busy`: other runners were faster, ask again at once.
   * `over`: the dispatch of this pickup id is over, ask with a new one.
   */
  why: Schema.Literals(nothingReasons),
  reason: Schema.NullOr(text(errorCharactersMax))
}).annotate({ identifier: "PickupNothing" })
export interface PickupNothing extends Schema.Schema.Type<typeof PickupNothing> {}

export const PickupAnswer = Schema.Union([PickupDispatch, PickupNothing])
export type PickupAnswer = typeof PickupAnswer.Type

export const HeldQuestion = Schema.Struct({ workItemId: Uuid, dispatchId: Id }).annotate({ identifier: "HeldQuestion" })
export interface HeldQuestion extends Schema.Schema.Type<typeof HeldQuestion> {}

/**
 * A dispatch is over when its item was cancelled, retired, or given to another runner because this one was silent. The
 * runner stops, and its later reports count only as cost.
 */
export const HeldAnswer = Schema.TaggedUnion({
  Held: {},
  /** `state`: that of the item; null: the item no longer exists. */
  Over: { state: Schema.NullOr(WorkItemStateName) },
  /** The log cannot be read now: continue, and ask again. */
  Busy: { retryAfterMs: Count }
}).annotate({ identifier: "HeldAnswer" })
export type HeldAnswer = typeof HeldAnswer.Type
