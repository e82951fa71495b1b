import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decideRecord, recordCodec, replay } from "#actors"
import { isoTime } from "#base"
import { ProjectFact, type ProjectState } from "#pipeline/contract"
import { isQueuePaused, project, projectHolds } from "#pipeline"
import { pause, projectId, projectWith, resume, settingsOf, spent, update } from "./project-at-work.ts"

const paused = "project.queue_paused"
const resumed = "project.queue_resumed"
const exceeded = "project.budget_exceeded"
const recovered = "project.budget_recovered"

const causesOf = (state: ProjectState) => projectHolds(state).map(({ cause }) => cause)
const manualSince = (atMs: number) => ({
  cause: "manual" as const,
  reason: pause.reason,
  pausedBy: pause.pausedBy,
  since: isoTime(atMs),
  until: null
})
const budgetSince = (atMs: number) => ({
  cause: "budget" as const,
  reason: "30-day spend reached 100 % of the budget",
  pausedBy: null,
  since: isoTime(atMs),
  until: null
})

describe("the queue of a project", () => {
  it("is paused and resumed by hand", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.does(pause), [paused])
    const { reason, pausedBy } = pause
    assert.deepStrictEqual(garden.last(paused).details, {
      projectId,
      reason,
      pausedBy,
      automatic: false,
      holds: [manualSince(garden.nowMs())]
    })
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepStrictEqual(garden.last(resumed).details, {
      projectId,
      reason: null,
      resumedBy: "ben",
      automatic: false,
      holds: []
    })
    assert.strictEqual(garden.last(resumed).project?.displayName, "The garden")
  })

  it("is not paused or resumed twice", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.facts(resume), [])
    garden.does(pause)
    assert.deepStrictEqual(garden.facts(pause), [])
  })

  it("stays paused by hand when the budget recovers", () => {
    const garden = projectWith()
    garden.does(pause)
    garden.does(spent(120))
    assert.deepStrictEqual(garden.does(spent(10)), [recovered, resumed])
    assert.deepStrictEqual(causesOf(garden.state()), ["manual"], "an operator holds it yet")
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepStrictEqual(causesOf(garden.state()), [])
  })

  it("that was paused by hand reports its budget's pause too, with both holds", () => {
    const garden = projectWith()
    garden.does(pause)
    const byHand = garden.nowMs()
    assert.deepStrictEqual(garden.does(spent(120)), [exceeded, paused])
    const reason = "30-day spend reached 100 % of the budget"
    assert.deepStrictEqual(garden.last(paused).details, {
      projectId,
      reason,
      pausedBy: null,
      automatic: true,
      holds: [manualSince(byHand), budgetSince(garden.nowMs())]
    })
    assert.deepStrictEqual(projectHolds(garden.state()), [manualSince(byHand), budgetSince(garden.nowMs())])
  })

  it("that was resumed by hand stays paused by its budget, and reports the end of either hold", () => {
    const garden = projectWith()
    garden.does(pause)
    garden.does(spent(120))
    const byBudget = garden.nowMs()
    assert.deepStrictEqual(garden.does(resume), [resumed])
    assert.deepInclude(garden.last(resumed).details ?? {}, { resumedBy: "ben", holds: [budgetSince(byBudget)] })
    assert.deepStrictEqual(projectHolds(garden.state()), [budgetSince(byBudget)])
    assert.isTrue(isQueuePaused(garden.state()))
    assert.deepStrictEqual(garden.does(spent(10)), [recovered, resumed])
    assert.deepInclude(garden.last(resumed).details ?? {}, { automatic: true, resumedBy: null })
    assert.deepStrictEqual(causesOf(garden.state()), [])
  })

  it("that the budget paused, and then an operator, reports both, and runs when both are gone", () => {
    const garden = projectWith()
    garden.does(spent(120))
    assert.deepStrictEqual(garden.does(pause), [paused])
    assert.deepInclude(garden.last(paused).details ?? {}, { automatic: false, pausedBy: "ann" })
    assert.deepStrictEqual(garden.does(spent(10)), [recovered, resumed])
    assert.deepStrictEqual(causesOf(garden.state()), ["manual"])
    assert.deepStrictEqual(garden.does(resume), [resumed])
  })

  it("under its budget's hold alone is not resumed by hand", () => {
    const garden = projectWith()
    garden.does(spent(120))
    assert.deepStrictEqual(garden.facts(resume), [])
    assert.deepStrictEqual(causesOf(garden.state()), ["budget"])
    assert.deepStrictEqual(garden.does(spent(10)), [recovered, resumed])
    assert.deepStrictEqual(garden.does(spent(120)), [exceeded, paused])
  })
})

describe("a hold on the queue of a project", () => {
  const over = spent(120)
  const beginnings = {
    none: [],
    manual: [pause],
    budget: [over],
    both: [pause, over],
    "both, the budget first": [over, pause]
  }
  const commands = {
    "a pause": pause,
    "a resume": resume,
    "spend over the cap": over,
    "spend below the warning": spent(10),
    "a raise beyond the spend": update({ budgetMicroUsd: 1_000_000_000 }),
    "the end of the budget": update({ budgetMicroUsd: null })
  }
  const table = Object.entries(beginnings).flatMap(([held, before]) =>
    Object.entries(commands).map(([name, command]) => ({ held, before, name, command }))
  )

  for (const { held, before, name, command } of table) {
    it(`begins or ends with an event that says what holds it then: ${name}, held by ${held}`, () => {
      const garden = projectWith()
      for (const one of before) garden.does(one)
      const then = causesOf(garden.state())
      const told = garden.does(command).filter((event) => event.startsWith("project.queue_"))
      const holds = projectHolds(garden.state())
      const now = holds.map(({ cause }) => cause)

      const began = now.filter((cause) => !then.includes(cause)).map(() => paused)
      const ended = then.filter((cause) => !now.includes(cause)).map(() => resumed)
      assert.deepStrictEqual(told, [...began, ...ended])
      for (const event of told) {
        const cause = event === paused ? now.find((one) => !then.includes(one)) : then.find((one) => !now.includes(one))
        assert.deepInclude(garden.last(event).details ?? {}, { automatic: cause === "budget", holds })
      }
    })
  }
})

describe("an older project log, from when an operator's resume removed every hold", () => {
  const context = { id: projectId, commandId: "old", atMs: 1_700_000_000_000 }
  const exceededFact = {
    _tag: "BudgetExceeded",
    spendMicroUsd: 120_000_000,
    budgetMicroUsd: 100_000_000,
    thresholdPct: 100,
    epoch: "sweeper-0"
  }
  /** As they stand in a log: a resumption does not say whether anything held the queue after it. */
  const oldFacts = [
    { _tag: "Created", settings: settingsOf() },
    exceededFact,
    { _tag: "PausedAutomatically", reason: "30-day spend reached 100 % of the budget", isFirst: true },
    { _tag: "PausedManually", reason: "spring cleaning", pausedBy: "ann", isFirst: false },
    { _tag: "ResumedManually", reason: null, resumedBy: "ben" }
  ]
  const decode = Schema.decodeUnknownSync(Schema.Array(ProjectFact))

  it("replays to the same queue", () => {
    const state = replay(project, [{ facts: decode(oldFacts), context }])
    assert.deepStrictEqual(state === null ? null : causesOf(state), [])
    const heldState = replay(project, [{ facts: decode(oldFacts.slice(0, 4)), context }])
    assert.deepStrictEqual(heldState === null ? null : causesOf(heldState), ["manual", "budget"])
  })

  it("gives a readable state that continues, with separate holds", () => {
    const stored = {
      settings: settingsOf(),
      createdAtMs: context.atMs,
      updatedAtMs: context.atMs,
      manualPause: { reason: "spring cleaning", pausedBy: "ann", pausedAtMs: context.atMs },
      automaticPause: { reason: "30-day spend reached 100 % of the budget", pausedAtMs: context.atMs },
      budget: { band: "exceeded", toldEpoch: "sweeper-0", spendMicroUsd: 120_000_000 },
      staleBases: { epoch: null, told: [] }
    }
    const record = recordCodec(project).decode({
      header: () => undefined,
      data: new TextEncoder().encode(
        JSON.stringify({
          commandId: "old",
          atMs: context.atMs,
          facts: oldFacts.slice(1, 4),
          events: [],
          state: stored,
          stateVersion: 1,
          recentCommands: ["old"],
          isRetired: false
        })
      )
    })
    const held = Result.getOrThrow(record)
    const decided = Result.getOrThrow(decideRecord(project, held, resume, { ...context, commandId: "new" }))
    assert.deepStrictEqual(decided?.state == null ? null : causesOf(decided.state), ["budget"])
    assert.deepStrictEqual(
      decided?.events.map(({ event }) => event),
      [resumed]
    )
  })

  it("leaves a queue running that an operator resumed while its budget was exceeded", () => {
    const garden = projectWith()
    garden.does(spent(120))
    const held = { state: { ...garden.state(), automaticPause: null }, recentCommands: [] }
    const swept = Result.getOrThrow(decideRecord(project, held, spent(121, "sweeper-2"), context))
    assert.deepStrictEqual(
      swept?.events.map(({ event }) => event),
      [exceeded]
    )
    assert.isFalse(swept?.state == null || isQueuePaused(swept.state))
  })
})
