import { assert, describe, it } from "@effect/vitest"
import { inHand, itemId, readyFor, startMs } from "./item-at-work.ts"

const quota = { reason: "daily quota", toAgent: null, toModel: null, resetAtMs: startMs + 3_600_000 } as const
const retry = { _tag: "AutoRetry", reason: "quota", triggeredBy: "periodic", attempt: null } as const

describe("an item whose agent is paused", () => {
  it("waits for it, and states the phase to resume from", () => {
    const places = [
      ["work", "work"],
      ["rework", "work"],
      ["delegation", "work"],
      ["audit", "audit"],
      ["merge", "merge"],
      ["conflict-rework", "merge"],
      ["upstream", "upstream"]
    ] as const
    for (const [phase, retryFrom] of places) {
      const item = readyFor(phase)
      const before = item.state().state
      const park = { _tag: "ParkForAgent", reason: "smith is paused" } as const
      assert.deepStrictEqual(item.does(park), ["work_item.waiting_for_agent_resume"])
      assert.deepStrictEqual(item.last("work_item.waiting_for_agent_resume")?.details, {
        reason: "smith is paused",
        retryFrom
      })
      assert.deepStrictEqual(item.does(park), [])
      assert.deepStrictEqual(item.does({ _tag: "AgentResumed" }), [])
      assert.deepInclude(item.state(), { state: before, phase })
    }
  })

  it("is left alone while a runner has it", () => {
    assert.match(inHand("rework").refuses({ _tag: "ParkForAgent", reason: "smith is paused" }), /a runner has it/u)
    assert.match(inHand("work").refuses({ _tag: "ParkForAgent", reason: "smith is paused" }), /takes no ParkForAgent/u)
  })
})

describe("a transient failure", () => {
  const transientBackoff = { initialMs: 1_000, maxMs: 3_000, jitter: 0.2 }

  it("parks the item for a wait that doubles up to its cap, with jitter, then fails it", () => {
    const item = readyFor("work", { maxTransientRetries: 3, transientBackoff })
    for (const [index, waitMs] of [1_100, 2_200, 3_300].entries()) {
      item.takes("work")
      const events = item.reports("transient-failed", { reason: "reset by peer" })
      assert.deepStrictEqual(events, ["work_item.waiting_for_transient_retry"])
      assert.deepStrictEqual(item.last("work_item.waiting_for_transient_retry")?.details, {
        workItemId: itemId,
        phase: "work",
        agent: "smith",
        reason: "reset by peer",
        nextRetryAt: new Date(item.nowMs() + waitMs).toISOString(),
        attempts: index + 1
      })
      assert.strictEqual(item.state().retryAtMs, item.nowMs() + waitMs)
      item.does({ ...retry, reason: "transient" })
      assert.strictEqual(item.last("work_item.auto_retry")?.details?.["attemptNumber"], index + 1)
    }
    item.takes("work")
    assert.deepStrictEqual(item.reports("transient-failed", { reason: "reset by peer" }), ["work_item.failed"])
    assert.strictEqual(item.state().failureKind, "transient")
  })
})

describe("a used-up quota", () => {
  it("moves the phase to another member of the class, with an event for the agent and none for the item", () => {
    const item = inHand("audit")
    const events = item.reports("quota-hit", { ...quota, toAgent: "mason", toModel: "m-2" })
    assert.deepStrictEqual(events, ["agent.fallback"])
    const told = item.last("agent.fallback")
    assert.deepStrictEqual([told?.workItem, told?.project], [null, null])
    assert.deepStrictEqual(told?.details, {
      workItemId: itemId,
      phase: "audit",
      iteration: 1,
      reason: "daily quota",
      fromAgent: "smith",
      fromModel: null,
      toAgent: "mason",
      toModel: "m-2"
    })
    assert.deepInclude(item.state(), { state: "WorkComplete", assignedAgent: "mason", agent: "smith", dispatch: null })
    item.takes("audit")
    item.audited()
    assert.isNull(item.state().assignedAgent)
  })

  it("of every member parks the item instead of failing it", () => {
    const item = inHand("merge")
    assert.deepStrictEqual(item.reports("quota-hit", quota), ["work_item.waiting_for_quota_reset"])
    assert.deepStrictEqual(item.last("work_item.waiting_for_quota_reset")?.details, {
      workItemId: itemId,
      phase: "merge",
      iteration: 1,
      reason: "daily quota",
      fromAgent: "smith",
      fromModel: null,
      toAgent: null,
      toModel: null
    })
    assert.deepInclude(item.state(), { state: "WaitingForQuotaReset", quotaResetAtMs: quota.resetAtMs })
  })

  it("is retried as often as the project allows, whoever triggers it", () => {
    const item = inHand("merge", { maxQuotaRetries: 4 })
    for (const [index, triggeredBy] of (["targeted", "periodic", "rearm-overdue", "startup"] as const).entries()) {
      item.reports("quota-hit", quota)
      assert.deepStrictEqual(item.does({ ...retry, triggeredBy }), ["work_item.auto_retry"])
      assert.deepStrictEqual(item.last("work_item.auto_retry")?.details, {
        workItemId: itemId,
        reason: "quota",
        attemptNumber: index + 1,
        triggeredBy
      })
      assert.deepInclude(item.state(), { state: "AuditPassed", quotaResetAtMs: null })
      item.takes("merge")
    }
    assert.deepStrictEqual(item.reports("quota-hit", quota), ["work_item.failed"])
    assert.strictEqual(item.state().failureKind, "quota")
  })
})

describe("an automatic retry", () => {
  it("for another attempt than the next changes nothing", () => {
    const item = inHand("work")
    item.reports("quota-hit", quota)
    assert.deepStrictEqual(item.does({ ...retry, attempt: 2 }), [])
    assert.deepStrictEqual(item.does({ ...retry, attempt: 1 }), ["work_item.auto_retry"])
    assert.match(item.refuses({ ...retry, attempt: 1 }), /waits for no retry/u)
  })

  it("is only for an item that waits for it", () => {
    const item = inHand("work")
    assert.match(item.refuses(retry), /waits for no retry/u)
    item.reports("quota-hit", quota)
    assert.match(item.refuses({ ...retry, reason: "transient" }), /does not wait for a retry after transient/u)
  })
})

describe("deferred work", () => {
  const suggestedRetryAtMs = startMs + 600_000
  const suggestedRetryAt = new Date(suggestedRetryAtMs).toISOString()
  const deferrals = [
    ["budget.deferred", { kind: "budget", reason: "daily cap 5/5" }, { reason: "daily cap 5/5" }],
    [
      "disk.deferred",
      { kind: "disk", mountPath: "/data", freeBytes: 10, thresholdBytes: 20 },
      { mountPath: "/data", freeBytes: 10, thresholdBytes: 20 }
    ],
    [
      "sandbox.provisioning_deferred",
      { kind: "sandbox", provider: "vm", operation: "launch", errorClass: "Capacity" },
      { provider: "vm", operation: "launch", errorClass: "Capacity", resumeState: "AuditPassed" }
    ]
  ] as const

  it("has an event with its reason, and is not taken before the suggested time", () => {
    for (const [event, deferral, details] of deferrals) {
      const item = inHand("merge")
      const dispatchId = item.state().lastDispatchId
      const command = { _tag: "Defer", dispatchId, deferral: { ...deferral, suggestedRetryAtMs } } as const
      assert.deepStrictEqual(item.does(command), [event])
      assert.deepStrictEqual(item.last(event)?.details, { ...details, suggestedRetryAt })
      assert.isNotNull(item.last(event)?.workItem)
      assert.deepInclude(item.state(), { state: "AuditPassed", notBeforeMs: suggestedRetryAtMs })
      assert.match(item.refuses(item.dispatch("merge")), /not to be taken before/u)
      item.passes(600_000)
      assert.strictEqual(item.takes("merge")[0], "work_item.merging")
    }
  })

  it("at pickup stays where it is, with one event for the same time", () => {
    const item = readyFor("audit")
    const deferral = { kind: "budget", reason: "daily cap 5/5", suggestedRetryAtMs } as const
    assert.deepStrictEqual(item.does({ _tag: "Defer", dispatchId: null, deferral }), ["budget.deferred"])
    assert.deepStrictEqual(item.does({ _tag: "Defer", dispatchId: null, deferral }), [])
    assert.strictEqual(item.state().state, "WorkComplete")
  })

  it("leaves an item alone that another dispatch has", () => {
    const item = inHand("merge")
    const deferral = { kind: "budget", reason: "daily cap 5/5", suggestedRetryAtMs } as const
    assert.deepStrictEqual(item.does({ _tag: "Defer", dispatchId: "older", deferral }), [])
    assert.match(item.refuses({ _tag: "Defer", dispatchId: null, deferral }), /a runner has it/u)
  })
})
