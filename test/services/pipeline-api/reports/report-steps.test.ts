import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { commandEntities, isRunnerReport, type ReportKind, reportKinds } from "#pipeline/contract"
import { decodeEnvelope, eventSchemaVersion } from "#base"
import { reportSteps } from "../../../../services/pipeline-api/reports/report-steps.ts"
import { atMs, configured, dispatch, material, sample, shortly, uuid } from "./report-material.ts"

describe("the follow-ups of a report", () => {
  it("are, for every kind, commands and events valid by their schemas", () => {
    for (const kind of Object.keys(reportKinds) as ReadonlyArray<ReportKind>) {
      const report = sample(kind, "workItemId" in sample(kind) ? { workItemId: uuid } : {})
      for (const step of reportSteps(report, material({ dispatch: dispatch() }))) {
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

  it("route a stale pull request to conflict rework when that is enabled", () => {
    const routed = { ...configured, StalePullRequestSweep: { RouteToConflictRework: true } }
    const report = sample("pull-request-mergeability", { projectId: "p", workItemId: uuid, mergeability: "stale-base" })
    assert.deepStrictEqual(shortly(report, { configured: routed }), [
      "project p ReportStaleBase",
      `workitem ${uuid} RouteToConflictRework`
    ])
  })

  it("withdraw the report of a pull request that is mergeable after all, or closed", () => {
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
        reportSteps(report, material({ configured: routed })).map((step) => step._tag === "Command" && step.command),
        [{ _tag: "ForgetStaleHead", pullRequestNumber: 7, headSha }]
      )
    }
  })
})
