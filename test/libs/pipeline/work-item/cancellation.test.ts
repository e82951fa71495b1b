import { assert, describe, it } from "@effect/vitest"
import { inHand, itemAtWork, itemId, readyFor } from "./item-at-work.ts"

const cancel = { _tag: "Cancel", reason: null, resolutionSha: null } as const
const delegate = { _tag: "Delegate", trigger: "operator", reason: "too hard", note: "call me" } as const

describe("a cancelled item", () => {
  it("has an event without details when it was on its way and no reason was given", () => {
    for (const item of [itemAtWork(), inHand("work"), readyFor("audit"), inHand("upstream"), inHand("rework")]) {
      assert.deepStrictEqual(item.does(cancel), ["work_item.cancelled"])
      assert.isNull(item.last("work_item.cancelled")?.details)
    }
  })

  it("has an event with its prior state when a reason or a commit was given", () => {
    const given = [
      { reason: "done by hand", resolutionSha: null },
      { reason: null, resolutionSha: "abcdef0123" },
      { reason: "done by hand", resolutionSha: "abcdef0123" }
    ]
    for (const details of given) {
      const item = inHand("work")
      item.does({ _tag: "Cancel", ...details })
      assert.deepStrictEqual(item.last("work_item.cancelled")?.details, { priorState: "Working", ...details })
    }
  })

  it("has an event with its prior state when it was parked, or had failed its merge", () => {
    const parked = inHand("work")
    parked.reports("questions-asked", { questions: [{ questionId: "q", questionText: "?" }] })
    const unresolved = inHand("conflict-rework")
    unresolved.reports("conflict-rework-ended", { outcome: "rejected", reason: null })
    for (const item of [parked, unresolved]) {
      const priorState = item.state().state
      item.does(cancel)
      assert.deepStrictEqual(item.last("work_item.cancelled")?.details, {
        priorState,
        reason: null,
        resolutionSha: null
      })
    }
  })

  it("cannot be cancelled again, nor can a finished one", () => {
    const item = itemAtWork()
    item.does(cancel)
    assert.match(item.refuses(cancel), /has ended/u)
    const failed = inHand("work")
    failed.reports("failed", { reason: "no", failureKind: "agent" })
    assert.match(failed.refuses(cancel), /has ended/u)
  })

  it("ignores its runner's later reports", () => {
    const item = inHand("work")
    item.does(cancel)
    assert.deepStrictEqual(item.commits(), [])
    assert.strictEqual(item.state().state, "Cancelled")
  })

  it("is resumed in the interrupted phase", () => {
    const places = [
      ["work", "Queued"],
      ["rework", "Reworking"],
      ["audit", "WorkComplete"],
      ["merge", "AuditPassed"],
      ["upstream", "Merged"]
    ] as const
    for (const [phase, state] of places) {
      const item = inHand(phase)
      item.does(cancel)
      assert.deepStrictEqual(item.does({ _tag: "Resume" }), ["work_item.resumed"])
      assert.deepStrictEqual(item.last("work_item.resumed")?.details, {
        id: itemId,
        externalId: null,
        resumedFromPhase: phase
      })
      assert.deepInclude(item.state(), { state, phase, endedAtMs: null })
    }
  })

  it("is the only kind that can be resumed", () => {
    assert.match(inHand("work").refuses({ _tag: "Resume" }), /only a cancelled item/u)
  })
})

describe("a delegated item", () => {
  it("is handed over by an operator with reason and note, from any state", () => {
    const item = inHand("work")
    assert.deepStrictEqual(item.does(delegate), ["work_item.delegated"])
    assert.deepStrictEqual(item.last("work_item.delegated")?.details, {
      trigger: "operator",
      priorState: "Working",
      reason: "too hard",
      note: "call me",
      terminalFailureCount: 0,
      autoEscalated: false
    })
    assert.deepStrictEqual(item.does(delegate), [])
    assert.deepStrictEqual(item.commits(), [])
  })

  it("goes on to audit when it has a commit, with new numbering", () => {
    const item = inHand("rework")
    item.does(delegate)
    assert.deepStrictEqual(item.takes("delegation"), [])
    assert.deepStrictEqual(item.commits(), ["work_item.work_complete"])
    item.takes("audit")
    assert.strictEqual(item.last("audit.started")?.details?.["iteration"], 1)
  })

  it("can be one that failed its audit, by an operator or for its iterations", () => {
    for (const trigger of ["operator", "audit-max-iterations"] as const) {
      const item = inHand("audit", { maxAuditIterations: 1 })
      item.audited("Error")
      item.does({ ...delegate, trigger })
      assert.deepInclude(item.last("work_item.delegated")?.details, {
        trigger,
        priorState: "AuditFailed",
        autoEscalated: trigger !== "operator"
      })
    }
    assert.match(inHand("work").refuses({ ...delegate, trigger: "audit-max-iterations" }), /has not failed/u)
  })

  it("delegates itself after too many failures, once", () => {
    const item = inHand("work", { delegatesAfterFailures: 1 })
    const failed = { reason: "out of ink", failureKind: "agent" } as const
    assert.deepStrictEqual(item.reports("failed", failed), ["work_item.failed", "work_item.delegated"])
    assert.deepStrictEqual(item.last("work_item.delegated")?.details, {
      trigger: "repeated-terminal-failure",
      priorState: "Failed",
      reason: "terminal failures: 1, the last: agent",
      note: null,
      terminalFailureCount: 1,
      autoEscalated: true
    })
    assert.deepInclude(item.state(), { state: "Delegated", endedAtMs: null, failureKind: null })
    item.takes("delegation")
    assert.deepStrictEqual(item.reports("failed", failed), ["work_item.failed"])
    assert.strictEqual(item.state().terminalFailures, 2)
  })

  it("is delegated for its failures by a sweep only after enough of them", () => {
    const repeated = { ...delegate, trigger: "repeated-terminal-failure" } as const
    const item = inHand("work")
    assert.match(item.refuses(repeated), /has not failed/u)
    item.reports("failed", { reason: "no", failureKind: "agent" })
    assert.match(item.refuses(repeated), /not failed often enough/u)
  })
})
