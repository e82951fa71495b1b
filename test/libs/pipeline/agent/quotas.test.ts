import { assert, describe, it } from "@effect/vitest"
import { isoTime } from "#base"
import { agentHold } from "#pipeline"
import { startMs } from "../entity-at-work.ts"
import { advice, agentAtWork } from "./agent-at-work.ts"

const event = "quota.reset_optimal"
const hit = (atMs: number, resetAtMs: number | null) =>
  ({
    _tag: "HitQuota",
    occurredAtMs: startMs + atMs,
    resetAtMs: resetAtMs === null ? null : startMs + resetAtMs
  }) as const
const reset = (isForced = false) => ({ _tag: "ResetQuota", isForced }) as const

describe("a used-up quota", () => {
  it("holds the agent until its reset, without an event", () => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.facts(hit(0, 60_000)), ["QuotaHit"])
    assert.strictEqual(agentHold(smith.state(), startMs + 59_999), "QuotaExhausted")
    assert.isUndefined(agentHold(smith.state(), startMs + 60_000))
    assert.deepStrictEqual(smith.facts(reset()), [])
    smith.passes(60_000)
    assert.deepStrictEqual(smith.facts(reset()), ["QuotaReset"])
    assert.deepStrictEqual(smith.facts(reset()), [])
    assert.deepStrictEqual(smith.events, [])
  })

  it("with an unknown reset ends on a report", () => {
    const smith = agentAtWork()
    smith.does(hit(0, null))
    smith.passes(1_000_000_000)
    assert.deepStrictEqual(smith.facts(reset()), [])
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "QuotaExhausted")
    assert.deepStrictEqual(smith.facts(reset(true)), ["QuotaReset"])
  })

  it("has the newest reported reset", () => {
    const smith = agentAtWork()
    smith.does(hit(10, 60_000))
    assert.deepStrictEqual(smith.facts(hit(20, 60_000)), [])
    assert.deepStrictEqual(smith.facts(hit(5, 90_000)), [])
    assert.deepStrictEqual(smith.facts(hit(20, 90_000)), ["QuotaHit"])
    assert.strictEqual(smith.state().quota?.resetAtMs, startMs + 90_000)
  })

  it("with a past reset is ignored", () => {
    assert.deepStrictEqual(agentAtWork().facts(hit(0, 0)), [])
  })
})

describe("the advice to spend banked quota", () => {
  it("is a report, with usage null", () => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.does(advice(3_600_000)), [event])
    const told = smith.last(event)
    assert.isNull(told.usage)
    assert.deepStrictEqual([told.workItem, told.project], [null, null])
    assert.deepStrictEqual(told.details, {
      agent: "smith",
      reason: "SpendBeforeDeadline",
      bankedCredits: 2,
      optimalUntil: isoTime(startMs + 3_600_000),
      optimalFrom: null,
      predictedNaturalReset: isoTime(startMs + 9_000_000),
      decisionDeadline: null,
      nextCreditExpiresAt: null,
      nextCreditIsEstimated: true,
      usableQuotaPct: 12.5
    })
  })

  it("is given once for each optimal window, and then no other for a while", () => {
    const smith = agentAtWork()
    smith.does(advice(3_600_000))
    assert.deepStrictEqual(smith.facts(advice(3_600_000)), [])
    assert.deepStrictEqual(smith.facts(advice(3_600_001)), [], "it cools down")
    smith.passes(60_000)
    assert.deepStrictEqual(smith.facts(advice(3_600_000)), [], "the same window")
    assert.deepStrictEqual(smith.does(advice(7_200_000)), [event])
  })

  it("changes nothing: a used-up quota stays so", () => {
    const smith = agentAtWork()
    smith.does(hit(0, 60_000))
    const { quota } = smith.state()
    assert.deepStrictEqual(smith.does(advice(3_600_000)), [event])
    assert.deepStrictEqual(smith.state().quota, quota)
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "QuotaExhausted")
  })

  it("is not given for a past window", () => {
    assert.deepStrictEqual(agentAtWork().facts(advice(0)), [])
  })
})
