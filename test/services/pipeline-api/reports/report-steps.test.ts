import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  commandEntities,
  decodeConfiguration,
  decodeEnvelope,
  decodeReport,
  eventSchemaVersion,
  exampleReport,
  isRunnerReport,
  type Report,
  type ReportKind,
  reportKinds,
  type WorkItemDispatch
} from "#contracts"
import { agentRoster } from "../../../../services/pipeline-api/agents.ts"
import { type ReportGrounds, reportSteps } from "../../../../services/pipeline-api/reports/report-steps.ts"
import { wireItem, wireProject } from "../wire-item.ts"

const configured = Result.getOrThrow(
  decodeConfiguration({
    Agents: { Kinds: [{ Kind: "owl", Instances: ["a", "b"] }, { Kind: "smith" }], FastFailSeconds: 5 }
  })
)
const atMs = 1_700_000_000_000

const grounds = (changes: Partial<ReportGrounds> = {}): ReportGrounds => ({
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

const sample = (kind: ReportKind, changes: object = {}): Report =>
  Result.getOrThrow(decodeReport(kind, { ...(exampleReport(kind) as object), ...changes }))

const dispatch = (changes: Partial<WorkItemDispatch> = {}): WorkItemDispatch => ({
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

const shortly = (report: Report, changes: Partial<ReportGrounds> = {}) =>
  reportSteps(report, grounds(changes)).map((step) =>
    step._tag === "Tell" ? `tell ${step.event}` : `${step.entity} ${step.id} ${step.command._tag}`
  )

const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"

describe("what follows from a report", () => {
  it("is, of every kind, commands and events that their schemas accept", () => {
    for (const kind of Object.keys(reportKinds) as ReadonlyArray<ReportKind>) {
      const report = sample(kind, "workItemId" in sample(kind) ? { workItemId: uuid } : {})
      for (const step of reportSteps(report, grounds({ dispatch: dispatch() }))) {
        if (step._tag === "Tell") {
          const { event, details } = step
          const envelope = {
            eventSchemaVersion,
            event,
            occurredAt: "2026-01-01T00:00:00Z",
            workItem: null,
            project: null,
            details
          }
          assert.isTrue(
            Result.isSuccess(decodeEnvelope(envelope)),
            `${kind}: ${JSON.stringify(decodeEnvelope(envelope))}`
          )
        } else {
          const decoded = Schema.decodeUnknownResult(commandEntities[step.entity].schema as Schema.Codec<unknown>)(
            step.command
          )
          assert.isTrue(Result.isSuccess(decoded), `${kind}: ${JSON.stringify(step)}`)
        }
      }
      if (isRunnerReport(report)) assert.include(shortly(report), `workitem ${uuid} Report`, kind)
    }
  })

  const release = { releaseId: uuid }
  const cases: ReadonlyArray<readonly [string, ReportKind, object, ReadonlyArray<string>]> = [
    [
      "a test that failed benches the instance",
      "smoke-result",
      { agent: "owl", agentInstanceId: "a", outcome: "failed" },
      ["agent owl/a FailSmoke"]
    ],
    [
      "a test that passed lets the kind back",
      "smoke-result",
      { agent: "owl", agentInstanceId: null, outcome: "passed" },
      ["agent owl PassSmoke"]
    ],
    [
      "a window that is open is advised",
      "quota-forecast",
      { agent: "owl", optimalFromMs: atMs - 1, optimalUntilMs: atMs + 1 },
      ["agent owl AdviseSpending"]
    ],
    [
      "a window that is still to come is not",
      "quota-forecast",
      { agent: "owl", optimalFromMs: atMs + 1, optimalUntilMs: atMs + 2 },
      []
    ],
    ["no window is not", "quota-forecast", { agent: "owl", optimalFromMs: null, optimalUntilMs: null }, []],
    [
      "a session that could not be closed",
      "provider-session-close-failed",
      { agent: "owl", agentInstanceId: null },
      ["agent owl FailSession"]
    ],
    ["an item's launch without disk", "disk-deferred", { workItemId: uuid }, [`workitem ${uuid} Defer`]],
    ["nobody's launch without disk", "disk-deferred", { workItemId: null, dispatchId: null }, ["tell disk.deferred"]],
    [
      "nobody's launch that was put off",
      "sandbox-provisioning-deferred",
      { workItemId: null, dispatchId: null },
      ["tell sandbox.provisioning_deferred"]
    ],
    ["a leak", "sandbox-leak-disposed", {}, ["tell sandbox.leak_disposed"]],
    ["a deep audit begins", "release-deep-audit-begun", release, [`release ${uuid} BeginDeepAudit`]],
    [
      "an iteration of it ends",
      "release-deep-audit-iteration-ended",
      release,
      [`release ${uuid} CompleteAuditIteration`]
    ],
    ["a release is merged", "release-published", release, [`release ${uuid} Publish`]],
    ["a branch cannot be synced", "release-sync-conflict", release, [`release ${uuid} ReportSyncConflict`]],
    [
      "a pull request that is stale",
      "pull-request-mergeability",
      { projectId: "p", workItemId: uuid, mergeability: "stale-base" },
      ["project p ReportStaleBase"]
    ],
    ["a pull request that is not", "pull-request-mergeability", { projectId: "p", mergeability: "mergeable" }, []]
  ]
  it.each(cases)("%s", (_what, kind, changes, steps) => {
    assert.deepStrictEqual(shortly(sample(kind, changes)), steps)
  })

  it("routes a stale pull request to conflict rework where that is switched on", () => {
    const routed = { ...configured, StalePullRequestSweep: { RouteToConflictRework: true } }
    const report = sample("pull-request-mergeability", { projectId: "p", workItemId: uuid, mergeability: "stale-base" })
    assert.deepStrictEqual(shortly(report, { configured: routed }), [
      "project p ReportStaleBase",
      `workitem ${uuid} RouteToConflictRework`
    ])
  })

  it("takes back what was told of a pull request that can be merged after all, or is open no more", () => {
    const routed = { ...configured, StalePullRequestSweep: { RouteToConflictRework: true } }
    const head = "feed123"
    for (const [mergeability, headSha] of [
      ["mergeable", head],
      ["closed", null],
      ["merged", null]
    ] as const) {
      const told = { projectId: "p", workItemId: uuid, mergeability, headSha: head, pullRequestNumber: 7 }
      const report = sample("pull-request-mergeability", told)
      assert.deepStrictEqual(shortly(report), [], mergeability)
      assert.deepStrictEqual(
        reportSteps(report, grounds({ configured: routed })).map((step) => step._tag === "Command" && step.command),
        [{ _tag: "ForgetStaleHead", pullRequestNumber: 7, headSha }]
      )
    }
  })

  it("tells the agent of a quota first, and moves the phase to who stands in", () => {
    const report = sample("quota-hit", { workItemId: uuid, dispatchId: "d", toAgent: null, resetAtMs: null })
    const steps = reportSteps(report, grounds({ dispatch: dispatch(), fallback: { agent: "wren", model: "m" } }))
    assert.deepStrictEqual(
      steps.map((step) => (step._tag === "Tell" ? "" : `${step.entity} ${step.id}`)),
      ["agent owl/a", `workitem ${uuid}`]
    )
    const [quota, item] = steps
    assert.deepInclude(quota?._tag === "Command" ? quota.command : {}, { resetAtMs: atMs + 15 * 60_000 })
    const told = item?._tag === "Command" && item.command._tag === "Report" ? item.command.report : undefined
    assert.deepInclude(told, { toAgent: "wren", toModel: "m" })
  })

  it("moves the phase to whom the runner names, and to nobody where nobody stands in", () => {
    const moved = (changes: object, fallback: ReportGrounds["fallback"]) => {
      const report = sample("quota-hit", { workItemId: uuid, dispatchId: "d", resetAtMs: null, ...changes })
      const item = reportSteps(report, grounds({ dispatch: dispatch(), fallback })).at(-1)
      const told = item?._tag === "Command" && item.command._tag === "Report" ? item.command.report : undefined
      return told?.kind === "quota-hit" ? [told.toAgent, told.toModel] : told
    }
    const named = { toAgent: "smith", toModel: "m-9" }
    assert.deepStrictEqual(moved(named, { agent: "wren", model: "m" }), ["smith", "m-9"])
    assert.deepStrictEqual(moved({ toAgent: null, toModel: null }, null), [null, null])
  })

  it("fails the item whose agent was refused for good at its pickup, and no other", () => {
    const refused = { agent: "owl", agentInstanceId: "a", outcome: "failed", cause: "pickup", workItemId: uuid }
    const steps = (changes: object, atWork: WorkItemDispatch | null = dispatch()) =>
      reportSteps(sample("smoke-result", { ...refused, category: "Persistent", reason: "auth", ...changes }), {
        ...grounds(),
        dispatch: atWork
      })
    const [benched, failed] = steps({})
    assert.strictEqual(benched?._tag === "Command" && benched.command._tag, "FailSmoke")
    const told = failed?._tag === "Command" && failed.command._tag === "Report" ? failed.command.report : undefined
    assert.deepInclude(told, {
      kind: "failed",
      workItemId: uuid,
      dispatchId: "d",
      reason: "the agent is not authorised: auth",
      failureKind: "auth"
    })
    assert.lengthOf(steps({ agentInstanceId: null }), 2)
    for (const [changes, atWork] of [
      [{ category: "Transient" }],
      [{ category: "Unknown" }],
      [{ cause: "probe" }],
      [{ workItemId: null }],
      [{ outcome: "passed" }],
      [{ agentInstanceId: "b" }],
      [{}, dispatch({ agent: "smith" })],
      [{}, null]
    ] as const) {
      assert.lengthOf(steps(changes, atWork), 1, JSON.stringify(changes))
    }
  })

  it("counts a run that failed too soon, and no other", () => {
    const failed = { workItemId: uuid, dispatchId: "d", failureKind: "agent" }
    const soon = dispatch({ atMs: atMs - 4_999 })
    assert.deepStrictEqual(shortly(sample("failed", failed), { dispatch: soon }), [
      "agent owl/a FailFast",
      `workitem ${uuid} Report`
    ])
    const only = [`workitem ${uuid} Report`]
    assert.deepStrictEqual(shortly(sample("failed", failed), { dispatch: dispatch({ atMs: atMs - 5_000 }) }), only)
    assert.deepStrictEqual(shortly(sample("failed", { ...failed, dispatchId: "late" }), { dispatch: soon }), only)
    assert.deepStrictEqual(shortly(sample("failed", { ...failed, failureKind: "merge" }), { dispatch: soon }), only)
  })
})
