import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { ProjectFactTag, ProjectState } from "#pipeline/contract"
import { isQueuePaused, projectHolds } from "#pipeline"
import { diceOf } from "../../../support/random-ssml.ts"
import { projectWith } from "./project-at-work.ts"
import { randomCommand } from "./random-commands.ts"

const lifeOf = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
  const entity = projectWith()
  for (let step = 0; step < 80; step++) entity.tries(randomCommand(dice))
  return entity
}

const causesOf = (state: ProjectState) => projectHolds(state).map(({ cause }) => cause)
const causesNow = (state: ProjectState | null) => (state === null ? [] : causesOf(state))

// Kept apart from the code under test. Of several ending holds only the last has an event.
const eventOf: Record<ProjectFactTag, string | null> = {
  Created: null,
  SettingsUpdated: null,
  PausedManually: "project.queue_paused",
  PausedAutomatically: "project.queue_paused",
  ResumedManually: "project.queue_resumed",
  AutomaticPauseLifted: "project.queue_resumed",
  BudgetWarned: "project.budget_warning",
  BudgetExceeded: "project.budget_exceeded",
  BudgetEased: null,
  BudgetRecovered: "project.budget_recovered",
  BudgetRemoved: null,
  StaleBaseFound: "upstream.pr_stale_base"
}

describe("a random history of a project", () => {
  const lives = (name: string, look: (life: ReturnType<typeof lifeOf>) => void) =>
    it.prop(name, [Schema.Int], ([seed]) => look(lifeOf(seed)), { arbitrary: { runs: 8 } })

  lives("tells by its event of every fact that has one, and of nothing else", ({ steps }) => {
    for (const { record } of steps) {
      const told = record.facts.map(({ _tag }) => eventOf[_tag]).filter((event) => event !== null)
      assert.deepStrictEqual(
        record.events.map(({ event }) => event),
        told
      )
    }
  })

  lives("tells of every hold once until it is gone, and of its end with what still holds the queue", ({ steps }) => {
    let told: ReturnType<typeof causesNow> = []
    for (const { record } of steps) {
      for (const { event, details } of record.events) {
        if (!event.startsWith("project.queue_")) continue
        const causes = causesNow(record.state)
        const cause = details?.["automatic"] === true ? "budget" : "manual"
        const [then, now] = event === "project.queue_paused" ? [causes, told] : [told, causes]
        assert.include(then, cause)
        assert.notInclude(now, cause)
        assert.deepStrictEqual(details?.["holds"], record.state === null ? [] : projectHolds(record.state))
      }
      const now = causesNow(record.state)
      for (const cause of now) {
        const isNew = !told.includes(cause)
        const automatic = cause === "budget"
        const isTold = record.events.some(
          ({ event, details }) => event === "project.queue_paused" && details?.["automatic"] === automatic
        )
        assert.strictEqual(isTold, isNew)
      }
      assert.strictEqual(
        record.events.filter(({ event }) => event === "project.queue_resumed").length,
        told.filter((cause) => !now.includes(cause)).length
      )
      assert.strictEqual(record.state !== null && isQueuePaused(record.state), now.length > 0)
      told = now
    }
  })

  lives("loses each hold by its own cause alone", ({ steps }) => {
    for (const { command, before, record } of steps) {
      const gone = before === null ? [] : causesOf(before).filter((cause) => !causesNow(record.state).includes(cause))
      if (gone.includes("manual")) assert.strictEqual(command._tag, "ResumeQueue")
      if (gone.includes("budget")) assert.include(["SweepSpend", "UpdateSettings"], command._tag)
    }
  })

  lives("is held by its budget only while that has not recovered", ({ steps }) => {
    for (const { record } of steps) {
      if (record.state?.automaticPause != null) assert.notStrictEqual(record.state.budget.band, "normal")
    }
  })

  lives("tells of a budget with the band that it is in from then on", ({ steps }) => {
    const band: Record<string, string> = { warning: "warning", exceeded: "exceeded", recovered: "normal" }
    for (const { record } of steps) {
      for (const { event, details } of record.events) {
        if (!event.startsWith("project.budget_")) continue
        assert.strictEqual(record.state?.budget.band, band[event.slice("project.budget_".length)])
        const [pct, thresholdPct] = [Number(details?.["pct"]), Number(details?.["thresholdPct"])]
        assert.strictEqual(pct >= thresholdPct, event !== "project.budget_recovered")
      }
    }
  })

  lives("is the same when its facts are replayed", (life) => assert.deepStrictEqual(life.replayed(), life.state()))
})
