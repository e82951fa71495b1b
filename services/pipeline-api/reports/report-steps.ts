/**
 * The steps that follow from a report: commands for the actors it concerns, or an event of the entire fleet. The most
 * important goes first, so that a report handed back half done is completed the next time. Pure.
 */
import {
  agentIdOf,
  type CommandEntity,
  type ConcernedItem,
  isRunnerReport,
  type Report,
  type ReportKind,
  type RunnerReport,
  type WorkItemDispatch
} from "#pipeline/contract"
import type { ConfigurationFile } from "#configuration"
import { isoTime } from "#base"
import type { CommandOf } from "#pipeline"
import type { AgentRoster } from "../Routing.ts"

interface StepOf<Entity extends CommandEntity> {
  readonly _tag: "Command"
  readonly entity: Entity
  readonly id: string
  readonly command: CommandOf<Entity>
}
export type CommandStep = { readonly [Entity in CommandEntity]: StepOf<Entity> }[CommandEntity]
export interface PublishStep {
  readonly _tag: "Tell"
  readonly event: string
  readonly details: Readonly<Record<string, unknown>>
}
type ReportStep = CommandStep | PublishStep

export interface ReportMaterial {
  /** When the report was stored: the same for every redelivery. */
  readonly atMs: number
  readonly jitter: number
  readonly freshWorkItemId: string
  /** This run of the role. */
  readonly epoch: string
  readonly configured: Pick<ConfigurationFile, "Agents" | "Pipeline" | "QuotaRetry" | "StalePullRequestSweep">
  readonly roster: AgentRoster
  /** The current state of the report's item, if any. */
  readonly item: ConcernedItem | null
  /** The runner's own dispatch of that item. */
  readonly dispatch: WorkItemDispatch | null
  /** The agent that takes over from one that is out of quota; null: none. */
  readonly fallback: { readonly agent: string; readonly model: string | null } | null
}

export const reportSteps = (report: Report, material: ReportMaterial): ReadonlyArray<ReportStep> =>
  isRunnerReport(report) ? runnerSteps(report, material) : (steps[report.kind] as Steps)(report, material)

type Steps = (report: Report, material: ReportMaterial) => ReadonlyArray<ReportStep>
type FleetKind = Exclude<ReportKind, RunnerReport["kind"]>

const command = <Entity extends CommandEntity>(
  entity: Entity,
  id: string,
  given: CommandOf<Entity>
): StepOf<Entity> => ({ _tag: "Command", entity, id, command: given })

const minuteMs = 60_000

const runnerSteps = (report: RunnerReport, material: ReportMaterial): ReadonlyArray<ReportStep> => {
  const { jitter, freshWorkItemId } = material
  const decided = command("workitem", report.workItemId, {
    _tag: "Report",
    report: withFallback(report, material),
    jitter,
    freshWorkItemId
  })
  return [...agentSteps(report, material), decided]
}

const withFallback = (report: RunnerReport, { fallback }: ReportMaterial): RunnerReport =>
  report.kind === "quota-hit" && report.toAgent === null && fallback !== null
    ? { ...report, toAgent: fallback.agent, toModel: fallback.model }
    : report

/** The steps for the agent working on the item; none if that dispatch is over. */
const agentSteps = (report: RunnerReport, material: ReportMaterial): ReadonlyArray<ReportStep> => {
  const { dispatch, atMs, configured, roster } = material
  if (dispatch === null || report.kind === "recheck-completed" || report.dispatchId !== dispatch.dispatchId) return []
  const { agent, agentInstanceId } = dispatch
  if (report.kind === "quota-hit") {
    // When the kind has no instances of its own, the account belongs to the kind.
    const id = agentIdOf(agent, roster.hasInstances(agent) ? agentInstanceId : null)
    const resetAtMs = report.resetAtMs ?? atMs + configured.QuotaRetry.PeriodicMinutes * minuteMs
    return [command("agent", id, { _tag: "HitQuota", occurredAtMs: atMs, resetAtMs: Math.round(resetAtMs) })]
  }
  const isBroken =
    report.kind === "agent-died" ||
    (report.kind === "failed" && (report.failureKind === "agent" || report.failureKind === "infra"))
  if (!isBroken || atMs - dispatch.atMs >= configured.Agents.FastFailSeconds * 1_000) return []
  return [
    command("agent", agentIdOf(agent, agentInstanceId), {
      _tag: "FailFast",
      failuresMax: configured.Agents.FastFailuresMax,
      windowMs: Math.round(configured.Agents.FastFailWindowMinutes * minuteMs),
      reason: report.reason.slice(0, 500),
      occurredAtMs: atMs,
      item: material.item
    })
  ]
}

/** An agent permanently refused right after it was given an item fails the item; a transient refusal does not. */
const refusedAtPickup = (report: Report<"smoke-result">, { dispatch, jitter, freshWorkItemId }: ReportMaterial) => {
  const { agent, agentInstanceId, cause, category, workItemId, reason, reportId } = report
  if (cause !== "pickup" || category !== "Persistent" || workItemId === null || dispatch === null) return []
  const isAtWork =
    dispatch.agent === agent && (agentInstanceId === null || dispatch.agentInstanceId === agentInstanceId)
  if (!isAtWork) return []
  const { dispatchId } = dispatch
  const error = `the agent is not authorised: ${reason ?? "its test failed"}`
  const failed = { kind: "failed", reportId, workItemId, dispatchId, reason: error, failureKind: "auth" } as const
  return [command("workitem", workItemId, { _tag: "Report", report: failed, jitter, freshWorkItemId })]
}

const session =
  (operation: "suspend" | "close") =>
  (report: Report<"provider-session-close-failed" | "provider-session-suspend-failed">) => {
    const { agent, agentInstanceId, workItemId, sessionId, error } = report
    const id = agentIdOf(agent, agentInstanceId)
    return [command("agent", id, { _tag: "FailSession", operation, workItemId, sessionId, error })]
  }

const leak =
  (event: string) =>
  (report: Report<"sandbox-leak-detected" | "sandbox-leak-disposed" | "sandbox-leak-dispose-failed">) => {
    const { name, ageMinutes, diskMb, reason } = report
    const more =
      report.kind === "sandbox-leak-disposed"
        ? { disposedAt: isoTime(report.disposedAtMs) }
        : report.kind === "sandbox-leak-dispose-failed"
          ? { error: report.error }
          : {}
    return [{ _tag: "Tell" as const, event, details: { name, ageMinutes, diskMb, reason, ...more } }]
  }

const steps: {
  readonly [Kind in FleetKind]: (report: Report<Kind>, material: ReportMaterial) => ReadonlyArray<ReportStep>
} = {
  "smoke-result": (report, material) => {
    const id = agentIdOf(report.agent, report.agentInstanceId)
    const { outcome, cause, reason, category, occurredAtMs, epoch } = report
    if (outcome === "passed") return [command("agent", id, { _tag: "PassSmoke", occurredAtMs })]
    // A background probe concerns no item, whatever it reports.
    const item = cause === "pickup" ? material.item : null
    const benched = command("agent", id, { _tag: "FailSmoke", cause, reason, category, occurredAtMs, item, epoch })
    return [benched, ...refusedAtPickup(report, material)]
  },
  "quota-forecast": (report, { atMs, configured }) => {
    const { AdviceFor, AdviceCooldownMinutes } = configured.Agents
    const { agent, optimalFromMs, optimalUntilMs } = report
    const isWatched = AdviceFor.length === 0 || AdviceFor.includes(agent)
    // The adviser names the best time to spend; before then there is nothing to announce.
    if (!isWatched || optimalUntilMs === null || (optimalFromMs !== null && optimalFromMs > atMs)) return []
    return [
      command("agent", agent, {
        _tag: "AdviseSpending",
        bankedCredits: report.bankedCredits,
        optimalUntilMs,
        optimalFromMs,
        predictedNaturalResetMs: report.predictedNaturalResetMs,
        decisionDeadlineMs: report.decisionDeadlineMs,
        nextCreditExpiresAtMs: report.nextCreditExpiresAtMs,
        nextCreditIsEstimated: report.nextCreditIsEstimated,
        usableQuotaPct: report.usableQuotaPct,
        cooldownMs: Math.round(AdviceCooldownMinutes * minuteMs)
      })
    ]
  },
  "provider-session-suspend-failed": session("suspend"),
  "provider-session-close-failed": session("close"),
  "disk-deferred": ({ workItemId, dispatchId, suggestedRetryAtMs, mountPath, freeBytes, thresholdBytes }) => {
    if (workItemId !== null) {
      const deferral = { kind: "disk", mountPath, freeBytes, thresholdBytes, suggestedRetryAtMs } as const
      return [command("workitem", workItemId, { _tag: "Defer", dispatchId, deferral })]
    }
    const details = { mountPath, freeBytes, thresholdBytes, suggestedRetryAt: isoTime(suggestedRetryAtMs) }
    return [{ _tag: "Tell", event: "disk.deferred", details }]
  },
  "sandbox-provisioning-deferred": ({
    workItemId,
    dispatchId,
    suggestedRetryAtMs,
    provider,
    operation,
    errorClass
  }) => {
    if (workItemId !== null) {
      const deferral = { kind: "sandbox", provider, operation, errorClass, suggestedRetryAtMs } as const
      return [command("workitem", workItemId, { _tag: "Defer", dispatchId, deferral })]
    }
    const details = {
      provider,
      operation,
      errorClass,
      resumeState: "none",
      suggestedRetryAt: isoTime(suggestedRetryAtMs)
    }
    return [{ _tag: "Tell", event: "sandbox.provisioning_deferred", details }]
  },
  "sandbox-leak-detected": leak("sandbox.leak_detected"),
  "sandbox-leak-disposed": leak("sandbox.leak_disposed"),
  "sandbox-leak-dispose-failed": leak("sandbox.leak_dispose_failed"),
  "release-deep-audit-begun": ({ releaseId, auditId, maxIterations }) => [
    command("release", releaseId, { _tag: "BeginDeepAudit", auditId, maxIterations })
  ],
  "release-deep-audit-iteration-ended": (report, { freshWorkItemId }) => {
    const { releaseId, auditId, iteration, maxIterations, blockingFindings, totalFindings } = report
    const remediation = report.remediation === null ? null : { workItemId: freshWorkItemId, ...report.remediation }
    const ended = { auditId, iteration, maxIterations, blockingFindings, totalFindings, remediation }
    return [command("release", releaseId, { _tag: "CompleteAuditIteration", ...ended })]
  },
  "release-published": ({ releaseId, mergeSha, forgeReleaseUrl }) => [
    command("release", releaseId, { _tag: "Publish", mergeSha, forgeReleaseUrl })
  ],
  "release-sync-conflict": ({ releaseId, sourceBranch, targetBranch }, { configured }) => [
    command("release", releaseId, {
      _tag: "ReportSyncConflict",
      sourceBranch,
      targetBranch,
      sweepIntervalMs: Math.round(configured.Pipeline.ReleaseSyncSeconds * 1_000)
    })
  ],
  "pull-request-mergeability": (report, { item, epoch, configured }) => {
    const { projectId, workItemId, pullRequestNumber, pullRequestUrl, headBranch, headSha, baseBranch } = report
    const { firstDetectedAtMs, mergeability } = report
    const routed = configured.StalePullRequestSweep.RouteToConflictRework ? workItemId : null
    if (mergeability !== "stale-base") {
      if (routed === null) return []
      const head = mergeability === "mergeable" ? headSha : null
      return [command("workitem", routed, { _tag: "ForgetStaleHead", pullRequestNumber, headSha: head })]
    }
    const stale = { pullRequestNumber, pullRequestUrl, headBranch, headSha, baseBranch, firstDetectedAtMs }
    const reporting = command("project", projectId, {
      _tag: "ReportStaleBase",
      ...stale,
      workItem: item?.workItem ?? null,
      epoch
    })
    if (routed === null) return [reporting]
    return [reporting, command("workitem", routed, { _tag: "RouteToConflictRework", pullRequestNumber, headSha })]
  }
}

/**
 * What remains of a report that its item refuses: its cost. It is counted as progress of the same dispatch, under the
 * report's own id, so that it is never counted twice. Undefined for a report without a cost.
 */
export const usageStep = (
  report: Report,
  { jitter, freshWorkItemId }: { readonly jitter: number; readonly freshWorkItemId: string }
): CommandStep | undefined => {
  if (!isRunnerReport(report) || report.kind === "recheck-completed" || report.usage === undefined) return undefined
  const { reportId, workItemId, dispatchId, usage } = report
  const progress = { kind: "progress", reportId, workItemId, dispatchId, usage } as const
  return {
    _tag: "Command",
    entity: "workitem",
    id: workItemId,
    command: { _tag: "Report", report: progress, jitter, freshWorkItemId }
  }
}
