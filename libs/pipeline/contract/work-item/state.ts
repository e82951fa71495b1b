/**
 * The state of a work item: all that its decisions, envelopes and lists need, and nothing that grows without bound.
 * Texts that only history needs (findings, rationales, closed questions) stay in the log's facts.
 */
import { Schema } from "effect"
import {
  Count,
  EpochMs,
  Id,
  Ordinal,
  Project,
  QuestionId,
  questionTextCharactersMax,
  text,
  Uuid,
  workItemStates
} from "#base"

/** The upper limit of every cap of a run, so that sums of caps stay small. */
export const capMax = 1_000
const cap = Count.check(Schema.isLessThanOrEqualTo(capMax))
const capFromOne = Ordinal.check(Schema.isLessThanOrEqualTo(capMax))

export const findingSeverities = ["Info", "Warning", "Error"] as const

export const RetryBackoff = Schema.Struct({
  initialMs: Count,
  /** The wait doubles with every attempt, up to this. */
  maxMs: Count,
  /** The largest share of the wait added at random: 0 to 1. */
  jitter: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
})
export interface RetryBackoff extends Schema.Schema.Type<typeof RetryBackoff> {}

/**
 * The settings that a project and the configuration give an item. They are copied into its creation and refreshed by
 * every dispatch, so that a decision needs only the item's state and the command.
 */
export const WorkItemSettings = Schema.Struct({
  /** Findings of this severity and above block. */
  failingSeverity: Schema.Literals(findingSeverities),
  /** False: a pull request stays open, and its `mergedSha` is null. */
  autoMerge: Schema.Boolean,
  maxAuditIterations: capFromOne,
  /** How often an item can enter conflict rework. */
  maxReworkAttempts: cap,
  maxRecoveryAttempts: cap,
  /** Pushes to upstream, the first included. */
  maxUpstreamPushAttempts: capFromOne,
  maxQuotaRetries: cap,
  maxTransientRetries: cap,
  transientBackoff: RetryBackoff,
  /** True: an item whose agent was stuck is requeued while transient retries are left. */
  retriesWhenStuck: Schema.Boolean,
  /** True: an audit that does not converge leads to delegation, once; otherwise it fails the item. */
  delegatesAtAuditMax: Schema.Boolean,
  /** The number of terminal failures after which an item delegates itself; null: never. */
  delegatesAfterFailures: Schema.NullOr(capFromOne)
}).annotate({ identifier: "WorkItemSettings" })
export interface WorkItemSettings extends Schema.Schema.Type<typeof WorkItemSettings> {}

/** The settings of a project that sets nothing. */
export const workItemSettingsDefault: WorkItemSettings = {
  failingSeverity: "Error",
  autoMerge: false,
  maxAuditIterations: 3,
  maxReworkAttempts: 3,
  maxRecoveryAttempts: 3,
  maxUpstreamPushAttempts: 3,
  maxQuotaRetries: 10,
  maxTransientRetries: 5,
  transientBackoff: { initialMs: 30_000, maxMs: 1_800_000, jitter: 0.2 },
  retriesWhenStuck: false,
  delegatesAtAuditMax: false,
  delegatesAfterFailures: null
}

export const WorkItemStateName = Schema.Literals(workItemStates)
export type WorkItemStateName = typeof WorkItemStateName.Type

/** The phases that a runner can be given. */
export const workItemPhases = ["work", "rework", "audit", "merge", "upstream", "conflict-rework", "delegation"] as const
export const WorkItemPhase = Schema.Literals(workItemPhases)
export type WorkItemPhase = typeof WorkItemPhase.Type

/** `act`: changes code. `check`: ends with a verdict. `follow-up`: an act requested by a check's verdict. */
export const WorkItemKind = Schema.Literals(["act", "check", "follow-up"])

const failureKinds = [
  "agent",
  "infra",
  "auth",
  "stuck",
  "quota",
  "transient",
  "merge",
  "upstream",
  "no-commit"
] as const
export const FailureKind = Schema.Literals(failureKinds)
export type FailureKind = typeof FailureKind.Type

export const titleCharactersMax = 300
export const instructionsCharactersMax = 8_000
export const errorCharactersMax = 2_000
export const branchCharactersMax = 250
/** How many questions can be open at once. */
export const openQuestionsMax = 8
/** How many questions an item can ask in its life: it remembers their ids, so that none is asked twice. */
export const questionsMax = 128
/** How many suggestions an item can make in its life. */
export const suggestionsMax = 256

/** The length of the mark that remembers a counted report, made from its id: 48 bits of its hash. */
export const countedMarkCharacters = 8
/**
 * How many of an item's reports are remembered: more than are redelivered when a broker and a process die together, and
 * more than any runner repeats.
 */
export const countedReportsMax = 256

/** How many stale heads of an item's pull request are remembered: more than are ever reworked. */
export const staleHeadsMax = 16

export const Branch = Schema.String.check(Schema.isBetweenLength(1, branchCharactersMax))
export const AgentName = Schema.String.check(Schema.isBetweenLength(1, 128))

/**
 * The fields that an item has from its creation on. `agent`: a kind, or a class of agents. `priority`: higher goes
 * first.
 */
export const workItemOrigin = {
  title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax)),
  instructions: Schema.NullOr(text(instructionsCharactersMax)),
  projectId: Id,
  project: Project,
  agent: AgentName,
  baseBranch: Branch,
  externalId: Schema.NullOr(Id),
  releaseId: Schema.NullOr(Id),
  kind: WorkItemKind,
  originCheckWorkItemId: Schema.NullOr(Uuid),
  priority: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  settings: WorkItemSettings
}

/** A phase that a runner is working on. */
export const WorkItemDispatch = Schema.Struct({
  dispatchId: Id,
  phase: WorkItemPhase,
  iteration: Ordinal,
  agent: AgentName,
  model: Schema.NullOr(AgentName),
  agentInstanceId: Schema.NullOr(Id),
  runner: Id,
  sandboxId: Schema.NullOr(Id),
  atMs: EpochMs,
  lastProgressAtMs: EpochMs,
  /** Progress reports closer together than this are not recorded; absent: ten seconds. */
  progressGrainMs: Schema.optionalKey(Count)
})
export interface WorkItemDispatch extends Schema.Schema.Type<typeof WorkItemDispatch> {}

/** The cost of work. Money is micro-USD. */
export const workItemCost = {
  tokensInput: Count,
  tokensOutput: Count,
  tokensReasoning: Count,
  tokensCached: Count,
  costMicroUsd: Count,
  elapsedMs: Count
}
export const WorkItemCost = Schema.Struct(workItemCost)
export interface WorkItemCost extends Schema.Schema.Type<typeof WorkItemCost> {}

export const WorkItemPullRequest = Schema.Struct({
  number: Count,
  url: text(1_000),
  mergedSha: Schema.NullOr(text(64))
})

export const WorkItemState = Schema.Struct({
  ...workItemOrigin,
  workBranch: Branch,
  state: WorkItemStateName,
  /** The phase in progress, waited for, or to be resumed; null when none is left. */
  phase: Schema.NullOr(WorkItemPhase),
  dispatch: Schema.NullOr(WorkItemDispatch),
  /** The member of the agent's class that this phase was moved to; null: any member can take it. */
  assignedAgent: Schema.NullOr(AgentName),
  /** The id of the last dispatch, whether it runs or not. */
  lastDispatchId: Schema.NullOr(Id),
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When it reached its current end; null before one. */
  endedAtMs: Schema.NullOr(EpochMs),
  lastError: Schema.NullOr(text(errorCharactersMax)),
  failureKind: Schema.NullOr(FailureKind),
  /** The working agent when the item last failed. */
  failedAgent: Schema.NullOr(AgentName),
  /** Counts the runs: iterations are numbered anew in each. */
  run: Ordinal,
  /** Audit iterations of this run that have ended; the one in progress is the next. */
  auditedIterations: Count,
  upstreamPushAttempts: Count,
  conflictReworks: Count,
  recoveryAttempts: Count,
  quotaRetries: Count,
  transientRetries: Count,
  terminalFailures: Count,
  isAutoEscalated: Schema.Boolean,
  /** The earliest time at which a runner can pick it up; null: at once. */
  notBeforeMs: Schema.NullOr(EpochMs),
  /** When a parked retry or quota reset is due. */
  retryAtMs: Schema.NullOr(EpochMs),
  quotaResetAtMs: Schema.NullOr(EpochMs),
  openQuestions: Schema.Array(
    Schema.Struct({ questionId: QuestionId, questionText: text(questionTextCharactersMax), askedAtMs: EpochMs })
  ).check(Schema.isMaxLength(openQuestionsMax)),
  questionIds: Schema.Array(QuestionId).check(Schema.isMaxLength(questionsMax)),
  suggestions: Count,
  pullRequest: Schema.NullOr(WorkItemPullRequest),
  /**
   * Stale heads of that pull request, the newest first: none is reworked twice. `isAwaited`: the newest still waits for
   * its rework, until no runner has the item. Absent before the first.
   */
  staleHeads: Schema.optionalKey(
    Schema.Struct({
      pullRequestNumber: Count,
      told: Schema.Array(text(64)).check(Schema.isMaxLength(staleHeadsMax)),
      isAwaited: Schema.Boolean
    })
  ),
  /**
   * The phase that conflict rework interrupted before the item passed its audit: the item returns there. Absent: it had
   * passed.
   */
  interruptedPhase: Schema.optionalKey(Schema.NullOr(WorkItemPhase)),
  commitSha: Schema.NullOr(text(64)),
  mergeSha: Schema.NullOr(text(64)),
  /** The follow-up item requested by this check's verdict. */
  followupWorkItemId: Schema.NullOr(Uuid),
  /** The iteration of the last re-check after the act. */
  recheckedIteration: Count,
  /** The run and iteration of the last dispatch; absent in records older than this field. */
  lastDispatchIn: Schema.optionalKey(Schema.Struct({ run: Ordinal, iteration: Ordinal })),
  /** The marks of the last reports whose usage was counted, the newest first; absent before the first. */
  countedReports: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(countedMarkCharacters * countedReportsMax))
  ),
  /** The cost of the latest iteration with a known cost. */
  usage: Schema.NullOr(Schema.Struct({ run: Ordinal, iteration: Ordinal, ...workItemCost })),
  usageTotal: Schema.NullOr(WorkItemCost)
}).annotate({ identifier: "WorkItemState" })
export interface WorkItemState extends Schema.Schema.Type<typeof WorkItemState> {}

const MaybeText = Schema.NullOr(Schema.String)

/** The fields that views show of a work item beside its project, state and times: lists, pickup and sweeps use them. */
export const WorkItemSummary = Schema.Struct({
  title: Schema.String,
  kind: WorkItemKind,
  agent: Schema.String,
  /** The one agent that can take the phase since it was moved there; null: any that `agent` stands for. */
  assignedAgent: MaybeText,
  /** Higher goes first; among equals the older one. */
  priority: Schema.Int,
  /** The phase in progress, waited for, or to be resumed. */
  phase: Schema.NullOr(WorkItemPhase),
  /** A runner can take that phase, from `notBeforeMs` on. */
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
 * The deadlines of a work item's row: `lastProgress` when its runner last reported, `stale` when an item that should
 * move last changed, `retryAt` and `quotaResetAt` when its wait is over, `ended` when it ended. Deadlines in the past
 * are compared with now minus the tolerated time.
 */
const workItemDeadlines = ["lastProgress", "stale", "retryAt", "quotaResetAt", "ended"] as const
export type WorkItemDeadline = (typeof workItemDeadlines)[number]
