/**
 * Items that are queued again by themselves: after a quota reset or a transient failure, after their agent hung, and
 * after an agent came back whose absence had failed them. Each takes the item to where its phase is waited for.
 */
import { isoTime, type FailureKind, type WorkItemState } from "#contracts"
import {
  type EventsByFact,
  type CommandDeciders,
  decided,
  type Evolvers,
  type InHandDeciders,
  nothing,
  refused
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { failing } from "./failures.ts"
import { phaseOf, readyFor } from "./phases.ts"

const waitingFor = { quota: "WaitingForQuotaReset", transient: "WaitingForTransientRetry" } as const

const attemptsSoFar = (item: WorkItemState, reason: "quota" | "transient") =>
  reason === "quota" ? item.quotaRetries : item.transientRetries

// Failures that are the agent's absence and not the item's fault.
const infraFailures: ReadonlySet<FailureKind> = new Set(["infra", "auth", "quota", "transient"])

export const retryDeciders = {
  AutoRetry: (item, { reason, triggeredBy, attempt }) => {
    const attemptNumber = attemptsSoFar(item, reason) + 1
    if (attempt !== null && attempt !== attemptNumber) return nothing
    if (item.state !== waitingFor[reason]) return refused(item, `it does not wait for a retry after ${reason}`)
    return decided({ _tag: "AutoRetried", reason, attemptNumber, triggeredBy })
  },
  AgentRestoreRequeue: (item, { restoredAgent, outageStartedAtMs, restoredAtMs }) => {
    const { failureKind, phase: from } = item
    const endedAtMs = item.endedAtMs ?? 0
    if (failureKind === null || !infraFailures.has(failureKind)) return refused(item, "it failed by its own fault")
    if ((item.failedAgent ?? item.agent) !== restoredAgent) return refused(item, "it failed with another agent")
    // An outage of unknown beginning has failed nothing that is known of.
    if (outageStartedAtMs === null || endedAtMs < outageStartedAtMs || endedAtMs > restoredAtMs) {
      return refused(item, "it did not fail in the outage")
    }
    return decided({
      _tag: "AgentRestoreRequeued",
      restoredAgent,
      failureKind,
      from,
      outageStartedAtMs,
      restoredAtMs
    })
  }
} satisfies Partial<CommandDeciders>

export const stuckDeciders = {
  "agent-stuck": (item, { stuckSeconds }, { phase, agent: agentKind }) => {
    if (phase !== "work" && phase !== "rework" && phase !== "merge") {
      return refused(item, `no agent is probed in the phase ${phase}`)
    }
    const { retriesWhenStuck, maxTransientRetries } = item.settings
    const stuck = { _tag: "AgentStuck", phase, agentKind, stuckSeconds } as const
    const attemptNumber = item.transientRetries + 1
    return retriesWhenStuck && attemptNumber <= maxTransientRetries
      ? decided(stuck, { _tag: "AutoRetried", reason: "transient", attemptNumber, triggeredBy: "targeted" })
      : decided(stuck, ...failing(item, `the agent hung for ${stuckSeconds} s and was killed`, "stuck"))
  }
} satisfies Partial<InHandDeciders>

export const retryEvolvers = {
  AgentStuck: () => ({}),
  AutoRetried: (item, { reason, attemptNumber }) => ({
    ...readyFor(phaseOf(item)),
    retryAtMs: null,
    quotaResetAtMs: null,
    ...(reason === "quota" ? { quotaRetries: attemptNumber } : { transientRetries: attemptNumber })
  }),
  AgentRestoreRequeued: (item) => ({
    ...readyFor(phaseOf(item)),
    endedAtMs: null,
    failureKind: null,
    failedAgent: null
  })
} satisfies Partial<Evolvers>

export const retryEvents = {
  AgentStuck: (item, { _tag, ...details }, context) => [
    itemEvent(item, context, "work_item.agent_stuck", { ...details, killed: true })
  ],
  AutoRetried: (item, { _tag, ...details }, context) => [
    itemEvent(item, context, "work_item.auto_retry", { workItemId: context.id, ...details })
  ],
  AgentRestoreRequeued: (item, { restoredAgent, failureKind, from, outageStartedAtMs, restoredAtMs }, context) => [
    itemEvent(item, context, "work_item.agent_restore_requeued", {
      workItemId: context.id,
      reason: "agent_restore",
      restoredAgent,
      failureKind,
      triggeredBy: "agent-restore",
      from,
      outageStartedAt: outageStartedAtMs === null ? null : isoTime(outageStartedAtMs),
      restoredAt: isoTime(restoredAtMs)
    })
  ]
} satisfies Partial<EventsByFact>
