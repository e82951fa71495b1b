/**
 * The events of an agent. They carry no item and no project, except for a failed test that met an item at its pickup
 * or in its run. Events that name an agent and its instance apart give the kind as the agent.
 */
import type { EventDraft, DecisionContext } from "#actors/definition"
import { type AgentFact, type AgentFactOf, type AgentFactTag, agentOfId, type AgentState, isoTime } from "#contracts"
import { agentHolds } from "./holds.ts"

/** `agent`: as it stands after the fact. */
interface Context extends DecisionContext {
  readonly agent: AgentState
}

type EventsByFact = {
  readonly [Tag in AgentFactTag]: (fact: AgentFactOf<Tag>, context: Context) => EventDraft | undefined
}

const told = (event: string, details: Readonly<Record<string, unknown>>): EventDraft => ({
  event,
  workItem: null,
  project: null,
  details
})

const maybeTime = (epochMs: number | null) => (epochMs === null ? null : isoTime(epochMs))
const silent = () => undefined

/** As pauses name an agent. */
const named = (id: string) => {
  const { agentKind, agentInstanceId } = agentOfId(id)
  return { agent: agentKind, agentInstanceId }
}

const eventsByFact: EventsByFact = {
  Paused: ({ reason, pausedBy, expiresAtMs }, { id, atMs }) =>
    told("agent.paused", {
      ...named(id),
      reason,
      pausedAt: isoTime(atMs),
      pausedBy,
      expiresAt: maybeTime(expiresAtMs)
    }),
  Resumed: ({ resumedBy, reason }, { id, atMs, agent }) =>
    told("agent.resumed", {
      ...named(id),
      resumedAt: isoTime(atMs),
      resumedBy,
      reason,
      holds: agentHolds(agent, atMs)
    }),
  SmokeFailed: ({ item, reason, category, occurredAtMs }, { id }) => ({
    event: "agent.smoke_failed",
    workItem: item?.workItem ?? null,
    project: item?.project ?? null,
    details: { agentKind: agentOfId(id).agentKind, reason, category, occurredAt: isoTime(occurredAtMs) }
  }),
  SmokeRecovered: ({ benchedAtMs, recoveredAtMs, by }, { id, atMs, agent }) =>
    told("agent.smoke_recovered", {
      ...agentOfId(id),
      benchedAt: isoTime(benchedAtMs),
      recoveredAt: isoTime(recoveredAtMs),
      by,
      holds: agentHolds(agent, atMs)
    }),
  RestoreSwept: ({ outageStartedAtMs, restoredAtMs, requeued, skipped }, { id }) =>
    told("agent.restore_requeue_swept", {
      reason: "agent_restore",
      restoredAgent: agentOfId(id).agentKind,
      outageStartedAt: maybeTime(outageStartedAtMs),
      restoredAt: isoTime(restoredAtMs),
      requeued,
      skipped
    }),
  SessionFailed: ({ operation, workItemId, sessionId, error }) =>
    told(`agent.provider_session_${operation}_failed`, { workItemId, sessionId, error }),
  SpendingAdvised: (advice, { id }) => ({ ...told("quota.reset_optimal", adviceOf(advice, id)), usage: null }),
  Restored: silent,
  FailedFast: silent,
  QuotaHit: silent,
  QuotaReset: silent
}

const adviceOf = (advice: AgentFactOf<"SpendingAdvised">, agent: string) => ({
  agent,
  reason: "SpendBeforeDeadline",
  bankedCredits: advice.bankedCredits,
  optimalUntil: isoTime(advice.optimalUntilMs),
  optimalFrom: maybeTime(advice.optimalFromMs),
  predictedNaturalReset: maybeTime(advice.predictedNaturalResetMs),
  decisionDeadline: maybeTime(advice.decisionDeadlineMs),
  nextCreditExpiresAt: maybeTime(advice.nextCreditExpiresAtMs),
  nextCreditIsEstimated: advice.nextCreditIsEstimated,
  usableQuotaPct: advice.usableQuotaPct
})

export const toEvents = (agent: AgentState, fact: AgentFact, context: DecisionContext): ReadonlyArray<EventDraft> => {
  // A fact and its own function are of one tag; the compiler cannot tell that of two looked up apart.
  type Tell = (fact: AgentFact, context: Context) => EventDraft | undefined
  const draft = (eventsByFact[fact._tag] as Tell)(fact, { ...context, agent })
  return draft === undefined ? [] : [draft]
}
