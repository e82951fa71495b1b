import { assert, describe, it } from "@effect/vitest"
import { recoveryReasons } from "#pipeline/contract"
import { inHand, itemAtWork, itemId, readyFor } from "./item-at-work.ts"

const recover = { _tag: "Recover", reason: "dead worker detected", dispatchId: null } as const

describe("a crash", () => {
  it("returns the item to the queue of its phase", () => {
    const map = [
      ["work", "Working", "Queued"],
      ["rework", "Reworking", "Reworking"],
      ["audit", "Auditing", "WorkComplete"],
      ["merge", "Merging", "AuditPassed"],
      ["upstream", "UpstreamPushing", "Merged"],
      ["conflict-rework", "ConflictRework", "ConflictRework"],
      ["delegation", "Delegated", "Delegated"]
    ] as const
    for (const [phase, fromState, toState] of map) {
      const item = inHand(phase)
      assert.deepStrictEqual(item.does(recover), ["work_item.recovered"])
      assert.deepStrictEqual(item.last("work_item.recovered")?.details, {
        workItemId: itemId,
        projectId: "garden",
        fromState,
        toState,
        reason: "dead worker detected",
        recoveryAttempt: 1,
        maxRecoveryAttempts: 3
      })
      assert.deepInclude(item.state(), { state: toState, phase, dispatch: null })
      item.takes(phase)
    }
  })

  it("has an event with the way of its detection", () => {
    for (const reason of recoveryReasons) {
      const item = inHand("work")
      item.does({ ...recover, reason })
      assert.strictEqual(item.last("work_item.recovered")?.details?.["reason"], reason)
    }
  })

  it("that the runner itself reports is a dead worker", () => {
    const item = inHand("work")
    assert.deepStrictEqual(item.reports("agent-died", { reason: "exit 137" }), ["work_item.recovered"])
    assert.strictEqual(item.last("work_item.recovered")?.details?.["reason"], "dead worker detected")
  })

  it("beyond the cap gives the item up, and still has its event", () => {
    const item = readyFor("work", { maxRecoveryAttempts: 2 })
    for (const toState of ["Queued", "Queued", "AbandonedAfterRecoveryAttempts"]) {
      item.takes("work")
      assert.deepStrictEqual(item.does(recover), ["work_item.recovered"])
      assert.strictEqual(item.last("work_item.recovered")?.details?.["toState"], toState)
    }
    assert.deepInclude(item.last("work_item.recovered")?.details, { recoveryAttempt: 3, maxRecoveryAttempts: 2 })
    assert.deepInclude(item.state(), { state: "AbandonedAfterRecoveryAttempts", endedAtMs: item.nowMs() })
  })

  it("at a phase boundary returns the item to itself, for one attempt", () => {
    const item = readyFor("merge")
    item.does({ ...recover, reason: "orchestrator restart with stranded item" })
    assert.deepInclude(item.last("work_item.recovered")?.details, {
      fromState: "AuditPassed",
      toState: "AuditPassed",
      recoveryAttempt: 1
    })
  })

  it("costs nothing while the item only waits in the queue", () => {
    assert.deepStrictEqual(itemAtWork().does(recover), [])
    assert.deepStrictEqual(readyFor("delegation").does(recover), [])
  })

  it("of a finished dispatch changes nothing", () => {
    const item = inHand("work")
    assert.deepStrictEqual(item.does({ ...recover, dispatchId: "older" }), [])
    assert.deepStrictEqual(item.does({ ...recover, dispatchId: item.state().lastDispatchId }), ["work_item.recovered"])
  })

  it("keeps the numbering of the run", () => {
    const item = inHand("rework")
    item.does(recover)
    item.takes("rework")
    assert.strictEqual(item.last("iteration.started")?.details?.["iteration"], 2)
  })
})

describe("a host that shuts down in order", () => {
  it("has work, rework and audit queued again, numbered from 1, without an event", () => {
    for (const phase of ["work", "rework", "audit"] as const) {
      const item = inHand(phase)
      assert.deepStrictEqual(item.reports("preempted", {}), [])
      assert.deepInclude(item.state(), { state: "Queued", phase, run: 2, auditedIterations: 0, recoveryAttempts: 0 })
    }
  })

  it("restarts rework at iteration 1, and the audit loop at 1", () => {
    const item = inHand("rework")
    item.reports("preempted", {})
    assert.deepStrictEqual(item.takes("rework"), ["work_item.reworking", "iteration.started"])
    assert.deepInclude(item.last("iteration.started")?.details, { iteration: 1, phase: "rework" })
    item.commits()
    item.takes("audit")
    assert.strictEqual(item.last("audit.started")?.details?.["iteration"], 1)
    item.audited("Error")
    item.takes("rework")
    assert.strictEqual(item.last("iteration.started")?.details?.["iteration"], 2)
  })

  it("leaves merged work as it is", () => {
    for (const [phase, state] of [
      ["merge", "AuditPassed"],
      ["upstream", "Merged"]
    ] as const) {
      const item = inHand(phase)
      item.reports("preempted", {})
      assert.deepInclude(item.state(), { state, phase, run: 1 })
    }
  })
})
