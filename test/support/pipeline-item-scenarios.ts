/**
 * Scenarios of work items, each provoked as in the field: by an agent's actions (the orders of the example agent), by
 * operators over HTTP, by reports. A scenario ends when its event has arrived.
 */
import { assert } from "@effect/vitest"
import type { Json } from "./pipeline-api.ts"
import type { ReceivedEnvelope } from "./pipeline-deliveries.ts"
import type { PipelineFleet } from "./pipeline-fleet.ts"
import { until } from "../../dev/fixtures/eventually.ts"

export type Scenario = (fleet: PipelineFleet, projectId: string) => Promise<void>

export const createItem = async (
  { api }: PipelineFleet,
  projectId: string,
  instructions: string | null,
  more: Json = {}
): Promise<string> => {
  const body = { title: `Do ${instructions ?? "it"}`, projectId, instructions, ...more }
  const { id } = await api.call("POST", "/workitems", body)
  return String(id)
}

const of = (id: string) => (envelope: ReceivedEnvelope) => envelope.workItem?.id === id
const says = (details: Json) => (envelope: ReceivedEnvelope) =>
  Object.entries(details).every(([key, value]) => envelope.details?.[key] === value)

const stateOf = async ({ api }: PipelineFleet, id: string) => (await api.call("GET", `/workitems/${id}`))["state"]

/** Takes an item to an event with nothing but orders. */
const ordered =
  (event: string, instructions: string, more: Json = {}): Scenario =>
  async (fleet, projectId) => {
    const id = await createItem(fleet, projectId, instructions, more)
    await fleet.deliveries.heard(event, of(id))
  }

// In the form of a real one; it opens nothing.
const plantedSecret = `ghp_${"0123456789".repeat(3)}abcdef`

const asked: Scenario = async (fleet, projectId) => {
  const { api, deliveries, repository } = fleet
  const id = await createItem(fleet, projectId, "!ask Which token?")
  await deliveries.heard("work_item.question_asked", of(id))
  await deliveries.heard("work_item.needs_operator_input", of(id))
  const answer = `Take ${plantedSecret}, please`
  await api.call("POST", `/workitems/${id}/answer`, { questionId: "q-1", answer })
  const told = await deliveries.heard("work_item.question_answered", of(id))
  assert.notInclude(JSON.stringify(told), plantedSecret)
  await deliveries.heard("work_item.done", of(id))
  // The agent was given it as it was written.
  assert.include(repository.file("main", `items/${id}.md`), plantedSecret)
}

const dismissed: Scenario = async (fleet, projectId) => {
  const id = await createItem(fleet, projectId, "!ask Must I?")
  await fleet.deliveries.heard("work_item.question_asked", of(id))
  await fleet.api.call("POST", `/workitems/${id}/dismiss-question`, { questionId: "q-1", reason: "as you like" })
  await fleet.deliveries.heard("work_item.question_dismissed", of(id))
  await fleet.deliveries.heard("work_item.done", of(id))
}

const cancelled: Scenario = async (fleet, projectId) => {
  const { api, deliveries } = fleet
  const id = await createItem(fleet, projectId, null, { agent: "nobody" })
  await api.call("DELETE", `/workitems/${id}`, { reason: "not needed", resolutionSha: "0123abc" })
  await deliveries.heard("work_item.cancelled", of(id))
  await api.call("POST", `/workitems/${id}/resume`)
  await deliveries.heard("work_item.resumed", of(id))
  await api.call("POST", `/workitems/${id}/delegate`, { reason: "somebody else has to" })
  await deliveries.heard("work_item.delegated", of(id))
  await api.call("DELETE", `/workitems/${id}`)
}

const recovered: Scenario = async (fleet, projectId) => {
  const { deliveries } = fleet
  const id = await createItem(fleet, projectId, "!die work", { agent: "mortal" })
  await deliveries.heard("work_item.recovered", (one) => of(id)(one) && says({ toState: "Queued" })(one))
  await deliveries.heard("work_item.done", of(id))
}

const abandoned: Scenario = async (fleet) => {
  const fragile = await fleet.project({ workItems: { maxRecoveryAttempts: 0 } })
  const id = await createItem(fleet, fragile, "!die audit 9", { agent: "mortal" })
  await fleet.deliveries.heard("work_item.recovered", of(id))
  await until(() => stateOf(fleet, id), { is: "AbandonedAfterRecoveryAttempts" })
}

const auditFailed: Scenario = async (fleet) => {
  const strict = await fleet.project({ workItems: { maxAuditIterations: 1 } })
  await ordered("work_item.audit_failed", "!block 9")(fleet, strict)
}

/** Its agent's credentials fail, it recovers, and its failed items are retried. */
const authFailed: Scenario = async (fleet, projectId) => {
  const { bus, deliveries } = fleet
  const id = await createItem(fleet, projectId, "!auth", { agent: "guest" })
  await deliveries.heard("agent.smoke_failed", of(id))
  await deliveries.heard("work_item.failed", of(id))
  await bus.report("smoke-result", {
    agent: "guest",
    agentInstanceId: null,
    outcome: "passed",
    cause: "probe",
    workItemId: null,
    reason: null,
    category: "Unknown",
    occurredAtMs: Date.now(),
    epoch: null
  })
  await deliveries.heard("agent.smoke_recovered", says({ agentKind: "guest" }))
  await deliveries.heard("work_item.agent_restore_requeued", of(id))
  await deliveries.heard("agent.restore_requeue_swept", says({ restoredAgent: "guest", requeued: 1 }))
  await deliveries.heard("work_item.done", of(id))
}

const outOfQuota: Scenario = async (fleet, projectId) => {
  const id = await createItem(fleet, projectId, "!quota - 2", { agent: "hasty" })
  await fleet.deliveries.heard("work_item.waiting_for_quota_reset", of(id))
  await fleet.deliveries.heard("work_item.auto_retry", (one) => of(id)(one) && says({ reason: "quota" })(one))
  await fleet.deliveries.heard("work_item.done", of(id))
}

const fellBack: Scenario = async (fleet, projectId) => {
  const id = await createItem(fleet, projectId, "!quota - 2", { agent: "pair" })
  await fleet.deliveries.heard("agent.fallback", says({ workItemId: id }))
  await fleet.deliveries.heard("work_item.done", of(id))
}

const agentPaused: Scenario = async (fleet, projectId) => {
  const { api, deliveries } = fleet
  await api.call("POST", "/agents/sleeper/pause", { reason: "a look at it" })
  await deliveries.heard("agent.paused", says({ agent: "sleeper" }))
  const id = await createItem(fleet, projectId, null, { agent: "sleeper" })
  await deliveries.heard("work_item.waiting_for_agent_resume", of(id))
  await api.call("POST", "/agents/sleeper/resume", { reason: "looked" })
  await deliveries.heard("agent.resumed", says({ agent: "sleeper" }))
  await deliveries.heard("work_item.done", of(id))
}

const putOff: Scenario = async (fleet) => {
  const narrow = await fleet.project({ maxInFlightItems: 1 })
  const ids = [await createItem(fleet, narrow, "!slow work 1"), await createItem(fleet, narrow, "!slow work 1")]
  await fleet.deliveries.heard("budget.deferred", (one) => ids.some((id) => of(id)(one)))
  await Promise.all(ids.map((id) => fleet.deliveries.heard("work_item.done", of(id))))
}

/** The base moves on under an open pull request. */
const staleBase: Scenario = async (fleet, projectId) => {
  const { deliveries, repository } = fleet
  const id = await createItem(fleet, projectId, null, { agent: "publisher" })
  const opened = await deliveries.heard("work_item.pull_request_opened", of(id))
  await deliveries.heard("work_item.done", of(id))
  repository.commit("main", `items/${id}.md`, "somebody was quicker\n")
  const number = opened.details?.["pullRequestNumber"]
  await deliveries.heard("upstream.pr_stale_base", says({ projectId, pullRequestNumber: number }))
}

const checked: Scenario = async (fleet, projectId) => {
  const { bus, deliveries } = fleet
  const id = await createItem(fleet, projectId, "!match", { kind: "check" })
  const enqueued = await deliveries.heard("work_item.check_followup_enqueued", of(id))
  const workItemId = String(enqueued.details?.["followupWorkItemId"])
  await deliveries.heard("work_item.done", of(workItemId))
  await bus.report("recheck-completed", { workItemId, iteration: 1, answer: "well now", actionableAnswer: "none" })
  await deliveries.heard("work_item.post_act_recheck_completed", of(workItemId))
}

/** By name; the table of events names the receivers of each. */
export const itemScenarios = {
  "an item that is reworked once and done": ordered("work_item.done", "!block\n!remark\n!suggest 3\n!spend 1000"),
  "an audit that does not converge": auditFailed,
  "an auditor that says nothing": ordered("audit.auditor_timed_out", "!mute"),
  "an agent that says nothing": ordered("work_item.agent_stuck", "!stuck work"),
  "nothing to be done": ordered("work_item.no_action_required", "!no-action"),
  "an agent that fails": ordered("work_item.failed", "!fail"),
  "a connection that is reset": ordered("work_item.done", "!transient"),
  "a conflict that is resolved": ordered("work_item.done", "!conflict"),
  "a conflict whose resolution is rejected": ordered(
    "work_item.merge_conflict_resolution_failed",
    "!conflict\n!markers"
  ),
  "a question that is answered": asked,
  "a question that is dismissed": dismissed,
  "an item that is cancelled, resumed and delegated": cancelled,
  "a runner that is killed": recovered,
  "a runner that is killed too often": abandoned,
  "an agent that is not let in": authFailed,
  "an agent out of quota": outOfQuota,
  "an agent out of quota whose class has another": fellBack,
  "a paused agent": agentPaused,
  "a project at its cap": putOff,
  "a pull request that its base leaves behind": staleBase,
  "a check that matches": checked
} satisfies Record<string, Scenario>
