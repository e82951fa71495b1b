import { assert, describe, it } from "@effect/vitest"
import { agentCommandsDue, overlookedItems } from "../../../services/sweeper/agents.ts"
import { eligibleAgents } from "../../../services/sweeper/views.ts"
import { agentRow, hourMs, itemRow, minuteMs, nowMs } from "./rows.ts"

const times = { nowMs, marginMs: 30_000, periodicMs: 15 * minuteMs }
const pause = (expiresAtMs: number | null) => ({
  reason: "holiday",
  pausedBy: "ann",
  pausedAtMs: nowMs - hourMs,
  expiresAtMs
})
const due = (agent: ReturnType<typeof agentRow>) => agentCommandsDue([agent], times).map(({ command }) => command)
const quota = (quotaResetAtMs: number | null) => ({ isQuotaExhausted: true, quotaResetAtMs })

describe("an agent", () => {
  it("resumes when the time of its pause is over, not before, and never from a pause without an end", () => {
    assert.deepStrictEqual(due(agentRow({ summary: { pause: pause(nowMs) } })), [{ _tag: "ExpirePause" }])
    assert.deepStrictEqual(due(agentRow({ summary: { pause: pause(nowMs + 1) } })), [])
    assert.deepStrictEqual(due(agentRow({ summary: { pause: pause(null) } })), [])
  })

  it("has its quota back a margin after the known reset", () => {
    assert.deepStrictEqual(due(agentRow({ summary: quota(nowMs - 29_999) })), [])
    assert.deepStrictEqual(due(agentRow({ summary: quota(nowMs - 30_000) })), [{ _tag: "ResetQuota", isForced: false }])
  })

  it("is retried after a while without a known reset", () => {
    const since = (updatedAtMs: number) => due(agentRow({ updatedAtMs, summary: quota(null) }))
    assert.deepStrictEqual(since(nowMs - 15 * minuteMs + 1), [])
    assert.deepStrictEqual(since(nowMs - 15 * minuteMs), [{ _tag: "ResetQuota", isForced: true }])
  })
})

describe("an item that waits for a paused agent", () => {
  const waiting = itemRow({ state: "WaitingForAgentResume", updatedAtMs: nowMs - minuteMs })
  const released = (
    agents: ReadonlyArray<ReturnType<typeof agentRow>>,
    kinds: Parameters<typeof overlookedItems>[0]["kinds"] = [],
    patienceMs = 10_000
  ) => overlookedItems({ items: [waiting], agents, kinds, eligible: eligibleAgents([]), nowMs, patienceMs }).length

  it("is released when the agent takes work", () => {
    assert.strictEqual(released([agentRow()]), 1)
    assert.strictEqual(released([agentRow({ summary: { pause: pause(nowMs) } })]), 1)
  })

  it("stays while the agent is paused", () => {
    assert.strictEqual(released([agentRow({ summary: { pause: pause(null) } })]), 0)
  })

  it("is left to the log's followers at first", () => {
    assert.strictEqual(released([agentRow()], [], 2 * minuteMs), 0)
  })

  it("stays while each instance is paused, and goes when one is not", () => {
    const paused = (id: string) => agentRow({ id, summary: { pause: pause(null) } })
    const kinds = [{ Kind: "smith", Instances: ["a", "b"] }]
    assert.strictEqual(released([paused("smith/a"), paused("smith/b")], kinds), 0)
    assert.strictEqual(released([paused("smith/a")], kinds), 1)
  })
})
