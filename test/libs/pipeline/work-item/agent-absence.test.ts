import { assert, describe, it } from "@effect/vitest"
import { inHand, itemId, startMs } from "./item-at-work.ts"

const restored = {
  _tag: "AgentRestoreRequeue",
  restoredAgent: "smith",
  outageStartedAtMs: startMs,
  restoredAtMs: startMs + 60_000
} as const

describe("a stuck agent", () => {
  const details = (phase: string) => ({ phase, agentKind: "smith", stuckSeconds: 900, killed: true })

  it("is reported before the item fails", () => {
    for (const phase of ["work", "rework", "merge"] as const) {
      const item = inHand(phase)
      const events = item.reports("agent-stuck", { stuckSeconds: 900 })
      assert.deepStrictEqual(events, ["work_item.agent_stuck", "work_item.failed"])
      assert.deepStrictEqual(item.last("work_item.agent_stuck")?.details, details(phase))
      assert.strictEqual(item.state().failureKind, "stuck")
    }
  })

  it("is reported before the retry, too, while retries are left", () => {
    const item = inHand("rework", { retriesWhenStuck: true, maxTransientRetries: 1 })
    const events = item.reports("agent-stuck", { stuckSeconds: 900 })
    assert.deepStrictEqual(events, ["work_item.agent_stuck", "work_item.auto_retry"])
    assert.deepInclude(item.last("work_item.auto_retry")?.details, { reason: "transient", attemptNumber: 1 })
    assert.strictEqual(item.state().state, "Reworking")
    item.takes("rework")
    assert.strictEqual(item.last("iteration.started")?.details?.["iteration"], 2)
    assert.strictEqual(item.reports("agent-stuck", { stuckSeconds: 900 }).at(-1), "work_item.failed")
  })

  it("is not detected in other phases", () => {
    for (const phase of ["upstream", "delegation", "conflict-rework", "audit"] as const) {
      inHand(phase).refusesReport("agent-stuck", { stuckSeconds: 900 })
    }
  })
})

describe("a returning agent", () => {
  const failedItem = (failureKind: "infra" | "agent") => {
    const item = inHand("audit")
    item.reports("failed", { reason: "no route", failureKind })
    return item
  }

  it("has its failed items queued again at their phase", () => {
    const item = failedItem("infra")
    assert.deepStrictEqual(item.does(restored), ["work_item.agent_restore_requeued"])
    assert.deepStrictEqual(item.last("work_item.agent_restore_requeued")?.details, {
      workItemId: itemId,
      reason: "agent_restore",
      restoredAgent: "smith",
      failureKind: "infra",
      triggeredBy: "agent-restore",
      from: "audit",
      outageStartedAt: new Date(startMs).toISOString(),
      restoredAt: new Date(startMs + 60_000).toISOString()
    })
    assert.deepInclude(item.state(), { state: "WorkComplete", endedAtMs: null, failureKind: null })
  })

  it("leaves failures alone that its absence did not cause", () => {
    assert.match(failedItem("agent").refuses(restored), /own fault/u)
    assert.match(failedItem("infra").refuses({ ...restored, restoredAgent: "mason" }), /another agent/u)
    assert.match(failedItem("infra").refuses({ ...restored, outageStartedAtMs: startMs + 30_000 }), /in the outage/u)
    assert.match(failedItem("infra").refuses({ ...restored, restoredAtMs: startMs }), /in the outage/u)
    assert.match(inHand("audit").refuses(restored), /only a failed item/u)
  })

  it("queues nothing when the beginning of its outage is unknown", () => {
    assert.match(failedItem("infra").refuses({ ...restored, outageStartedAtMs: null }), /in the outage/u)
  })
})
