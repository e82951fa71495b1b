import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type PipelineFleet, startPipelineFleet } from "../support/pipeline-fleet.ts"
import { createItem } from "../support/pipeline-item-scenarios.ts"
import { assertAllTold, assertReplays, readItemLogs } from "../support/pipeline-records.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: PipelineFleet

beforeAll(async () => {
  fleet = await startPipelineFleet()
})
afterAll(() => fleet.stop())

/** Orders, and the state that they lead to. */
const kinds = [
  [null, "Done"],
  ["!suggest 1\n!spend 250", "Done"],
  ["!block", "Done"],
  ["!transient", "Done"],
  ["!no-action", "NoActionRequired"],
  ["!fail", "Failed"],
  ["!conflict", "Done"],
  [null, "Done"],
  ["!spend 100", "Done"],
  [null, "Done"]
] as const

const median = (values: ReadonlyArray<number>) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

describe("a hundred items at once", () => {
  it("reach their ends with one runner, and their states equal the replay of their logs", async () => {
    const projectId = await fleet.project()
    const wanted = Array.from({ length: 100 }, (_, index) => kinds[index % kinds.length] ?? kinds[0])
    const ids = await Promise.all(wanted.map(([instructions]) => createItem(fleet, projectId, instructions)))
    await fleet.runner({ agents: ["coder"], atOnce: 8 })
    const ended = ["work_item.done", "work_item.failed", "work_item.no_action_required"]
    const isEnded = (id: string) => fleet.deliveries.of(id).some(({ event }) => ended.includes(event))
    await until(() => ids.every(isEnded), { withinMs: 500_000 })

    const logs = new Map((await readItemLogs(fleet.bus)).map((log) => [log.id, log]))
    const states = ids.map((id) => logs.get(id)?.state.state)
    assert.deepStrictEqual(
      states,
      wanted.map(([, state]) => state)
    )
    for (const log of logs.values()) assertReplays(log)
    const shown = await Promise.all(ids.map((id) => fleet.api.call("GET", `/workitems/${id}`)))
    assert.deepStrictEqual(
      shown.map(({ state }) => state),
      states
    )
    await assertAllTold(fleet.bus)
    assert.deepStrictEqual(await fleet.deliveries.faults(), [])
    // Everything that was done is upstream.
    const files = fleet.repository.git("ls-tree", "-r", "--name-only", "main").split("\n")
    const done = ids.filter((_, index) => wanted[index]?.[1] === "Done").map((id) => `items/${id}.md`)
    assert.deepStrictEqual(
      done.filter((file) => !files.includes(file)),
      []
    )
  })
})

describe("hanging receivers", () => {
  it("change neither the results of commands nor their duration", async () => {
    const projectId = await fleet.project()
    /** Times of creations and of cancels, in milliseconds, and the states that they led to. */
    const batch = async () => {
      const times: Array<number> = []
      const states: Array<unknown> = []
      for (let index = 0; index < 60; index += 1) {
        const startedMs = performance.now()
        const id = await createItem(fleet, projectId, null, { agent: "nobody" })
        const { state } = await fleet.api.call("DELETE", `/workitems/${id}`, { reason: "no need" })
        times.push(performance.now() - startedMs)
        states.push(state)
      }
      return { median: median(times), states }
    }
    await batch()
    const before = await batch()
    const received = () => fleet.receiver.requests.length
    const receivedBefore = received()
    fleet.receiver.answer("/every", () => "hang")
    const [first, second] = [await batch(), await batch()]

    assert.deepStrictEqual(new Set([...before.states, ...first.states, ...second.states]), new Set(["Cancelled"]))
    const hanging = Math.min(first.median, second.median)
    // On a shared machine; a wait for a receiver takes ten seconds.
    assert.isBelow(hanging, before.median * 3 + 20, `${before.median} ms before`)
    assert.isAbove(received(), receivedBefore, "nothing was sent to the hanging receiver")
    await assertAllTold(fleet.bus)
  })
})
