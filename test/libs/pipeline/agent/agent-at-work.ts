/** An agent under test, and the commands on it. */
import { AgentCommand, type AgentCommandOf } from "#pipeline/contract"
import { agent } from "#pipeline"
import { entityAtWork, startMs } from "../entity-at-work.ts"
import { wireItem, wireProject } from "../wire-item.ts"

export const agentAtWork = (id = "smith") => entityAtWork(agent, AgentCommand, id)

export const item = { workItem: wireItem, project: wireProject }

export const pause = (expiresAtMs: number | null = null) =>
  ({ _tag: "Pause", reason: "the forge is hot", pausedBy: "ann", expiresAtMs }) as const
export const resume = { _tag: "Resume", resumedBy: "ben", reason: null } as const

export const failed = (
  atMs: number,
  changes: Partial<AgentCommandOf<"FailSmoke">> = {}
): AgentCommandOf<"FailSmoke"> => ({
  _tag: "FailSmoke",
  cause: "probe",
  reason: "auth",
  category: "Persistent",
  occurredAtMs: startMs + atMs,
  item: null,
  epoch: null,
  ...changes
})
export const passed = (atMs: number) => ({ _tag: "PassSmoke", occurredAtMs: startMs + atMs }) as const
export const failedFast = (
  atMs: number,
  changes: Partial<AgentCommandOf<"FailFast">> = {}
): AgentCommandOf<"FailFast"> => ({
  _tag: "FailFast",
  failuresMax: 3,
  windowMs: 60_000,
  reason: null,
  occurredAtMs: startMs + atMs,
  item: null,
  ...changes
})
export const restore = (outageStartedAtMs: number | null = null) =>
  ({ _tag: "Restore", restoredBy: "ann", outageStartedAtMs }) as const
export const advice = (
  optimalUntilMs: number,
  changes: Partial<AgentCommandOf<"AdviseSpending">> = {}
): AgentCommandOf<"AdviseSpending"> => ({
  _tag: "AdviseSpending",
  bankedCredits: 2,
  optimalUntilMs: startMs + optimalUntilMs,
  optimalFromMs: null,
  predictedNaturalResetMs: startMs + 9_000_000,
  decisionDeadlineMs: null,
  nextCreditExpiresAtMs: null,
  nextCreditIsEstimated: true,
  usableQuotaPct: 12.5,
  cooldownMs: 60_000,
  ...changes
})
