/** Scenarios of releases, projects, queues and the fleet at large: by operators over HTTP, and by reports. */
import type { ReportKind } from "#pipeline/contract"
import type { Json } from "./pipeline-api.ts"
import type { ReceivedEnvelope } from "./pipeline-deliveries.ts"
import type { PipelineFleet } from "./pipeline-fleet.ts"
import { createItem, type Scenario } from "./pipeline-item-scenarios.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const says = (details: Json) => (envelope: ReceivedEnvelope) =>
  Object.entries(details).every(([key, value]) => envelope.details?.[key] === value)

const reported =
  (event: string, kind: ReportKind, fields: () => Json): Scenario =>
  async ({ bus, deliveries }) => {
    await bus.report(kind, fields())
    await deliveries.heard(event)
  }

const leak = {
  name: "service-lost-1",
  ageMinutes: 90.5,
  diskMb: null,
  reason: "untracked_sandbox_age_threshold_exceeded"
}
const nowhere = () => ({ workItemId: null, dispatchId: null, suggestedRetryAtMs: Date.now() + 60_000 })
const session = () => ({
  agent: "coder",
  agentInstanceId: null,
  workItemId: crypto.randomUUID(),
  sessionId: "session-1",
  error: "the provider did not answer"
})

const createRelease = async ({ api, deliveries }: PipelineFleet, projectId: string) => {
  const name = `release ${crypto.randomUUID().slice(0, 8)}`
  const id = String((await api.call("POST", "/releases", { name, projectId }))["id"])
  const heard = (event: string) => deliveries.heard(event, ({ release }) => release?.id === id)
  await heard("release.created")
  return { id, heard }
}

const close = async ({ api }: PipelineFleet, release: Awaited<ReturnType<typeof createRelease>>) => {
  await api.call("POST", `/releases/${release.id}/close`, { reason: "all in" })
  await release.heard("release.closed")
}

const iteration = (releaseId: string, changes: Json) => ({
  releaseId,
  auditId: null,
  iteration: 1,
  maxIterations: 2,
  blockingFindings: 0,
  totalFindings: 3,
  remediation: null,
  ...changes
})

/** With a failed item, through a review that has to be mended, to its publication. */
const published: Scenario = async (fleet, projectId) => {
  const { api, bus, deliveries } = fleet
  const release = await createRelease(fleet, projectId)
  const releaseId = release.id
  const item = await createItem(fleet, projectId, "!fail", { releaseId })
  await release.heard("release.work_item_added")
  await deliveries.heard("work_item.failed", ({ workItem }) => workItem?.id === item)
  await until(async () => {
    const items = (await api.call("GET", `/releases/${releaseId}`))["workItems"]
    return JSON.stringify(items).includes('"outcome":"failed"')
  })
  await bus.report("release-sync-conflict", { releaseId, sourceBranch: "release/x", targetBranch: "main" })
  await release.heard("release.sync_conflict")
  await close(fleet, release)
  await release.heard("release.has_failed_work_items")
  await bus.report("release-deep-audit-begun", { releaseId, auditId: "audit-1", maxIterations: 2 })
  await release.heard("release.in_review")
  const remediation = { title: "Mend it", instructions: null, agent: "nobody" }
  await bus.report("release-deep-audit-iteration-ended", iteration(releaseId, { blockingFindings: 1, remediation }))
  await release.heard("release.deep_audit_iteration_complete")
  await release.heard("release.deep_audit_remediation_dispatched")
  await bus.report("release-deep-audit-iteration-ended", iteration(releaseId, { iteration: 2 }))
  await bus.report("release-published", { releaseId, mergeSha: "0123456789abcdef", forgeReleaseUrl: null })
  await release.heard("release.published")
}

const failed: Scenario = async (fleet, projectId) => {
  const release = await createRelease(fleet, projectId)
  const releaseId = release.id
  await close(fleet, release)
  await fleet.bus.report("release-deep-audit-begun", { releaseId, auditId: "audit-1", maxIterations: 1 })
  await release.heard("release.in_review")
  const last = iteration(releaseId, { maxIterations: 1, blockingFindings: 2 })
  await fleet.bus.report("release-deep-audit-iteration-ended", last)
  await release.heard("release.failed")
  await fleet.api.call("POST", `/releases/${releaseId}/reopen`, { reason: "once more" })
  await release.heard("release.reopened")
  await fleet.api.call("POST", `/releases/${releaseId}/abandon`, { reason: "enough" })
  await release.heard("release.abandoned")
}

/** Spend crosses the warning, then the hard cap; a larger budget lets it recover. */
const overBudget: Scenario = async (fleet) => {
  const { api, deliveries } = fleet
  const settings = { monthlyBudgetUsd: 10, warningThresholdPct: 80, hardCapPct: 100 }
  const projectId = await fleet.project(settings)
  const heard = (event: string) => deliveries.heard(event, says({ projectId }))
  await createItem(fleet, projectId, "!spend 8500000")
  await heard("project.budget_warning")
  const late = await createItem(fleet, projectId, "!spend 5000000")
  await heard("project.budget_exceeded")
  await heard("project.queue_paused")
  const { displayName, repositoryUrl } = await api.call("GET", `/projects/${projectId}`)
  await api.call("PUT", `/projects/${projectId}`, { displayName, repositoryUrl, ...settings, monthlyBudgetUsd: 1_000 })
  await heard("project.budget_recovered")
  await heard("project.queue_resumed")
  await deliveries.heard("work_item.done", ({ workItem }) => workItem?.id === late)
}

const queuePaused: Scenario = async ({ api, deliveries }) => {
  await api.call("POST", "/queue/pause", { reason: "a moment of quiet" })
  await deliveries.heard("queue.paused")
  await api.call("POST", "/queue/resume")
  await deliveries.heard("queue.resumed")
}

const quotaForecast = () => ({
  agent: "left",
  bankedCredits: 2,
  usableQuotaPct: 40.5,
  predictedNaturalResetMs: Date.now() + 7_200_000,
  nextCreditExpiresAtMs: Date.now() + 5_400_000,
  nextCreditIsEstimated: true,
  optimalFromMs: Date.now() - 60_000,
  optimalUntilMs: Date.now() + 3_600_000,
  decisionDeadlineMs: Date.now() + 3_000_000
})

export const fleetScenarios = {
  "a release that is published": published,
  "a release that fails, is opened again and abandoned": failed,
  "a project over its budget": overBudget,
  "a queue that is paused": queuePaused,
  "a forecast of a quota": reported("quota.reset_optimal", "quota-forecast", quotaForecast),
  "a session that is not suspended": reported(
    "agent.provider_session_suspend_failed",
    "provider-session-suspend-failed",
    session
  ),
  "a session that is not closed": reported(
    "agent.provider_session_close_failed",
    "provider-session-close-failed",
    session
  ),
  "a disk that is full": reported("disk.deferred", "disk-deferred", () => ({
    ...nowhere(),
    runner: "host-1",
    mountPath: "/var/work",
    freeBytes: 1_000,
    thresholdBytes: 5_000
  })),
  "a provider that puts off": reported("sandbox.provisioning_deferred", "sandbox-provisioning-deferred", () => ({
    ...nowhere(),
    provider: "clouds",
    operation: "create",
    errorClass: "RateLimited"
  })),
  "a sandbox that leaked": reported("sandbox.leak_detected", "sandbox-leak-detected", () => leak),
  "a leaked sandbox that is disposed of": reported("sandbox.leak_disposed", "sandbox-leak-disposed", () => ({
    ...leak,
    disposedAtMs: Date.now()
  })),
  "a leaked sandbox that is not disposed of": reported(
    "sandbox.leak_dispose_failed",
    "sandbox-leak-dispose-failed",
    () => ({ ...leak, error: "it would not go" })
  )
} satisfies Record<string, Scenario>
