import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { assertAllTold, assertReplays, readItemLogs } from "../support/pipeline-records.ts"
import { type PipelineRoles, startPipelineRoles } from "../support/pipeline-roles.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: PipelineRoles

beforeAll(async () => {
  fleet = await startPipelineRoles()
})
afterAll(() => fleet.stop())

const itemsMax = 24

describe("pipeline-api killed in the middle", () => {
  it("loses no item and no event, and leaves no state without its event", async () => {
    const { api, bus, deliveries, repository } = fleet
    const projectId = "killed"
    await api.call("PUT", `/projects/${projectId}`, { displayName: projectId, repositoryUrl: repository.url })
    const instructions = [null, "!block", "!suggest 2", "!transient"] as const
    const create = (index: number) =>
      api.call("POST", "/workitems", {
        title: `Item ${index}`,
        projectId,
        instructions: instructions[index % instructions.length] ?? null
      })
    const created = await Promise.all(Array.from({ length: itemsMax }, (_, index) => create(index)))
    const ids = created.map(({ id }) => String(id))
    await fleet.runner(["coder"], 6)

    const endedCount = () => deliveries.all().filter(({ event }) => event === "work_item.done").length
    for (const done of [1, itemsMax / 3, itemsMax / 2]) {
      await until(() => endedCount(), { is: (seen) => seen >= done })
      await fleet.killAndRestart("pipeline-api")
    }
    const isDone = (id: string) => deliveries.of(id).some(({ event }) => event === "work_item.done")
    await until(() => ids.every(isDone), { withinMs: 300_000 })

    const logs = await readItemLogs(bus)
    assert.deepStrictEqual(logs.map(({ id }) => id).toSorted(), ids.toSorted())
    for (const log of logs) {
      assertReplays(log)
      assert.strictEqual(log.state.state, "Done")
      assert.strictEqual((await api.call("GET", `/workitems/${log.id}`))["state"], "Done")
    }
    await assertAllTold(bus)
    // The receiver has every event of an item in the stream, once and in order.
    for (const { id, records } of logs) {
      const announced = records.flatMap(({ events }) => events.map(({ event }) => event))
      await until(() => deliveries.of(id).length, { is: (length) => length >= announced.length })
      assert.deepStrictEqual(
        deliveries.of(id).map(({ event }) => event),
        announced
      )
    }
    assert.deepStrictEqual(await deliveries.faults(), [])
  })
})
