import { assert, describe, it } from "@effect/vitest"
import { pause, projectId, projectWith, resume, spent } from "./project-at-work.ts"

const paused = "project.queue_paused"
const resumed = "project.queue_resumed"
const exceeded = "project.budget_exceeded"
const recovered = "project.budget_recovered"

describe("the queue of a project", () => {
  it("is paused and resumed by hand", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.does(pause), [paused])
    const { reason, pausedBy } = pause
    assert.deepStrictEqual(garden.last(paused).details, { projectId, reason, pausedBy, automatic: false })
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepStrictEqual(garden.last(resumed).details, {
      projectId,
      reason: null,
      resumedBy: "ben",
      automatic: false
    })
    assert.strictEqual(garden.last(resumed).project?.displayName, "The garden")
  })

  it("that is paused is not paused again, and one that runs is not resumed", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.facts(resume), [])
    garden.does(pause)
    assert.deepStrictEqual(garden.facts(pause), [])
  })

  it("that was paused by hand stays so when the budget recovers", () => {
    const garden = projectWith()
    garden.does(pause)
    assert.deepStrictEqual(garden.does(spent(120)), [exceeded], "it is paused already")
    assert.deepStrictEqual(garden.does(spent(10)), [recovered])
    assert.isNotNull(garden.state().manualPause)
    assert.deepStrictEqual(garden.does(resume), [resumed])
  })

  it("that the budget paused, and then an operator, stays so when the budget recovers", () => {
    const garden = projectWith()
    garden.does(spent(120))
    assert.deepStrictEqual(garden.facts(pause), ["PausedManually"])
    assert.strictEqual(garden.events.filter(({ event }) => event === paused).length, 1)
    assert.deepStrictEqual(garden.does(spent(10)), [recovered])
    assert.isNull(garden.state().automaticPause)
    assert.deepStrictEqual(garden.does(resume), [resumed])
  })

  it("that the budget paused can be resumed by hand, and is paused again when the cap is crossed anew", () => {
    const garden = projectWith()
    garden.does(spent(120))
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepStrictEqual(garden.does(spent(121)), [])
    assert.deepStrictEqual(garden.does(spent(10)), [recovered], "there is nothing left to resume")
    assert.deepStrictEqual(garden.does(spent(120)), [exceeded, paused])
  })

  it("that both hold is freed of both by an operator", () => {
    const garden = projectWith()
    garden.does(spent(120))
    garden.does(pause)
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepStrictEqual([garden.state().manualPause, garden.state().automaticPause], [null, null])
  })
})
