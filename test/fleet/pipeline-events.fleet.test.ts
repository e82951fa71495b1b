import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventCatalogue } from "#base"
import { type PipelineFleet, startPipelineFleet } from "../support/pipeline-fleet.ts"
import { createItem } from "../support/pipeline-item-scenarios.ts"
import { provocations, type ScenarioName, scenarios } from "../support/pipeline-provocations.ts"
import { assertAllTold, assertReplays, readItemLogs } from "../support/pipeline-records.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: PipelineFleet
/** The result of each scenario. */
const ends = new Map<ScenarioName, Error | undefined>()

// Agents of one runner, so many that no scenario waits for another.
const agents = ["coder", "guest", "hasty", "sleeper", "left", "right"]

const run = async (names: ReadonlyArray<ScenarioName>) => {
  const projectId = await fleet.project()
  await Promise.all(
    names.map((name) =>
      scenarios[name](fleet, projectId).then(
        () => ends.set(name, undefined),
        (error: unknown) => ends.set(name, error instanceof Error ? error : new Error(String(error)))
      )
    )
  )
}

beforeAll(async () => {
  fleet = await startPipelineFleet()
  await Promise.all([
    fleet.runner({ agents }),
    fleet.runner({ agents: ["mortal"] }),
    fleet.runner({ agents: ["publisher"], more: ["--forge", fleet.forge, "--watch-forge", "300"] })
  ])
  const names = Object.keys(scenarios) as ReadonlyArray<ScenarioName>
  // A paused queue would hold up the others.
  await run(names.filter((name) => name !== "a queue that is paused"))
  await run(["a queue that is paused"])
})
afterAll(() => fleet.stop())

describe("the running fleet", () => {
  it("has a way to provoke every event of the contract, and no other", () => {
    assert.deepStrictEqual(Object.keys(provocations).toSorted(), eventCatalogue.map(({ name }) => name).toSorted())
  })

  it.each(Object.keys(scenarios) as ReadonlyArray<ScenarioName>)("finishes %s", (name) => {
    const error = ends.get(name)
    if (error !== undefined) throw error
    assert.isTrue(ends.has(name))
  })

  it.each(Object.entries(provocations))("sends its receiver %s, in %s", (event) => {
    assert.isTrue(fleet.deliveries.all().some((envelope) => envelope.event === event))
  })

  it("sends nothing that breaks its schema or its signature", async () => {
    assert.deepStrictEqual(await fleet.deliveries.faults(), [])
  })

  it("sends the events of a successful lifecycle in their order", () => {
    const id = fleet.deliveries
      .all()
      .find(({ event, details }) => event === "work_item.suggestion" && details?.["title"] === "Suggestion 3")
      ?.workItem?.id
    const told = fleet.deliveries.of(id ?? "").filter(({ event }) => event !== "work_item.suggestion")
    assert.deepStrictEqual(
      told.map(
        ({ event, details }) => `${event}${details?.["iteration"] === undefined ? "" : ` ${details["iteration"]}`}`
      ),
      [
        "work_item.working",
        "iteration.started 1",
        "iteration.completed 1",
        "work_item.work_complete",
        ...audit(1),
        "work_item.reworking",
        "iteration.started 2",
        "iteration.completed 2",
        "work_item.work_complete",
        ...audit(2),
        "work_item.audit_passed",
        "work_item.merging",
        "merge.started",
        "merge.completed",
        "work_item.merged",
        "work_item.upstream_pushing",
        "work_item.done"
      ]
    )
  })

  it("has states that equal the replay of their logs, and events that equal those in their logs", async () => {
    const logs = await readItemLogs(fleet.bus)
    assert.isAtLeast(logs.length, 20)
    for (const log of logs) {
      assertReplays(log)
      const { status, body } = await fleet.api.ask("GET", `/workitems/${log.id}`)
      assert.strictEqual(status, 200)
      assert.strictEqual(body["state"], log.state.state)
    }
    await assertAllTold(fleet.bus)
  })

  it("hands the runner's phases to the next runner, and the runner exits with 0", async () => {
    const runner = await fleet.runner({ agents: ["nobody"] })
    const id = await createItem(fleet, await fleet.project(), "!slow work 60", { agent: "nobody" })
    await fleet.deliveries.heard("work_item.working", ({ workItem }) => workItem?.id === id)
    assert.strictEqual(await runner.stop(), 0)
    await until(async () => (await fleet.api.call("GET", `/workitems/${id}`))["state"] === "Queued", {
      withinMs: 10_000
    })
  })
})

const audit = (iteration: number) => [
  "work_item.auditing",
  `audit.started ${iteration}`,
  `audit.findings.emitted ${iteration}`,
  `work_item.audit_iteration ${iteration}`,
  `audit.completed ${iteration}`
]
