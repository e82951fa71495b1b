/**
 * An agent, a complete kind or one instance of it: its state, its commands and the facts of its log. An unknown agent
 * takes work. An agent takes none while an operator has paused it, while it is benched (its credentials fail, or its
 * runs end too fast), or while its quota is exhausted. Each of these ends independently.
 *
 * The one pickup queue: `global`. While it is paused runners get no new work; runs in progress continue. Its commands,
 * facts and state share this file because each is small.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Project, text, WaitMs, WorkItem } from "#base"
import { errorCharactersMax } from "./work-item/state.ts"

export const queueId = "global"

/** The reason for the pause of a queue or an agent. */
export const pauseReasonCharactersMax = 500
export const PauseReason = text(pauseReasonCharactersMax)

const pause = { reason: PauseReason, pausedBy: Id }
const resume = { resumedBy: Id }

const queueCommands = {
  /** No effect on a paused queue. */
  Pause: Schema.TaggedStruct("Pause", pause),
  /** No effect on a running queue. */
  Resume: Schema.TaggedStruct("Resume", resume)
}
export const QueueCommand = Schema.Union(Object.values(queueCommands))
export type QueueCommand = typeof QueueCommand.Type

const queueFacts = {
  Paused: Schema.TaggedStruct("Paused", pause),
  Resumed: Schema.TaggedStruct("Resumed", resume)
}
export const QueueFact = Schema.Union(Object.values(queueFacts))
export type QueueFact = typeof QueueFact.Type

export const QueueState = Schema.Struct({
  /** Null: the queue runs. */
  pause: Schema.NullOr(Schema.Struct({ ...pause, pausedAtMs: EpochMs })),
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs
}).annotate({ identifier: "QueueState" })
export interface QueueState extends Schema.Schema.Type<typeof QueueState> {}

const smokeCategories = ["Persistent", "Transient", "Unknown"] as const
export const SmokeCategory = Schema.Literals(smokeCategories)
export type SmokeCategory = typeof SmokeCategory.Type

/** How an agent was found unfit: a probe in the background, at pickup, a login prompt at run time, the breaker. */
const benchCauses = ["probe", "pickup", "login-prompt", "fast-fail"] as const
export const BenchCause = Schema.Literals(benchCauses)
export type BenchCause = typeof BenchCause.Type

/** How many overly short runs are remembered for counting. */
export const fastFailsMax = 50
/** The same limit as for the error of an item that failed for this reason. */
export const agentReasonCharactersMax = errorCharactersMax

const Reason = Schema.NullOr(text(agentReasonCharactersMax))

export const AgentPause = Schema.Struct({
  reason: PauseReason,
  pausedBy: Id,
  pausedAtMs: EpochMs,
  /** Null: until resumed by hand. */
  expiresAtMs: Schema.NullOr(EpochMs)
})
export interface AgentPause extends Schema.Schema.Type<typeof AgentPause> {}

export const AgentBench = Schema.Struct({
  cause: BenchCause,
  reason: Reason,
  category: SmokeCategory,
  /** When the outage was first seen. */
  sinceMs: EpochMs,
  /** When the outage was last reported. */
  occurredAtMs: EpochMs,
  /** The process that reported it last; null: unknown. */
  epoch: Schema.NullOr(Id)
})
export interface AgentBench extends Schema.Schema.Type<typeof AgentBench> {}

/** `outageStartedAtMs` null: the start is unknown, and no earlier failure is retried. */
const agentRestore = { outageStartedAtMs: Schema.NullOr(EpochMs), restoredAtMs: EpochMs }

export const AgentState = Schema.Struct({
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  pause: Schema.NullOr(AgentPause),
  bench: Schema.NullOr(AgentBench),
  /** When the agent last recovered from a bench: reports from before that are too late. */
  recoveredAtMs: Schema.NullOr(EpochMs),
  /** The agent is back, and the items that failed in its absence have yet to be checked. */
  restore: Schema.NullOr(Schema.Struct(agentRestore)),
  /** The restore whose items were checked last. */
  sweptRestoreAtMs: Schema.NullOr(EpochMs),
  /** The exhausted quota; `resetAtMs` null: its reset is unknown. */
  quota: Schema.NullOr(Schema.Struct({ hitAtMs: EpochMs, resetAtMs: Schema.NullOr(EpochMs) })),
  /** Epoch milliseconds of overly short runs, oldest first. */
  fastFailsMs: Schema.Array(EpochMs).check(Schema.isMaxLength(fastFailsMax)),
  /** The optimal window announced last, and the time until which no other one is. */
  advice: Schema.NullOr(Schema.Struct({ optimalUntilMs: EpochMs, quietUntilMs: EpochMs }))
}).annotate({ identifier: "AgentState" })
export interface AgentState extends Schema.Schema.Type<typeof AgentState> {}

/** The standing that the views show; of several, the first. */
export const agentStandings = ["Paused", "Benched", "QuotaExhausted", "Available"] as const
export type AgentStatus = (typeof agentStandings)[number]

/** The fields that views show of an agent beside its standing and times. */
export const AgentSummary = Schema.Struct({
  agentKind: Schema.String,
  agentInstanceId: Schema.NullOr(Schema.String),
  pause: Schema.NullOr(AgentPause),
  bench: Schema.NullOr(AgentBench),
  quotaResetAtMs: Schema.NullOr(EpochMs),
  /** Missing in rows of an older version. */
  quotaHitAtMs: Schema.optionalKey(Schema.NullOr(EpochMs)),
  isQuotaExhausted: Schema.Boolean,
  restore: Schema.NullOr(Schema.Struct(agentRestore)),
  fastFails: Count
})
export interface AgentSummary extends Schema.Schema.Type<typeof AgentSummary> {}

/** `pauseExpires` and `quotaResets`: when that time is over. `restored`: since when a sweep of its items is due. */
const agentDeadlines = ["pauseExpires", "quotaResets", "restored"] as const
export type AgentDeadline = (typeof agentDeadlines)[number]

/** The breaker's limit: this many runs that end too fast within the window. */
const fastFailLimit = {
  failuresMax: Ordinal.check(Schema.isLessThanOrEqualTo(fastFailsMax)),
  windowMs: WaitMs
}

/** The id of an agent's kind, or of one instance of it. The kind itself has no `/`. */
export const agentIdOf = (agentKind: string, agentInstanceId: string | null): string =>
  agentInstanceId === null ? agentKind : `${agentKind}/${agentInstanceId}`

export const agentOfId = (id: string): { readonly agentKind: string; readonly agentInstanceId: string | null } => {
  const slash = id.indexOf("/")
  return slash < 0
    ? { agentKind: id, agentInstanceId: null }
    : { agentKind: id.slice(0, slash), agentInstanceId: id.slice(slash + 1) }
}

const command = Schema.TaggedStruct
const maybeEpochMs = Schema.NullOr(EpochMs)

/** The item, with its project, at whose pickup or in whose run an agent was found unfit. */
export const ConcernedItem = Schema.Struct({ workItem: WorkItem, project: Project })
export interface ConcernedItem extends Schema.Schema.Type<typeof ConcernedItem> {}

/** A failed credential probe or a login prompt. `epoch`: the run of the process that probed; null: unknown. */
const smokeFailure = {
  cause: BenchCause,
  reason: Reason,
  category: SmokeCategory,
  occurredAtMs: EpochMs,
  item: Schema.NullOr(ConcernedItem),
  epoch: Schema.NullOr(Id)
}

const sessionFailure = {
  operation: Schema.Literals(["suspend", "close"]),
  workItemId: Id,
  sessionId: text(200),
  error: text(2_000)
}

/** When it is best to spend the banked quota, according to the adviser. */
const quotaAdvice = {
  bankedCredits: Schema.NullOr(Schema.Int),
  optimalUntilMs: EpochMs,
  optimalFromMs: maybeEpochMs,
  predictedNaturalResetMs: maybeEpochMs,
  decisionDeadlineMs: maybeEpochMs,
  nextCreditExpiresAtMs: maybeEpochMs,
  nextCreditIsEstimated: Schema.Boolean,
  usableQuotaPct: Schema.NullOr(Schema.Finite)
}

/**
 * Reports carry the time at which their fact was observed: a report from before the agent recovered does not bench it
 * again.
 */
const agentCommands = {
  /** Stops only new work; runs in progress continue. On a paused agent the newer pause replaces the older one. */
  Pause: command("Pause", { reason: PauseReason, pausedBy: Id, expiresAtMs: maybeEpochMs }),
  Resume: command("Resume", { resumedBy: Id, reason: Schema.NullOr(PauseReason) }),
  /** Ends the pause if its time is over. */
  ExpirePause: command("ExpirePause", {}),
  FailSmoke: command("FailSmoke", smokeFailure),
  /** A probe found the agent fit. */
  PassSmoke: command("PassSmoke", { occurredAtMs: EpochMs }),
  /** A run ended so fast that the agent cannot have worked. After too many, the breaker benches the agent. */
  FailFast: command("FailFast", {
    ...fastFailLimit,
    reason: Reason,
    occurredAtMs: EpochMs,
    item: Schema.NullOr(ConcernedItem)
  }),
  /** An operator says that the agent is back. `outageStartedAtMs` null: the start of its bench, if it was benched. */
  Restore: command("Restore", { restoredBy: Id, outageStartedAtMs: maybeEpochMs }),
  /** The items that failed in the outage before a `Restored` have been checked. */
  CompleteRestoreSweep: command("CompleteRestoreSweep", { ...agentRestore, requeued: Count, skipped: Count }),
  FailSession: command("FailSession", sessionFailure),
  /** `resetAtMs` null: unknown. */
  HitQuota: command("HitQuota", { occurredAtMs: EpochMs, resetAtMs: maybeEpochMs }),
  /** The quota is available again. `isForced`: regardless of the expected reset. */
  ResetQuota: command("ResetQuota", { isForced: Schema.Boolean }),
  /** Spending is best now. `cooldownMs`: how long no other window is announced after this one. */
  AdviseSpending: command("AdviseSpending", { ...quotaAdvice, cooldownMs: WaitMs })
}

export const AgentCommand = Schema.Union(Object.values(agentCommands))
export type AgentCommand = typeof AgentCommand.Type
export type AgentCommandTag = AgentCommand["_tag"]
export type AgentCommandOf<Tag extends AgentCommandTag> = Extract<AgentCommand, { readonly _tag: Tag }>

const fact = Schema.TaggedStruct
const { HitQuota, Pause, Resume } = agentCommands
const MaybeText = Schema.NullOr(Schema.String)

/**
 * After a `Restored` followers of the log check failed items, after `Resumed` and `QuotaReset` waiting ones. These
 * facts, fast failures and quotas are private.
 */
const agentFacts = {
  Paused: fact("Paused", {
    reason: Pause.fields.reason,
    pausedBy: Pause.fields.pausedBy,
    expiresAtMs: Pause.fields.expiresAtMs
  }),
  Resumed: fact("Resumed", { resumedBy: Resume.fields.resumedBy, reason: Resume.fields.reason }),
  /** `isBenching`: the agent takes no work from now on. Otherwise the report was late and only makes an event. */
  SmokeFailed: fact("SmokeFailed", { ...smokeFailure, isBenching: Schema.Boolean }),
  SmokeRecovered: fact("SmokeRecovered", {
    benchedAtMs: EpochMs,
    recoveredAtMs: EpochMs,
    by: Schema.Literals(["probe", "operator"])
  }),
  /** Items that failed in the outage must be checked. */
  Restored: fact("Restored", { ...agentRestore, restoredBy: MaybeText }),
  RestoreSwept: fact("RestoreSwept", { ...agentRestore, requeued: Count, skipped: Count }),
  FailedFast: fact("FailedFast", { occurredAtMs: EpochMs, reason: MaybeText }),
  SessionFailed: fact("SessionFailed", sessionFailure),
  QuotaHit: fact("QuotaHit", { hitAtMs: HitQuota.fields.occurredAtMs, resetAtMs: HitQuota.fields.resetAtMs }),
  QuotaReset: fact("QuotaReset", {}),
  SpendingAdvised: fact("SpendingAdvised", { ...quotaAdvice, quietUntilMs: EpochMs })
}

export const AgentFact = Schema.Union(Object.values(agentFacts))
export type AgentFact = typeof AgentFact.Type
export type AgentFactTag = AgentFact["_tag"]
export type AgentFactOf<Tag extends AgentFactTag> = Extract<AgentFact, { readonly _tag: Tag }>
