import { assert, describe, it } from "@effect/vitest"
import type { Report } from "#pipeline/contract"
import { adviceDue, agentCommandsDue, overlookedItems } from "../../../services/sweeper/agents.ts"
import { eligibleAgents } from "../../../services/sweeper/seen-entities.ts"
import { agentRow, hourMs, itemRow, minuteMs, nowMs, uuid } from "./rows.ts"

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

  it("is released when one of the agents that may take it does, though another is paused", () => {
    const smith = agentRow({ summary: { pause: pause(null) } })
    const input = { items: [waiting], agents: [smith], kinds: [], nowMs, patienceMs: 10_000 }
    assert.strictEqual(overlookedItems({ ...input, eligible: () => [smith.id, "weaver"] }).length, 1)
    assert.strictEqual(overlookedItems({ ...input, eligible: () => [smith.id] }).length, 0)
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

const forecast = (changes: Partial<Report<"quota-forecast">> = {}): Report<"quota-forecast"> => ({
  kind: "quota-forecast",
  reportId: uuid(50),
  atMs: nowMs - hourMs,
  agent: "smith",
  bankedCredits: 2,
  usableQuotaPct: 12.5,
  predictedNaturalResetMs: null,
  nextCreditExpiresAtMs: null,
  nextCreditIsEstimated: true,
  optimalFromMs: nowMs,
  optimalUntilMs: nowMs + hourMs,
  decisionDeadlineMs: null,
  ...changes
})
const adviceFor = (changes: Partial<Report<"quota-forecast">> = {}, watched: ReadonlyArray<string> = []) =>
  adviceDue({ forecasts: [forecast(changes)], nowMs, watched, cooldownMs: 7 })

describe("the quota adviser", () => {
  it("advises an agent within its optimal window, with the known figures", () => {
    assert.deepStrictEqual(adviceFor(), [
      {
        entity: "agent",
        id: "smith",
        commandId: `sweep.advice.${nowMs + hourMs}`,
        finding: "advice",
        command: {
          _tag: "AdviseSpending",
          bankedCredits: 2,
          usableQuotaPct: 12.5,
          predictedNaturalResetMs: null,
          nextCreditExpiresAtMs: null,
          nextCreditIsEstimated: true,
          optimalFromMs: nowMs,
          optimalUntilMs: nowMs + hourMs,
          decisionDeadlineMs: null,
          cooldownMs: 7
        }
      }
    ])
  })

  it.each([
    ["before the window", { optimalFromMs: nowMs + 1 }, 0],
    ["in a window that has begun at any time", { optimalFromMs: null }, 1],
    ["after the window", { optimalUntilMs: nowMs }, 0],
    ["without a window", { optimalUntilMs: null }, 0],
    ["after the decision had to be made", { decisionDeadlineMs: nowMs - 1 }, 0],
    ["with nothing to spend", { bankedCredits: 0 }, 0],
    ["when nobody knows what there is to spend", { bankedCredits: null }, 1]
  ] as const)("%s", (_, changes, count) => {
    assert.strictEqual(adviceFor(changes).length, count)
  })

  it("advises only watched agents", () => {
    assert.strictEqual(adviceFor({}, ["weaver"]).length, 0)
    assert.strictEqual(adviceFor({}, ["weaver", "smith"]).length, 1)
  })
})
