import { assert, describe, it } from "@effect/vitest"
import { isoTime } from "#base"
import { pause, projectId, projectWith, resume, spent, update } from "./project-at-work.ts"

const warning = "project.budget_warning"
const exceeded = "project.budget_exceeded"
const recovered = "project.budget_recovered"
const paused = "project.queue_paused"
const resumed = "project.queue_resumed"

describe("the budget of a project", () => {
  it("is silent below the warning threshold", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.facts(spent(79.999_999)), [])
  })

  it("warns from the threshold on, once", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.does(spent(80)), [warning])
    assert.deepStrictEqual(garden.last(warning).details, {
      projectId,
      currentSpendUsd: 80,
      budgetUsd: 100,
      pct: 80,
      thresholdPct: 80
    })
    assert.isNull(garden.last(warning).project)
    assert.isNull(garden.last(warning).workItem)
    assert.deepStrictEqual(garden.facts(spent(99.99)), [])
  })

  it("pauses the queue when spend reaches the hard cap", () => {
    const garden = projectWith()
    garden.does(spent(90))
    assert.deepStrictEqual(garden.does(spent(112.5)), [exceeded, paused])
    assert.deepStrictEqual(garden.last(exceeded).details, {
      projectId,
      currentSpendUsd: 112.5,
      budgetUsd: 100,
      pct: 112.5,
      thresholdPct: 100
    })
    assert.deepStrictEqual(garden.last(paused).details, {
      projectId,
      reason: "30-day spend reached 100 % of the budget",
      pausedBy: null,
      automatic: true,
      holds: [
        {
          cause: "budget",
          reason: "30-day spend reached 100 % of the budget",
          pausedBy: null,
          since: isoTime(garden.nowMs()),
          until: null
        }
      ]
    })
    assert.strictEqual(garden.last(paused).project?.id, projectId)
  })

  it("is exceeded at once when spend jumps over both thresholds", () => {
    assert.deepStrictEqual(projectWith().does(spent(100)), [exceeded, paused])
  })

  it.each([85, 120])("of which %d was spent is recovered when spend falls below the warning threshold", (usd) => {
    const garden = projectWith()
    garden.does(spent(usd))
    assert.deepStrictEqual(garden.does(spent(79)), usd > 100 ? [recovered, resumed] : [recovered])
    assert.deepStrictEqual(garden.last(recovered).details, {
      projectId,
      currentSpendUsd: 79,
      budgetUsd: 100,
      pct: 79,
      thresholdPct: 80
    })
  })

  it("holds the queue until spend is below the warning threshold, not only below the cap", () => {
    const garden = projectWith()
    garden.does(spent(120))
    assert.deepStrictEqual(garden.does(spent(95)), [])
    assert.isNotNull(garden.state().automaticPause)
    assert.deepStrictEqual(garden.does(spent(101)), [exceeded])
    assert.deepStrictEqual(garden.does(spent(10)), [recovered, resumed])
    assert.deepInclude(garden.last(resumed).details ?? {}, { automatic: true, resumedBy: null })
  })

  it("uses thresholds of its own", () => {
    const garden = projectWith({ warningThresholdPct: 50, hardCapPct: 150 })
    assert.deepStrictEqual(garden.does(spent(50)), [warning])
    assert.deepStrictEqual(garden.does(spent(149)), [])
    assert.deepStrictEqual(garden.does(spent(150)), [exceeded, paused])
    assert.strictEqual(garden.last(exceeded).details?.["thresholdPct"], 150)
  })

  it("states the share exactly where whole cents allow it", () => {
    const garden = projectWith({ warningThresholdPct: 29 })
    garden.does(spent(29))
    assert.strictEqual(garden.last(warning).details?.["pct"], 29)
  })

  it("is compared exactly, even where a double could not hold the product", () => {
    const garden = projectWith({ budgetMicroUsd: 9_999_999_999_999, warningThresholdPct: 999, hardCapPct: 1_000 })
    assert.deepStrictEqual(garden.does({ ...spent(0), spendMicroUsd: 99_899_999_999_990 }), [])
    assert.deepStrictEqual(garden.does({ ...spent(0), spendMicroUsd: 99_899_999_999_991 }), [warning])
  })
})

describe("after a restart of the sweeper", () => {
  it.each([
    [85, warning],
    [130, exceeded]
  ])("a spend of %d is reported again as %s, once", (usd, event) => {
    const garden = projectWith()
    garden.does(spent(usd))
    assert.deepStrictEqual(garden.does(spent(usd + 1, "sweeper-2")), [event])
    assert.deepStrictEqual(garden.does(spent(usd + 1, "sweeper-2")), [])
  })

  it("a normal spend is not reported", () => {
    const garden = projectWith()
    garden.does(spent(85))
    garden.does(spent(10))
    assert.deepStrictEqual(garden.facts(spent(10, "sweeper-2")), [])
  })

  it("a spend that fell back into the warning band is reported as a warning", () => {
    const garden = projectWith()
    garden.does(spent(130))
    assert.deepStrictEqual(garden.does(spent(90, "sweeper-2")), [warning])
    assert.isNotNull(garden.state().automaticPause)
  })

  it("a queue under its budget's hold stays held, without another event", () => {
    const garden = projectWith()
    garden.does(spent(130))
    garden.does(resume)
    assert.deepStrictEqual(garden.does(spent(131, "sweeper-2")), [exceeded])
    assert.isNotNull(garden.state().automaticPause)
  })
})

describe("a changed budget", () => {
  it("that is removed lets the queue run, without an event about its spend", () => {
    const garden = projectWith()
    garden.does(spent(130))
    assert.deepStrictEqual(garden.does(update({ budgetMicroUsd: null })), [resumed])
    assert.strictEqual(garden.state().budget.band, "normal")
    assert.deepStrictEqual(garden.facts(spent(500)), [])
  })

  it("that is removed keeps an operator's pause", () => {
    const garden = projectWith()
    garden.does(pause)
    garden.does(spent(130))
    assert.deepStrictEqual(garden.does(update({ budgetMicroUsd: null })), [resumed])
    assert.isNull(garden.state().automaticPause)
    assert.isNotNull(garden.state().manualPause)
  })

  it("that is raised recovers at the next sweep", () => {
    const garden = projectWith()
    garden.does(spent(130))
    assert.deepStrictEqual(garden.does(update({ budgetMicroUsd: 1_000_000_000 })), [])
    assert.deepStrictEqual(garden.does(spent(130)), [recovered, resumed])
  })

  it("that is raised above the spend lets the queue run at the next sweep, even with a warning", () => {
    const garden = projectWith()
    garden.does(spent(130))
    assert.deepStrictEqual(garden.does(update({ budgetMicroUsd: 150_000_000 })), [])
    assert.deepStrictEqual(garden.does(spent(131)), [resumed])
    assert.deepInclude(garden.last(resumed).details ?? {}, { automatic: true, resumedBy: null })
    assert.strictEqual(garden.state().budget.band, "warning")
    assert.deepStrictEqual(garden.does(spent(150)), [exceeded, paused])
  })

  it("that is raised lets the queue run too when the spend is back in the warning band", () => {
    const garden = projectWith()
    garden.does(spent(130))
    garden.does(spent(95))
    assert.deepStrictEqual(garden.does(update({ hardCapPct: 130 })), [])
    assert.deepStrictEqual(garden.does(spent(96)), [resumed])
  })

  it("that is raised, but not above the spend, or lowered, holds the queue", () => {
    const garden = projectWith()
    garden.does(spent(130))
    garden.does(update({ budgetMicroUsd: 120_000_000 }))
    assert.deepStrictEqual(garden.does(spent(130)), [])
    garden.does(update({ budgetMicroUsd: 99_000_000 }))
    assert.deepStrictEqual(garden.does(spent(95)), [])
    assert.isNotNull(garden.state().automaticPause)
  })
})
