/**
 * What an item waits for other than a runner: an agent that is paused, a transport that failed, a quota that is used
 * up. A quota moves the phase to another member of the agent's class while there is one. Waits are counted when they
 * end in a retry; one more than is allowed fails the item instead.
 */
import { isoTime, type WorkItemPhase } from "#contracts"
import {
  type EventsByFact,
  type CommandDeciders,
  decided,
  type Evolvers,
  type InHandDeciders,
  refused,
  silent
} from "./decisions.ts"
import { fleetEvent, itemEvent } from "./envelope.ts"
import { failing } from "./failures.ts"
import { agentOf, isReady, phaseOf, readyFor, standing } from "./phases.ts"
import { backoffMs } from "./upstream.ts"

// The four phases that the event knows.
const retryFrom: Record<WorkItemPhase, "work" | "audit" | "merge" | "upstream"> = {
  work: "work",
  rework: "work",
  delegation: "work",
  audit: "audit",
  merge: "merge",
  "conflict-rework": "merge",
  upstream: "upstream"
}

export const waitReportDeciders = {
  "transient-failed": (item, { reason }, { phase, agent }, { atMs, jitter }) => {
    const { maxTransientRetries, transientBackoff } = item.settings
    const attempts = item.transientRetries + 1
    if (attempts > maxTransientRetries) return decided(...failing(item, reason, "transient"))
    const nextRetryAtMs = atMs + backoffMs(transientBackoff, attempts, jitter)
    return decided({ _tag: "WaitingForRetry", phase, agent, reason, nextRetryAtMs, attempts })
  },
  "quota-hit": (item, { reason, toAgent, toModel, resetAtMs }, dispatch) => {
    const { phase, iteration } = dispatch
    const handover = { phase, iteration, reason, ...agentOf(item, dispatch) }
    if (toAgent !== null) return decided({ _tag: "FellBack", ...handover, toAgent, toModel })
    return item.quotaRetries < item.settings.maxQuotaRetries
      ? decided({ _tag: "WaitingForQuota", ...handover, resetAtMs })
      : decided(...failing(item, reason, "quota"))
  }
} satisfies Partial<InHandDeciders>

export const waitDeciders = {
  ParkForAgent: (item, { reason }) => {
    if (!isReady(item)) return refused(item, "a runner has it")
    return decided({ _tag: "WaitingForAgent", reason, retryFrom: retryFrom[phaseOf(item)] })
  },
  AgentResumed: () => decided({ _tag: "AgentResumed" })
} satisfies Partial<CommandDeciders>

export const waitEvolvers = {
  WaitingForAgent: () => standing("WaitingForAgentResume"),
  AgentResumed: (item) => readyFor(phaseOf(item)),
  WaitingForRetry: (_item, { phase, reason, nextRetryAtMs }) => ({
    ...standing("WaitingForTransientRetry"),
    phase,
    lastError: reason,
    retryAtMs: nextRetryAtMs
  }),
  WaitingForQuota: (_item, { phase, reason, resetAtMs }) => ({
    ...standing("WaitingForQuotaReset"),
    phase,
    lastError: reason,
    quotaResetAtMs: resetAtMs
  }),
  // Whoever is next is to be of the agent it moved to.
  FellBack: (_item, { phase, toAgent }) => ({ ...readyFor(phase), assignedAgent: toAgent })
} satisfies Partial<Evolvers>

export const waitEvents = {
  // Nobody is told: the next phase tells of itself.
  AgentResumed: silent,
  WaitingForAgent: (item, { reason, retryFrom }, context) => [
    itemEvent(item, context, "work_item.waiting_for_agent_resume", { reason, retryFrom })
  ],
  WaitingForRetry: (item, { phase, agent, reason, nextRetryAtMs, attempts }, context) => [
    itemEvent(item, context, "work_item.waiting_for_transient_retry", {
      workItemId: context.id,
      phase,
      agent,
      reason,
      nextRetryAt: isoTime(nextRetryAtMs),
      attempts
    })
  ],
  WaitingForQuota: (item, { _tag, resetAtMs: _resetAtMs, ...handover }, context) => [
    itemEvent(item, context, "work_item.waiting_for_quota_reset", {
      workItemId: context.id,
      ...handover,
      toAgent: null,
      toModel: null
    })
  ],
  FellBack: (_item, { _tag, ...handover }, context) => [
    fleetEvent("agent.fallback", { workItemId: context.id, ...handover })
  ]
} satisfies Partial<EventsByFact>
