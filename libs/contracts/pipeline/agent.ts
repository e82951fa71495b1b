/**
 * An agent, a whole kind or one instance of it: its state, the commands it takes and the facts of its log. An agent
 * that nothing is known of takes work. It takes none while an operator has paused it, while it is benched (its
 * credentials fail, or its runs end too fast), or while its quota is used up: each ends by itself alone.
 */
import { Schema } from "effect"
import { Project, WorkItem } from "../events/entities.ts"
import { Count, EpochMs, Id, Ordinal, text, WaitMs } from "../primitives.ts"
import { PauseReason } from "./queue.ts"
import { errorCharactersMax } from "./work-item/state.ts"

const smokeCategories = ["Persistent", "Transient", "Unknown"] as const
export const SmokeCategory = Schema.Literals(smokeCategories)
export type SmokeCategory = typeof SmokeCategory.Type

/** By what an agent was found unfit: a probe in the background, at pickup, a login prompt at run time, the breaker. */
const benchCauses = ["probe", "pickup", "login-prompt", "fast-fail"] as const
export const BenchCause = Schema.Literals(benchCauses)
export type BenchCause = typeof BenchCause.Type

/** Runs that ended too fast, remembered to be counted. */
export const fastFailsMax = 50
/** As long as the error of an item that met it. */
export const agentReasonCharactersMax = errorCharactersMax

const Reason = Schema.NullOr(text(agentReasonCharactersMax))

export const AgentPause = Schema.Struct({
  reason: PauseReason,
  pausedBy: Id,
  pausedAtMs: EpochMs,
  /** Null: until it is resumed. */
  expiresAtMs: Schema.NullOr(EpochMs)
})
export interface AgentPause extends Schema.Schema.Type<typeof AgentPause> {}

export const AgentBench = Schema.Struct({
  cause: BenchCause,
  reason: Reason,
  category: SmokeCategory,
  /** When the outage was first seen. */
  sinceMs: EpochMs,
  /** When it was last told of. */
  occurredAtMs: EpochMs,
  /** The process that told of it last; null: it does not say. */
  epoch: Schema.NullOr(Id)
})
export interface AgentBench extends Schema.Schema.Type<typeof AgentBench> {}

/** `outageStartedAtMs` null: it is not known, and nothing that failed before is tried again. */
const agentRestore = { outageStartedAtMs: Schema.NullOr(EpochMs), restoredAtMs: EpochMs }

export const AgentState = Schema.Struct({
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  pause: Schema.NullOr(AgentPause),
  bench: Schema.NullOr(AgentBench),
  /** The last time it was found fit after it was benched: what is told of times before comes late. */
  recoveredAtMs: Schema.NullOr(EpochMs),
  /** It is back, and the items that its absence failed are still to be looked through. */
  restore: Schema.NullOr(Schema.Struct(agentRestore)),
  /** The restore whose items were looked through last. */
  sweptRestoreAtMs: Schema.NullOr(EpochMs),
  /** Until when its quota is used up; `resetAtMs` null: unknown. */
  quota: Schema.NullOr(Schema.Struct({ hitAtMs: EpochMs, resetAtMs: Schema.NullOr(EpochMs) })),
  /** Epoch milliseconds of runs that ended too fast, oldest first. */
  fastFailsMs: Schema.Array(EpochMs).check(Schema.isMaxLength(fastFailsMax)),
  /** The optimal window that was told last, and until when no other one is. */
  advice: Schema.NullOr(Schema.Struct({ optimalUntilMs: EpochMs, quietUntilMs: EpochMs }))
}).annotate({ identifier: "AgentState" })
export interface AgentState extends Schema.Schema.Type<typeof AgentState> {}

/** As the views show it; of several the first. */
export const agentStandings = ["Paused", "Benched", "QuotaExhausted", "Available"] as const
export type AgentStanding = (typeof agentStandings)[number]

/** What the views show of an agent beside its standing and times. */
export const AgentSummary = Schema.Struct({
  agentKind: Schema.String,
  agentInstanceId: Schema.NullOr(Schema.String),
  pause: Schema.NullOr(AgentPause),
  bench: Schema.NullOr(AgentBench),
  quotaResetAtMs: Schema.NullOr(EpochMs),
  /** Left out in rows of an older version. */
  quotaHitAtMs: Schema.optionalKey(Schema.NullOr(EpochMs)),
  isQuotaExhausted: Schema.Boolean,
  restore: Schema.NullOr(Schema.Struct(agentRestore)),
  fastFails: Count
})
export interface AgentSummary extends Schema.Schema.Type<typeof AgentSummary> {}

/** `pauseExpires` and `quotaResets` when the time is over; `restored` since when a sweep for its items is due. */
const agentDeadlines = ["pauseExpires", "quotaResets", "restored"] as const
export type AgentDeadline = (typeof agentDeadlines)[number]

/** What the breaker goes by: so many runs that end too fast within the window. */
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

/** The item, and its project, at whose pickup or in whose run an agent was found unfit. */
export const ConcernedItem = Schema.Struct({ workItem: WorkItem, project: Project })
export interface ConcernedItem extends Schema.Schema.Type<typeof ConcernedItem> {}

/** Of a probe of credentials, of a login prompt. `epoch`: the run of the process that probed; null: it does not say. */
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

/** When spending the banked quota is best, as the adviser sees it. */
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

/** Reports carry the time at which their fact was seen: one from before the agent recovered benches it no more. */
const agentCommands = {
  /** New work only; what runs is left alone. On a paused agent: the newer pause takes the older one's place. */
  Pause: command("Pause", { reason: PauseReason, pausedBy: Id, expiresAtMs: maybeEpochMs }),
  Resume: command("Resume", { resumedBy: Id, reason: Schema.NullOr(PauseReason) }),
  /** The pause is over if its time is. */
  ExpirePause: command("ExpirePause", {}),
  FailSmoke: command("FailSmoke", smokeFailure),
  /** A probe found the agent fit. */
  PassSmoke: command("PassSmoke", { occurredAtMs: EpochMs }),
  /** A run ended so fast that the agent cannot have worked; the breaker benches it when there are too many. */
  FailFast: command("FailFast", {
    ...fastFailLimit,
    reason: Reason,
    occurredAtMs: EpochMs,
    item: Schema.NullOr(ConcernedItem)
  }),
  /** An operator says that the agent is back. `outageStartedAtMs` null: since when it was benched, if it was. */
  Restore: command("Restore", { restoredBy: Id, outageStartedAtMs: maybeEpochMs }),
  /** The items that the outage before a `Restored` had failed are looked through. */
  CompleteRestoreSweep: command("CompleteRestoreSweep", { ...agentRestore, requeued: Count, skipped: Count }),
  FailSession: command("FailSession", sessionFailure),
  /** `resetAtMs` null: not known. */
  HitQuota: command("HitQuota", { occurredAtMs: EpochMs, resetAtMs: maybeEpochMs }),
  /** The quota is there again; `isForced`: whatever was said of when. */
  ResetQuota: command("ResetQuota", { isForced: Schema.Boolean }),
  /** Spending is best now. `cooldownMs`: after one that was told, no other window is for so long. */
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
 * Followers of the log look through failed items after a `Restored`, and through waiting ones after `Resumed` and
 * `QuotaReset`; these, fast failures and quotas are private.
 */
const agentFacts = {
  Paused: fact("Paused", {
    reason: Pause.fields.reason,
    pausedBy: Pause.fields.pausedBy,
    expiresAtMs: Pause.fields.expiresAtMs
  }),
  Resumed: fact("Resumed", { resumedBy: Resume.fields.resumedBy, reason: Resume.fields.reason }),
  /** `isBenching`: the agent takes no work from now on; else it came late, and is only told. */
  SmokeFailed: fact("SmokeFailed", { ...smokeFailure, isBenching: Schema.Boolean }),
  SmokeRecovered: fact("SmokeRecovered", {
    benchedAtMs: EpochMs,
    recoveredAtMs: EpochMs,
    by: Schema.Literals(["probe", "operator"])
  }),
  /** Items that failed in the outage are to be looked through. */
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
