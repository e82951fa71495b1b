/** Reports as runners make them, the material for judging them, and their follow-ups in a word each. */
import { Result } from "effect"
import { decodeConfiguration } from "#configuration"
import { decodeReport, exampleReport, type Report, type ReportKind, type WorkItemDispatch } from "#pipeline/contract"
import { agentRoster } from "../../../../services/pipeline-api/Routing.ts"
import { type ReportMaterial, reportSteps } from "../../../../services/pipeline-api/reports/report-steps.ts"
import { wireItem, wireProject } from "../../../libs/pipeline/wire-item.ts"

export const configured = Result.getOrThrow(
  decodeConfiguration({
    Agents: { Kinds: [{ Kind: "owl", Instances: ["a", "b"] }, { Kind: "smith" }], FastFailSeconds: 5 }
  })
)
export const atMs = 1_700_000_000_000

export const material = (changes: Partial<ReportMaterial> = {}): ReportMaterial => ({
  atMs,
  jitter: 0.5,
  freshWorkItemId: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  epoch: "this run",
  configured,
  roster: agentRoster(configured.Agents),
  item: { workItem: wireItem, project: wireProject },
  dispatch: null,
  fallback: null,
  ...changes
})

export const sample = (kind: ReportKind, changes: object = {}): Report =>
  Result.getOrThrow(decodeReport(kind, { ...(exampleReport(kind) as object), ...changes }))

export const dispatch = (changes: Partial<WorkItemDispatch> = {}): WorkItemDispatch => ({
  dispatchId: "d",
  phase: "work",
  iteration: 1,
  agent: "owl",
  model: null,
  agentInstanceId: "a",
  runner: "r",
  sandboxId: null,
  atMs: atMs - 1_000,
  lastProgressAtMs: atMs - 1_000,
  ...changes
})

export const shortly = (report: Report, changes: Partial<ReportMaterial> = {}) =>
  reportSteps(report, material(changes)).map((step) =>
    step._tag === "Tell" ? `tell ${step.event}` : `${step.entity} ${step.id} ${step.command._tag}`
  )

export const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
