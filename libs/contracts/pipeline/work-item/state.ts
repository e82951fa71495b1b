/**
 * What is known of a work item: all that its decisions, its envelopes and its lists need, and nothing that grows
 * without end. Texts that only history needs (findings, rationales, closed questions) stay in the log's facts.
 */
import { Schema } from "effect"
import { Project, workItemStates } from "../../events/entities.ts"
import { QuestionId, questionTextCharactersMax } from "../../events/work-items.ts"
import { Count, EpochMs, Id, Ordinal, text, Uuid } from "../../primitives.ts"
import { WorkItemSettings } from "./settings.ts"

export const WorkItemStateName = Schema.Literals(workItemStates)
export type WorkItemStateName = typeof WorkItemStateName.Type

/** What a runner can be given to do with an item. */
export const workItemPhases = ["work", "rework", "audit", "merge", "upstream", "conflict-rework", "delegation"] as const
export const WorkItemPhase = Schema.Literals(workItemPhases)
export type WorkItemPhase = typeof WorkItemPhase.Type

/** `act`: changes code. `check`: ends with a verdict. `follow-up`: an act that a check's verdict asked for. */
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
/** Questions that wait for an answer at once. */
export const openQuestionsMax = 8
/** Questions an item may ask in its life: their ids are remembered, so that none is asked twice. */
export const questionsMax = 128
/** Suggestions an item may make in its life. */
export const suggestionsMax = 256

/** A report whose usage was counted is remembered by so many characters made of its id: 48 bits of its hash. */
export const countedMarkCharacters = 8
/**
 * So many of an item's reports are remembered: more than a broker and a process that die together hand out again,
 * and than any runner tells twice.
 */
export const countedReportsMax = 256

/** So many heads of an item's pull request that its base left behind are remembered: more than are ever reworked. */
export const staleHeadsMax = 16

export const Branch = Schema.String.check(Schema.isBetweenLength(1, branchCharactersMax))
export const AgentName = Schema.String.check(Schema.isBetweenLength(1, 128))

/** What an item is from its creation on. `agent`: a kind, or a class of agents. `priority`: higher goes first. */
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

/** A phase that a runner has in hand. */
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
  /** That its runner was heard of is kept no finer than this; absent: ten seconds. */
  progressGrainMs: Schema.optionalKey(Count)
})
export interface WorkItemDispatch extends Schema.Schema.Type<typeof WorkItemDispatch> {}

/** What work cost. Money is micro-USD. */
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
  /** In hand, waited for, or to be taken up again; null where nothing is to be done any more. */
  phase: Schema.NullOr(WorkItemPhase),
  dispatch: Schema.NullOr(WorkItemDispatch),
  /** The member of the agent's class that this phase was moved to; null: any may take it. */
  assignedAgent: Schema.NullOr(AgentName),
  /** Of the last dispatch, whether it runs or not. */
  lastDispatchId: Schema.NullOr(Id),
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When it came to its present end; null before one. */
  endedAtMs: Schema.NullOr(EpochMs),
  lastError: Schema.NullOr(text(errorCharactersMax)),
  failureKind: Schema.NullOr(FailureKind),
  /** The agent at work when it failed last. */
  failedAgent: Schema.NullOr(AgentName),
  /** Counts the runs: numbering of iterations begins again with each. */
  run: Ordinal,
  /** Audit iterations of this run that have ended; the iteration in hand is the next. */
  auditedIterations: Count,
  upstreamPushAttempts: Count,
  conflictReworks: Count,
  recoveryAttempts: Count,
  quotaRetries: Count,
  transientRetries: Count,
  terminalFailures: Count,
  isAutoEscalated: Schema.Boolean,
  /** Not to be picked up before; null: at once. */
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
   * Heads of that pull request that the base was told to have left behind, the newest first: none is reworked twice.
   * `isAwaited`: the newest is still to be, once nobody has the item. Absent before the first.
   */
  staleHeads: Schema.optionalKey(
    Schema.Struct({
      pullRequestNumber: Count,
      told: Schema.Array(text(64)).check(Schema.isMaxLength(staleHeadsMax)),
      isAwaited: Schema.Boolean
    })
  ),
  /** What conflict rework kept it from, where it had not passed its audit: it goes back there. Absent: it had. */
  interruptedPhase: Schema.optionalKey(Schema.NullOr(WorkItemPhase)),
  commitSha: Schema.NullOr(text(64)),
  mergeSha: Schema.NullOr(text(64)),
  /** The follow-up that this check's verdict asked for. */
  followupWorkItemId: Schema.NullOr(Uuid),
  /** Of the last re-check after the act. */
  recheckedIteration: Count,
  /** The run and the iteration of the last dispatch; absent in what was written before it was kept. */
  lastDispatchIn: Schema.optionalKey(Schema.Struct({ run: Ordinal, iteration: Ordinal })),
  /** The marks of the last reports whose usage was counted, the newest first; absent before the first. */
  countedReports: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(countedMarkCharacters * countedReportsMax))
  ),
  /** Of the latest iteration that cost is known of. */
  usage: Schema.NullOr(Schema.Struct({ run: Ordinal, iteration: Ordinal, ...workItemCost })),
  usageTotal: Schema.NullOr(WorkItemCost)
}).annotate({ identifier: "WorkItemState" })
export interface WorkItemState extends Schema.Schema.Type<typeof WorkItemState> {}

const MaybeText = Schema.NullOr(Schema.String)

/** What the views show of a work item beside its project, state and times: lists, pickup and sweeps go by it. */
export const WorkItemSummary = Schema.Struct({
  title: Schema.String,
  kind: WorkItemKind,
  agent: Schema.String,
  /** The one agent that may take the phase, since it was moved there; null: any that `agent` stands for. */
  assignedAgent: MaybeText,
  /** Higher goes first; among equals the older. */
  priority: Schema.Int,
  /** In hand, waited for, or to be taken up again. */
  phase: Schema.NullOr(WorkItemPhase),
  /** A runner may take that phase, from `notBeforeMs` on. */
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
 * The deadlines of a work item's row: `lastProgress` when its runner was heard of last, `stale` when an item that
 * should move changed last, `retryAt` and `quotaResetAt` when its wait is over, `ended` when it came to its end.
 * Those that tell of the past are compared with a moment as long ago as is tolerated.
 */
const workItemDeadlines = ["lastProgress", "stale", "retryAt", "quotaResetAt", "ended"] as const
export type WorkItemDeadline = (typeof workItemDeadlines)[number]
