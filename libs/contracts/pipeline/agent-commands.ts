/**
 * What can be asked of an agent, and reported of it. Reports carry the time at which their fact was seen: one from
 * before the agent recovered benches it no more.
 */
import { Schema } from "effect"
import { Project, WorkItem } from "../entities.ts"
import { Count, EpochMs, Id, text } from "../primitives.ts"
import { agentReasonCharactersMax, agentRestore, BenchCause, fastFailLimit, SmokeCategory } from "./agent-state.ts"
import { WaitMs } from "./instants.ts"
import { PauseReason } from "./queue-commands.ts"

const command = Schema.TaggedStruct
const Reason = Schema.NullOr(text(agentReasonCharactersMax))
const maybeEpochMs = Schema.NullOr(EpochMs)

/** The item, and its project, at whose pickup or in whose run an agent was found unfit. */
export const ConcernedItem = Schema.Struct({ workItem: WorkItem, project: Project })
export interface ConcernedItem extends Schema.Schema.Type<typeof ConcernedItem> {}

/** Of a probe of credentials, of a login prompt. `epoch`: the run of the process that probed; null: it does not say. */
export const smokeFailure = {
  cause: BenchCause,
  reason: Reason,
  category: SmokeCategory,
  occurredAtMs: EpochMs,
  item: Schema.NullOr(ConcernedItem),
  epoch: Schema.NullOr(Id)
}

export const sessionFailure = {
  operation: Schema.Literals(["suspend", "close"]),
  workItemId: Id,
  sessionId: text(200),
  error: text(2_000)
}

/** When spending the banked quota is best, as the adviser sees it. */
export const quotaAdvice = {
  bankedCredits: Schema.NullOr(Schema.Int),
  optimalUntilMs: EpochMs,
  optimalFromMs: maybeEpochMs,
  predictedNaturalResetMs: maybeEpochMs,
  decisionDeadlineMs: maybeEpochMs,
  nextCreditExpiresAtMs: maybeEpochMs,
  nextCreditIsEstimated: Schema.Boolean,
  usableQuotaPct: Schema.NullOr(Schema.Finite)
}

export const agentCommands = {
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
