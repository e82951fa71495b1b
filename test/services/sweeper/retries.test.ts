import { assert, describe, it } from "@effect/vitest"
import { eligibleAgents } from "../../../services/sweeper/seen-entities.ts"
import {
  lastReturn,
  noReturns,
  type Parked,
  retries,
  retryOf,
  type RetryTimes,
  seeAgents
} from "../../../services/sweeper/retries.ts"
import { agentRow, hourMs, itemRow, minuteMs, nowMs } from "./rows.ts"

const times: RetryTimes = {
  nowMs,
  isFirst: false,
  periodicMs: 15 * minuteMs,
  marginMs: 30_000,
  overdueMs: minuteMs
}
const transient = (changes: Partial<Parked> = {}): Parked => ({
  state: "WaitingForTransientRetry",
  updatedAtMs: nowMs - hourMs,
  dueAtMs: nowMs,
  attemptsSoFar: 0,
  quotaBackAtMs: null,
  ...changes
})
const quota = (changes: Partial<Parked> = {}) => transient({ state: "WaitingForQuotaReset", ...changes })

const triggerOf = (item: Parked, changes: Partial<RetryTimes> = {}) =>
  retryOf(item, { ...times, ...changes })?.triggeredBy

describe("a parked item", () => {
  it.each([
    ["a transient retry whose time has come", transient(), "targeted"],
    ["one whose time has not come", transient({ dueAtMs: nowMs + 1 }), undefined],
    ["one that was overlooked", transient({ dueAtMs: nowMs - minuteMs - 1 }), "rearm-overdue"],
    ["a quota that is reset, within the margin", quota({ dueAtMs: nowMs - 29_999 }), undefined],
    ["a quota that is reset, after the margin", quota({ dueAtMs: nowMs - 30_000 }), "targeted"],
    ["a quota that was reset long ago", quota({ dueAtMs: nowMs - 30_000 - minuteMs - 1 }), "rearm-overdue"],
    ["a quota that is to be reset later", quota({ dueAtMs: nowMs + hourMs }), undefined],
    ["a quota of which nobody knows, too early", quota({ dueAtMs: null, updatedAtMs: nowMs - minuteMs }), undefined],
    ["a quota of which nobody knows, after a while", quota({ dueAtMs: null }), "periodic"],
    ["an agent whose quota is back", quota({ dueAtMs: nowMs + hourMs, quotaBackAtMs: nowMs }), "targeted"],
    [
      "an agent whose quota was back before",
      quota({ dueAtMs: nowMs + hourMs, quotaBackAtMs: nowMs - 2 * hourMs }),
      undefined
    ]
  ] as const)("%s", (_, item, triggeredBy) => {
    assert.strictEqual(triggerOf(item), triggeredBy)
  })

  it.each([transient(), quota({ dueAtMs: null }), quota({ dueAtMs: nowMs - hourMs })])(
    "that is due at the first look of a run is retried with the startup reason",
    (item) => {
      assert.strictEqual(triggerOf(item, { isFirst: true }), "startup")
    }
  )

  it("that is not due is left alone at the first look too", () => {
    assert.isUndefined(triggerOf(transient({ dueAtMs: nowMs + 1 }), { isFirst: true }))
  })

  it("is retried with the number of the next attempt", () => {
    assert.strictEqual(retryOf(quota({ attemptsSoFar: 4, quotaBackAtMs: nowMs }), times)?.attempt, 5)
    assert.strictEqual(retryOf(transient({ attemptsSoFar: 2 }), times)?.reason, "transient")
  })

  it("is requested once for each record of it", () => {
    const row = itemRow({ state: "WaitingForTransientRetry", deadlinesMs: { retryAt: nowMs }, sequence: 42 })
    const [planned] = retries([row], { returns: noReturns, eligible: eligibleAgents([]), times })
    assert.strictEqual(planned?.commandId, "sweep.transient-targeted.42")
  })
})

describe("the return of a quota", () => {
  const exhausted = agentRow({ summary: { isQuotaExhausted: true } })
  const back = agentRow({ updatedAtMs: nowMs })

  it("is detected between two looks", () => {
    const returns = seeAgents(seeAgents(noReturns, [exhausted]), [back])
    assert.strictEqual(lastReturn(returns, ["smith"]), nowMs)
    assert.isNull(lastReturn(returns, ["other"]))
  })

  it("is the latest of all the agents that an item may use", () => {
    const earlier = agentRow({ id: "weaver", updatedAtMs: nowMs - hourMs, summary: { agentKind: "weaver" } })
    const returns = seeAgents(noReturns, [back, earlier])
    assert.strictEqual(lastReturn(returns, ["smith", "weaver"]), nowMs)
    assert.strictEqual(lastReturn(returns, ["weaver"]), nowMs - hourMs)
  })

  it("does not follow from another change of an agent that had quota all along", () => {
    const before = seeAgents(noReturns, [agentRow({ updatedAtMs: nowMs - hourMs })])
    assert.strictEqual(lastReturn(seeAgents(before, [back]), ["smith"]), nowMs - hourMs)
  })

  it("frees items of every class with the agent as a member", () => {
    const returns = seeAgents(seeAgents(noReturns, [exhausted]), [back])
    const eligible = eligibleAgents([
      { Kind: "smith", Class: "makers" },
      { Kind: "weaver", Class: "makers" }
    ])
    const row = (agent: string, assignedAgent: string | null = null) =>
      itemRow({ state: "WaitingForQuotaReset", updatedAtMs: nowMs - minuteMs, summary: { agent, assignedAgent } })
    const rows = [row("makers"), row("smith"), row("weaver"), row("makers", "weaver")]
    assert.strictEqual(retries(rows, { returns, eligible, times }).length, 2)
  })
})
