import { assert, describe, it } from "@effect/vitest"
import type { WorkItemDispatch } from "#pipeline/contract"
import { type ReportMaterial, reportSteps } from "../../../../services/pipeline-api/reports/report-steps.ts"
import { atMs, dispatch, material, sample, shortly, uuid } from "./report-material.ts"

describe("the follow-ups of a report", () => {
  it("tell the agent of a quota first, and move the phase to the stand-in", () => {
    const report = sample("quota-hit", { workItemId: uuid, dispatchId: "d", toAgent: null, resetAtMs: null })
    const steps = reportSteps(report, material({ dispatch: dispatch(), fallback: { agent: "wren", model: "m" } }))
    assert.deepStrictEqual(
      steps.map((step) => (step._tag === "Tell" ? "" : `${step.entity} ${step.id}`)),
      ["agent owl/a", `workitem ${uuid}`]
    )
    const [quota, item] = steps
    assert.deepInclude(quota?._tag === "Command" ? quota.command : {}, { resetAtMs: atMs + 15 * 60_000 })
    const told = item?._tag === "Command" && item.command._tag === "Report" ? item.command.report : undefined
    assert.deepInclude(told, { toAgent: "wren", toModel: "m" })
  })

  it("move the phase to the agent that the runner names, and nowhere without a stand-in", () => {
    const moved = (changes: object, fallback: ReportMaterial["fallback"]) => {
      const report = sample("quota-hit", { workItemId: uuid, dispatchId: "d", resetAtMs: null, ...changes })
      const item = reportSteps(report, material({ dispatch: dispatch(), fallback })).at(-1)
      const told = item?._tag === "Command" && item.command._tag === "Report" ? item.command.report : undefined
      return told?.kind === "quota-hit" ? [told.toAgent, told.toModel] : told
    }
    const named = { toAgent: "smith", toModel: "m-9" }
    assert.deepStrictEqual(moved(named, { agent: "wren", model: "m" }), ["smith", "m-9"])
    assert.deepStrictEqual(moved({ toAgent: null, toModel: null }, null), [null, null])
  })

  it("fail the item whose agent was refused permanently at its pickup, and no other", () => {
    const refused = { agent: "owl", agentInstanceId: "a", outcome: "failed", cause: "pickup", workItemId: uuid }
    const steps = (changes: object, atWork: WorkItemDispatch | null = dispatch()) =>
      reportSteps(sample("smoke-result", { ...refused, category: "Persistent", reason: "auth", ...changes }), {
        ...material(),
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

  it("count a run that failed too soon, and no other", () => {
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
