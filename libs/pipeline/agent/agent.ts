/**
 * The agent actor: a complete kind, or one instance of it. The first command to an agent creates it. The event of a
 * phase that moved to another agent belongs to the item.
 *
 * An agent's events carry no item and no project, except for a failed test that affected an item at its pickup or in
 * its run. Events with separate fields for an agent and its instance give the kind as the agent.
 */
import { Schema } from "effect"
import type { ActorDefinition, DecisionContext, EventDraft, Projection } from "#actors/definition"
import {
  type AgentCommand,
  type AgentDeadline,
  AgentFact,
  type AgentFactOf,
  type AgentFactTag,
  agentOfId,
  AgentState,
  type AgentSummary
} from "#pipeline/contract"
import { isoTime } from "#base"
import { agentHolds, holdsConcern, statusOf, initialAgent } from "./holds.ts"
import { benchConcern } from "./bench.ts"
import { decided, type Deciders, type Decision, type Evolvers } from "./concern.ts"

/** Null: nothing has happened to an agent of that id yet; it takes work. */
export const agent: ActorDefinition<AgentState | null, AgentCommand, AgentFact> = {
  entity: "agent",
  state: Schema.NullOr(AgentState),
  fact: AgentFact,
  initial: null,
  stateVersion: 1,
  decide: (state, command, context) =>
    (deciders[command._tag] as Decide)(state ?? initialAgent(context.atMs), command, context),
  evolve: (state, fact, context) => {
    const known = state ?? initialAgent(context.atMs)
    return { ...known, ...(evolvers[fact._tag] as Evolve)(known, fact, context), updatedAtMs: context.atMs }
  },
  toEvents: (state, fact, context) => toEvents(state ?? initialAgent(context.atMs), fact, context)
}

// A union member and its decider have the same tag, which the compiler cannot see when each is looked up apart.
type Decide = (agent: AgentState, command: AgentCommand, context: DecisionContext) => Decision
type Evolve = (agent: AgentState, fact: AgentFact, context: DecisionContext) => Partial<AgentState>

const deciders: Deciders = {
  ...benchConcern.commands,
  ...holdsConcern.commands,
  // Each report makes an event; a repeated report has the first one's command id, so it makes none.
  FailSession: (_agent, { _tag, ...failure }) => decided({ _tag: "SessionFailed", ...failure })
}

const evolvers: Evolvers = {
  ...benchConcern.evolve,
  ...holdsConcern.evolve,
  SessionFailed: () => ({})
}

/** `agent`: its state after the fact. */
interface Context extends DecisionContext {
  readonly agent: AgentState
}

type EventsByFact = {
  readonly [Tag in AgentFactTag]: (fact: AgentFactOf<Tag>, context: Context) => EventDraft | undefined
}

const fleetEvent = (event: string, details: Readonly<Record<string, unknown>>): EventDraft => ({
  event,
  workItem: null,
  project: null,
  details
})

const maybeTime = (epochMs: number | null) => (epochMs === null ? null : isoTime(epochMs))
const silent = () => undefined

/** The agent and its instance as the fields of a pause. */
const named = (id: string) => {
  const { agentKind, agentInstanceId } = agentOfId(id)
  return { agent: agentKind, agentInstanceId }
}

const eventsByFact: EventsByFact = {
  Paused: ({ reason, pausedBy, expiresAtMs }, { id, atMs }) =>
    fleetEvent("agent.paused", {
      ...named(id),
      reason,
      pausedAt: isoTime(atMs),
      pausedBy,
      expiresAt: maybeTime(expiresAtMs)
    }),
  Resumed: ({ resumedBy, reason }, { id, atMs, agent }) =>
    fleetEvent("agent.resumed", {
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
    fleetEvent("agent.smoke_recovered", {
      ...agentOfId(id),
      benchedAt: isoTime(benchedAtMs),
      recoveredAt: isoTime(recoveredAtMs),
      by,
      holds: agentHolds(agent, atMs)
    }),
  RestoreSwept: ({ outageStartedAtMs, restoredAtMs, requeued, skipped }, { id }) =>
    fleetEvent("agent.restore_requeue_swept", {
      reason: "agent_restore",
      restoredAgent: agentOfId(id).agentKind,
      outageStartedAt: maybeTime(outageStartedAtMs),
      restoredAt: isoTime(restoredAtMs),
      requeued,
      skipped
    }),
  SessionFailed: ({ operation, workItemId, sessionId, error }) =>
    fleetEvent(`agent.provider_session_${operation}_failed`, { workItemId, sessionId, error }),
  SpendingAdvised: (advice, { id }) => ({ ...fleetEvent("quota.reset_optimal", adviceOf(advice, id)), usage: null }),
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

const toEvents = (agent: AgentState, fact: AgentFact, context: DecisionContext): ReadonlyArray<EventDraft> => {
  // A fact and its function have the same tag, which the compiler cannot see when each is looked up apart.
  type ToEvent = (fact: AgentFact, context: Context) => EventDraft | undefined
  const draft = (eventsByFact[fact._tag] as ToEvent)(fact, { ...context, agent })
  return draft === undefined ? [] : [draft]
}

/** The agent's row, with its hold as last reported. */
export const agentProjection: Projection<AgentState | null> = {
  entity: "agent",
  state: Schema.NullOr(AgentState),
  show: (agent, id) =>
    agent === null
      ? undefined
      : {
          project: null,
          state: statusOf(agent),
          createdAtMs: agent.createdAtMs,
          updatedAtMs: agent.updatedAtMs,
          deadlinesMs: deadlinesOf(agent),
          summary: { ...summaryOf(agent, id) }
        }
}

const deadlinesOf = ({ pause, quota, restore }: AgentState): Readonly<Record<string, number>> => {
  const deadlines: Record<AgentDeadline, number | null> = {
    pauseExpires: pause?.expiresAtMs ?? null,
    quotaResets: quota?.resetAtMs ?? null,
    restored: restore?.restoredAtMs ?? null
  }
  return Object.fromEntries(Object.entries(deadlines).filter((entry): entry is [string, number] => entry[1] !== null))
}

const summaryOf = ({ pause, bench, quota, restore, fastFailsMs }: AgentState, id: string): AgentSummary => ({
  ...agentOfId(id),
  pause,
  bench,
  quotaResetAtMs: quota?.resetAtMs ?? null,
  quotaHitAtMs: quota?.hitAtMs ?? null,
  isQuotaExhausted: quota !== null,
  restore,
  fastFails: fastFailsMs.length
})
