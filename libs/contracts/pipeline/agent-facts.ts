/**
 * What has happened to an agent, as its log tells it. Followers of the log look through failed items after a
 * `Restored`, and through waiting ones after `Resumed` and `QuotaReset`; these, fast failures and quotas are private.
 */
import { Schema } from "effect"
import { Count, EpochMs } from "../primitives.ts"
import { agentCommands, quotaAdvice, sessionFailure, smokeFailure } from "./agent-commands.ts"
import { agentRestore } from "./agent-state.ts"

const fact = Schema.TaggedStruct
const { HitQuota, Pause, Resume } = agentCommands
const MaybeText = Schema.NullOr(Schema.String)

export const agentFacts = {
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
