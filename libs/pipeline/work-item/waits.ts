/**
 * The waits of an item other than for a runner: a paused agent, a failed transport, a used-up quota. A quota moves the
 * phase to another member of the agent's class while there is one. A wait counts when it ends in a retry; one more than
 * is allowed fails the item instead.
 *
 * An item is queued again by itself after a quota reset, after a transient failure, after its agent hung, and when the
 * agent whose absence failed it is back. It goes to where its phase waits for a runner.
 */
import type { FailureKind, RetryBackoff, WorkItemPhase, WorkItemState } from "#pipeline/contract"
import { isoTime } from "#base"
import { type Concern, decided, fleetEvent, itemEvent, nothing, refused, silent } from "./concern.ts"
import { failing } from "./failures.ts"
import { agentOf, isReady, phaseOf, readyFor, undispatched } from "./states.ts"

export const waits = {
  commands: {
    ParkForAgent: (item, { reason }) => {
      if (!isReady(item)) return refused(item, "a runner has it")
      return decided({ _tag: "WaitingForAgent", reason, retryFrom: retryFrom[phaseOf(item)] })
    },
    AgentResumed: () => decided({ _tag: "AgentResumed" }),
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
      // An outage with an unknown start has no known failures.
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
  },
  reports: {
    "transient-failed": (item, { reason }, { dispatch: { phase, agent }, atMs, jitter }) => {
      const { maxTransientRetries, transientBackoff } = item.settings
      const attempts = item.transientRetries + 1
      if (attempts > maxTransientRetries) return decided(...failing(item, reason, "transient"))
      const nextRetryAtMs = atMs + backoffMs(transientBackoff, attempts, jitter)
      return decided({ _tag: "WaitingForRetry", phase, agent, reason, nextRetryAtMs, attempts })
    },
    "quota-hit": (item, { reason, toAgent, toModel, resetAtMs }, { dispatch }) => {
      const { phase, iteration } = dispatch
      const handover = { phase, iteration, reason, ...agentOf(item, dispatch) }
      if (toAgent !== null) return decided({ _tag: "FellBack", ...handover, toAgent, toModel })
      return item.quotaRetries < item.settings.maxQuotaRetries
        ? decided({ _tag: "WaitingForQuota", ...handover, resetAtMs })
        : decided(...failing(item, reason, "quota"))
    },
    "agent-stuck": (item, { stuckSeconds }, { dispatch: { phase, agent: agentKind } }) => {
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
  },
  evolve: {
    WaitingForAgent: () => undispatched("WaitingForAgentResume"),
    AgentResumed: (item) => readyFor(phaseOf(item)),
    WaitingForRetry: (_item, { phase, reason, nextRetryAtMs }) => ({
      ...undispatched("WaitingForTransientRetry"),
      phase,
      lastError: reason,
      retryAtMs: nextRetryAtMs
    }),
    WaitingForQuota: (_item, { phase, reason, resetAtMs }) => ({
      ...undispatched("WaitingForQuotaReset"),
      phase,
      lastError: reason,
      quotaResetAtMs: resetAtMs
    }),
    // The next runner must be of the agent that the phase moved to.
    FellBack: (_item, { phase, toAgent }) => ({ ...readyFor(phase), assignedAgent: toAgent }),
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
  },
  events: {
    // No event: the next phase has its own.
    AgentResumed: silent,
    WaitingForAgent: (item, { reason, retryFrom }, context) => [
      itemEvent(item, context, { event: "work_item.waiting_for_agent_resume", details: { reason, retryFrom } })
    ],
    WaitingForRetry: (item, { phase, agent, reason, nextRetryAtMs, attempts }, context) => [
      itemEvent(item, context, {
        event: "work_item.waiting_for_transient_retry",
        details: {
          workItemId: context.id,
          phase,
          agent,
          reason,
          nextRetryAt: isoTime(nextRetryAtMs),
          attempts
        }
      })
    ],
    WaitingForQuota: (item, { _tag, resetAtMs: _resetAtMs, ...handover }, context) => [
      itemEvent(item, context, {
        event: "work_item.waiting_for_quota_reset",
        details: {
          workItemId: context.id,
          ...handover,
          toAgent: null,
          toModel: null
        }
      })
    ],
    FellBack: (_item, { _tag, ...handover }, context) => [
      fleetEvent("agent.fallback", { workItemId: context.id, ...handover })
    ],
    AgentStuck: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, { event: "work_item.agent_stuck", details: { ...details, killed: true } })
    ],
    AutoRetried: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, { event: "work_item.auto_retry", details: { workItemId: context.id, ...details } })
    ],
    AgentRestoreRequeued: (item, { restoredAgent, failureKind, from, outageStartedAtMs, restoredAtMs }, context) => [
      itemEvent(item, context, {
        event: "work_item.agent_restore_requeued",
        details: {
          workItemId: context.id,
          reason: "agent_restore",
          restoredAgent,
          failureKind,
          triggeredBy: "agent-restore",
          from,
          outageStartedAt: outageStartedAtMs === null ? null : isoTime(outageStartedAtMs),
          restoredAt: isoTime(restoredAtMs)
        }
      })
    ]
  }
} satisfies Concern

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

/** The wait before a retry, counted from 1; `jitter` is random, from 0 to 1. */
export const backoffMs = ({ initialMs, maxMs, jitter: share }: RetryBackoff, attempt: number, jitter: number) =>
  Math.round(Math.min(initialMs * 2 ** Math.min(attempt - 1, 50), maxMs) * (1 + share * jitter))

const waitingFor = { quota: "WaitingForQuotaReset", transient: "WaitingForTransientRetry" } as const

const attemptsSoFar = (item: WorkItemState, reason: "quota" | "transient") =>
  reason === "quota" ? item.quotaRetries : item.transientRetries

// Failures caused by the agent's absence, not by the item.
const infraFailures: ReadonlySet<FailureKind> = new Set(["infra", "auth", "quota", "transient"])
