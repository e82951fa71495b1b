import { assert, describe, it } from "@effect/vitest"
import { affectedItems, requeueCommands, restoresDue } from "../../../services/sweeper/restores.ts"
import { agentRow, hourMs, itemRow, minuteMs, nowMs, uuid } from "./rows.ts"

const began = nowMs - hourMs
const restoreOf = (outageStartedAtMs: number | null, id = "smith") => ({
  agent: agentRow({ id }),
  outageStartedAtMs,
  restoredAtMs: nowMs
})
const failed = (number: number, endedAtMs: number, summary: Parameters<typeof itemRow>[0] = {}) =>
  itemRow({
    id: uuid(number),
    state: "Failed",
    deadlinesMs: { ended: endedAtMs },
    summary: { failureKind: "infra", failedAgent: "smith", ...summary.summary }
  })

describe("the return of an agent", () => {
  it("is due until its items have been reviewed", () => {
    const back = agentRow({ summary: { restore: { outageStartedAtMs: began, restoredAtMs: nowMs } } })
    assert.deepStrictEqual(restoresDue([agentRow(), back]), [
      { agent: back, outageStartedAtMs: began, restoredAtMs: nowMs }
    ])
  })

  it("concerns items that failed by the agent's absence in the outage, oldest first, and no others", () => {
    const items = [
      failed(1, nowMs - minuteMs),
      failed(2, began),
      failed(3, began - 1),
      failed(4, nowMs + 1),
      failed(5, nowMs - minuteMs, { summary: { failureKind: "agent" } }),
      failed(6, nowMs - minuteMs, { summary: { failedAgent: "weaver" } }),
      failed(7, nowMs - 2 * minuteMs, { summary: { failureKind: "auth", failedAgent: null } })
    ]
    assert.deepStrictEqual(affectedItems(items, restoreOf(began)), {
      workItemIds: [uuid(2), uuid(7), uuid(1)],
      skipped: 1
    })
  })

  it("concerns nothing without a known beginning of the outage", () => {
    assert.deepStrictEqual(affectedItems([failed(1, nowMs - minuteMs)], restoreOf(null)), {
      workItemIds: [],
      skipped: 0
    })
  })

  it("of an instance concerns the items of its kind", () => {
    const [planned] = requeueCommands([uuid(1)], restoreOf(began, "smith/a"))
    assert.deepStrictEqual(planned?.command, {
      _tag: "AgentRestoreRequeue",
      restoredAgent: "smith",
      outageStartedAtMs: began,
      restoredAtMs: nowMs
    })
    assert.strictEqual(planned?.commandId, `sweep.restore.${nowMs}`)
  })
})
