/**
 * What is known of an agent: a whole kind, or one instance of it. An agent that nothing is known of takes work. It
 * takes none while an operator has paused it, while it is benched (its credentials fail, or its runs end too fast),
 * or while its quota is used up. Each of these is held apart, so that the end of one does not end another.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, text } from "../primitives.ts"
import { WaitMs } from "./instants.ts"
import { PauseReason } from "./queue-commands.ts"
import { errorCharactersMax } from "./work-item-state.ts"

export const smokeCategories = ["Persistent", "Transient", "Unknown"] as const
export const SmokeCategory = Schema.Literals(smokeCategories)
export type SmokeCategory = typeof SmokeCategory.Type

/** By what an agent was found unfit: a probe in the background, at pickup, a login prompt at run time, the breaker. */
export const benchCauses = ["probe", "pickup", "login-prompt", "fast-fail"] as const
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
  /** Null: until somebody resumes it. */
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
export const agentRestore = { outageStartedAtMs: Schema.NullOr(EpochMs), restoredAtMs: EpochMs }

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
  /** Until when its quota is used up; `resetAtMs` null: nobody knows. */
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
export const agentDeadlines = ["pauseExpires", "quotaResets", "restored"] as const
export type AgentDeadline = (typeof agentDeadlines)[number]

/** What the breaker goes by: so many runs that end too fast within the window. */
export const fastFailLimit = {
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
