import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { entityProjection } from "#actors"
import { ProjectCommand, ProjectSettings, ProjectSummary, workItemSettingsDefault } from "#pipeline/contract"
import { capDeferral, project, projectProjection, workItemSettingsOf } from "#pipeline"
import { entityAtWork } from "../entity-at-work.ts"
import { pause, projectId, projectWith, settingsOf, spent, update } from "./project-at-work.ts"

describe("the settings of a project", () => {
  it("emit no event, and change as a whole", () => {
    const garden = entityAtWork(project, ProjectCommand, projectId)
    assert.deepStrictEqual(garden.does({ _tag: "Create", settings: settingsOf() }), [])
    assert.deepStrictEqual(garden.does(update({ displayName: "The orchard" })), [])
    assert.deepStrictEqual(garden.state().settings, settingsOf({ displayName: "The orchard" }))
    assert.deepStrictEqual(garden.facts(update({ displayName: "The orchard" })), [])
    garden.does(pause)
    assert.strictEqual(garden.last("project.queue_paused").project?.displayName, "The orchard")
  })

  it("of an existing project are not created again, and of a missing one are not changed", () => {
    assert.match(projectWith().refuses({ _tag: "Create", settings: settingsOf() }), /there already \(Running\)/u)
    assert.strictEqual(entityAtWork(project, ProjectCommand, "x").refuses(update({})), "no project x")
  })

  it("must warn before they pause", () => {
    const decode = Schema.decodeUnknownResult(ProjectSettings)
    assert.isTrue(Result.isFailure(decode(settingsOf({ warningThresholdPct: 100 }))))
    assert.isTrue(Result.isFailure(decode(settingsOf({ budgetMicroUsd: 0 }))))
    assert.isTrue(Result.isSuccess(decode(settingsOf({ warningThresholdPct: 99 }))))
  })

  it("that combine a project's and configured ones must warn first too", () => {
    const garden = projectWith()
    const settings = settingsOf({ warningThresholdPct: 100 })
    const decided = project.decide(
      garden.state(),
      { _tag: "UpdateSettings", settings },
      { id: projectId, commandId: "c", atMs: garden.nowMs() }
    )
    assert.match(Result.isFailure(decided) ? decided.failure.message : "", /less than the hard cap \(Running\)/u)
  })

  it("give work items only the values that differ from the configuration", () => {
    const { workItems } = settingsOf({ workItems: { failingSeverity: "Warning", maxReworkAttempts: 9 } })
    assert.deepStrictEqual(workItemSettingsOf({ workItems }, workItemSettingsDefault), {
      ...workItemSettingsDefault,
      failingSeverity: "Warning",
      maxReworkAttempts: 9
    })
  })
})

describe("a cap on items in flight", () => {
  const capped = settingsOf({ maxInFlightItems: 5, maxInFlightItemsPerAgent: 2 })
  it.each([
    [4, 1, undefined],
    [5, 0, "MaxInFlightItems: 5/5 items in flight"],
    [7, 0, "MaxInFlightItems: 7/5 items in flight"],
    [3, 2, "MaxInFlightItemsPerAgent: 2/2 items in flight with smith"]
  ])("defers an item beside %d, of these %d with its agent: %s", (items, itemsOfAgent, reason) => {
    const deferral = capDeferral(capped, { agent: "smith", items, itemsOfAgent }, 1_000)
    assert.deepStrictEqual(
      deferral,
      reason === undefined ? undefined : { kind: "budget", reason, suggestedRetryAtMs: 1_000 }
    )
  })

  it("that is not set defers nothing", () => {
    assert.isUndefined(capDeferral(settingsOf(), { agent: "smith", items: 9_999, itemsOfAgent: 9_999 }, 1_000))
  })
})

describe("the view of a project", () => {
  const show = (state: unknown) => Result.getOrThrow(entityProjection(projectProjection).show(state, projectId))

  it("shows whether its queue runs, its holds, and its settings", () => {
    const garden = projectWith()
    assert.isUndefined(show(null))
    assert.deepStrictEqual([show(garden.state())?.state, show(garden.state())?.project], ["Running", projectId])
    garden.does(spent(130))
    const { state, summary } = show(garden.state()) ?? assert.fail("it is not shown")
    assert.strictEqual(state, "Paused")
    assert.deepStrictEqual(Schema.decodeUnknownSync(ProjectSummary)(summary), summary)
    assert.deepStrictEqual(summary, {
      settings: settingsOf(),
      isPausedManually: false,
      isPausedAutomatically: true,
      pauseReason: "30-day spend reached 100 % of the budget",
      budgetBand: "exceeded"
    })
  })
})
