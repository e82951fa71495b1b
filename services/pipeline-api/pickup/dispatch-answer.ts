/** The runner's answer for its dispatch. */
import type { ConfigurationFile } from "#configuration"
import type { PickupDispatch, PickupReply, WorkItemDispatch, WorkItemState } from "#pipeline/contract"
import { eventItem } from "#pipeline"

interface DispatchMaterial {
  readonly item: WorkItemState
  readonly dispatch: WorkItemDispatch
  readonly replies: ReadonlyArray<PickupReply>
  readonly findings: PickupDispatch["findings"]
  readonly configured: Pick<ConfigurationFile, "Pipeline" | "DiskGuard">
}

const secondMs = 1_000
const minuteMs = 60_000
const whole = (milliseconds: number) => Math.max(1, Math.round(milliseconds))

/** The answer to a pickup: everything a runner learns of its phase. Pure. */
export const dispatchAnswer = (
  id: string,
  { item, dispatch, replies, findings, configured: { Pipeline, DiskGuard } }: DispatchMaterial
): PickupDispatch => ({
  _tag: "Dispatch",
  dispatchId: dispatch.dispatchId,
  dispatchedAtMs: dispatch.atMs,
  phase: dispatch.phase,
  iteration: dispatch.iteration,
  agent: dispatch.agent,
  model: dispatch.model,
  auditors: auditorsOf(dispatch.phase, Pipeline),
  workItem: eventItem(id, item),
  project: item.project,
  kind: item.kind,
  instructions: item.instructions,
  originCheckWorkItemId: item.originCheckWorkItemId,
  releaseId: item.releaseId,
  settings: item.settings,
  replies,
  findings,
  commitSha: item.commitSha,
  mergeSha: item.mergeSha,
  pullRequest: item.pullRequest,
  lastError: item.lastError,
  progressEveryMs: whole(Pipeline.ProgressSeconds * secondMs),
  progressTimeoutMs: whole(Pipeline.ProgressTimeoutSeconds * secondMs),
  phaseTimeoutMs: whole(Pipeline.PhaseMinutes * minuteMs),
  stuckAfterMs: whole(Pipeline.StuckMinutes * minuteMs),
  auditorTimeoutMs: whole(Pipeline.AuditorMinutes * minuteMs),
  minFreeBytes: DiskGuard.MinFreeBytes
})

export const auditorsOf = (
  phase: WorkItemDispatch["phase"],
  { Auditors }: Pick<ConfigurationFile["Pipeline"], "Auditors">
): ReadonlyArray<string> => (phase === "audit" ? Auditors : [])
