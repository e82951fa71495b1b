/**
 * Pickup: a runner asks on `pickup.next.<agent kind>` for something to do, and is given one phase of one item or
 * nothing. Asking again with the same `pickupId` gets the same dispatch from every replica; once it is over, nothing.
 * While it works it asks on `pickup.held` whether the dispatch is still its own.
 */
import { Schema } from "effect"
import { Project, WorkItem } from "../events/entities.ts"
import { QuestionId } from "../events/work-items.ts"
import { Count, EpochMs, Id, Ordinal, text, Uuid } from "../primitives.ts"
import { answerCharactersMax } from "./work-item/commands.ts"
import { auditorsMax, findingsMax, questionsPerReportMax, ReportedFinding } from "./work-item/reports.ts"
import { WorkItemSettings } from "./work-item/settings.ts"
import {
  AgentName,
  errorCharactersMax,
  instructionsCharactersMax,
  openQuestionsMax,
  WorkItemKind,
  WorkItemPhase,
  workItemPhases,
  WorkItemPullRequest,
  WorkItemStateName
} from "./work-item/state.ts"

/** A runner waits no longer for an answer than this; then it asks again. */
const pickupWaitMsMax = 30_000
const mountsMax = 16

export const PickupQuestion = Schema.Struct({
  /** Chosen by the runner, new for each thing it wants to do; it becomes the dispatch's id. */
  pickupId: Uuid,
  runner: Id,
  /** The agent kind, as in the subject. */
  agent: AgentName,
  agentInstanceId: Schema.NullOr(Id),
  model: Schema.NullOr(AgentName),
  phases: Schema.Array(WorkItemPhase).check(Schema.isBetweenLength(1, workItemPhases.length)),
  sandboxProvider: Schema.NullOr(Schema.String.check(Schema.isBetweenLength(1, 200))),
  sandboxId: Schema.NullOr(Id),
  /** Monitored mounts of the runner's host: below the configured minimum nothing is launched there. */
  disks: Schema.Array(
    Schema.Struct({ mountPath: Schema.String.check(Schema.isBetweenLength(1, 1_000)), freeBytes: Count })
  ).check(Schema.isMaxLength(mountsMax)),
  /** How long to wait for something to come up, or for a pause to end; absent: not at all. */
  waitMs: Schema.optionalKey(Count.check(Schema.isLessThanOrEqualTo(pickupWaitMsMax)))
}).annotate({ identifier: "PickupQuestion" })
export interface PickupQuestion extends Schema.Schema.Type<typeof PickupQuestion> {}

/** The answer as the operator wrote it, secrets and all: it is given out once. `text` null: without a reason. */
export const PickupReply = Schema.Struct({
  questionId: QuestionId,
  outcome: Schema.Literals(["answered", "dismissed"]),
  text: Schema.NullOr(text(answerCharactersMax))
}).annotate({ identifier: "PickupReply" })
export interface PickupReply extends Schema.Schema.Type<typeof PickupReply> {}

const maybeSha = Schema.NullOr(text(64))

/** All that a runner needs for one phase of one item. */
export const PickupDispatch = Schema.TaggedStruct("Dispatch", {
  dispatchId: Id,
  dispatchedAtMs: EpochMs,
  phase: WorkItemPhase,
  iteration: Ordinal,
  agent: AgentName,
  model: Schema.NullOr(AgentName),
  /** For an audit, in a stable order; else empty. */
  auditors: Schema.Array(text(100)).check(Schema.isMaxLength(auditorsMax)),
  workItem: WorkItem,
  project: Project,
  kind: WorkItemKind,
  instructions: Schema.NullOr(text(instructionsCharactersMax)),
  originCheckWorkItemId: Schema.NullOr(Uuid),
  releaseId: Schema.NullOr(Id),
  settings: WorkItemSettings,
  /** Of questions that the item asked and that are closed now. */
  replies: Schema.Array(PickupReply).check(Schema.isMaxLength(openQuestionsMax + questionsPerReportMax)),
  /** Of the audit that led to this rework. */
  findings: Schema.Array(ReportedFinding).check(Schema.isMaxLength(findingsMax)),
  commitSha: maybeSha,
  mergeSha: maybeSha,
  pullRequest: Schema.NullOr(WorkItemPullRequest),
  lastError: Schema.NullOr(text(errorCharactersMax)),
  /** Report progress at least so often; a runner that is silent for `progressTimeoutMs` is held for dead. */
  progressEveryMs: Ordinal,
  progressTimeoutMs: Ordinal,
  /** The phase ends by itself before this. */
  phaseTimeoutMs: Ordinal,
  /** An agent that says nothing for so long is stuck. */
  stuckAfterMs: Ordinal,
  auditorTimeoutMs: Ordinal,
  /** Nothing is launched where less disk is free; 0: wherever. */
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
  /** `empty`: no item waits for this agent and these phases. `busy`: others were quicker, ask again at once. `over`: what this pickup id was given is over, ask with a new one. */
  why: Schema.Literals(nothingReasons),
  reason: Schema.NullOr(text(errorCharactersMax))
}).annotate({ identifier: "PickupNothing" })
export interface PickupNothing extends Schema.Schema.Type<typeof PickupNothing> {}

export const PickupAnswer = Schema.Union([PickupDispatch, PickupNothing])
export type PickupAnswer = typeof PickupAnswer.Type

export const HeldQuestion = Schema.Struct({ workItemId: Uuid, dispatchId: Id }).annotate({ identifier: "HeldQuestion" })
export interface HeldQuestion extends Schema.Schema.Type<typeof HeldQuestion> {}

/**
 * A dispatch is over when its item was cancelled, retired, or given to another because this runner was silent: it stops,
 * and what it still reports counts as cost alone.
 */
export const HeldAnswer = Schema.TaggedUnion({
  Held: {},
  /** `state`: the item's; null: there is no such item any more. */
  Over: { state: Schema.NullOr(WorkItemStateName) },
  /** The log cannot be read just now: go on, and ask again. */
  Busy: { retryAfterMs: Count }
}).annotate({ identifier: "HeldAnswer" })
export type HeldAnswer = typeof HeldAnswer.Type
