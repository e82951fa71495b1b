import { assert, describe, it } from "@effect/vitest"
import { finding, inHand, itemId, readyFor } from "./item-at-work.ts"

describe("an audit", () => {
  it("names its auditors in their order when it starts", () => {
    const item = inHand("audit")
    assert.deepStrictEqual(item.last("audit.started")?.details, {
      workItemId: itemId,
      iteration: 1,
      auditorsScheduled: ["style", "safety"]
    })
  })

  it("that passes without a finding still reports its findings and counts", () => {
    const item = inHand("audit")
    assert.deepStrictEqual(item.audited(), [
      "audit.findings.emitted",
      "work_item.audit_iteration",
      "audit.completed",
      "work_item.audit_passed"
    ])
    assert.deepStrictEqual(item.last("audit.findings.emitted")?.details, {
      workItemId: itemId,
      iteration: 1,
      findings: [],
      blocking: 0,
      nonBlocking: 0
    })
    assert.deepStrictEqual(item.last("work_item.audit_iteration")?.details, {
      iteration: 1,
      totalIterations: 3,
      blockingFindings: 0,
      nonBlockingFindings: 0
    })
    assert.deepStrictEqual(item.last("audit.completed")?.details, {
      workItemId: itemId,
      iteration: 1,
      verdict: "pass",
      durationMs: 7
    })
  })

  it("blocks at the project's severity and above", () => {
    const cases = [
      ["Info", 3],
      ["Warning", 2],
      ["Error", 1]
    ] as const
    for (const [failingSeverity, blocking] of cases) {
      const item = inHand("audit", { failingSeverity })
      item.audited("Info", "Warning", "Error")
      const details = item.last("audit.findings.emitted")?.details
      assert.deepStrictEqual([details?.["blocking"], details?.["nonBlocking"]], [blocking, 3 - blocking])
      assert.deepStrictEqual(details?.["findings"], [finding("Info"), finding("Warning"), finding("Error")])
      assert.strictEqual(item.last("audit.completed")?.details?.["verdict"], "fail")
    }
  })

  it("that blocks sends the item to rework, whose iteration is the next number", () => {
    const item = readyFor("rework")
    assert.strictEqual(item.events.at(-1)?.event, "work_item.reworking")
    assert.deepStrictEqual(item.takes("rework"), ["iteration.started"])
    assert.deepInclude(item.last("iteration.started")?.details, { iteration: 2, phase: "rework" })
  })

  it("that blocks at the last iteration fails the item", () => {
    const item = inHand("audit", { maxAuditIterations: 1 })
    assert.strictEqual(item.audited("Error").at(-1), "work_item.audit_failed")
    assert.strictEqual(item.state().state, "AuditFailed")
  })

  it("that does not converge delegates the item when the project wants it, once", () => {
    const item = inHand("audit", { maxAuditIterations: 1, delegatesAtAuditMax: true })
    assert.strictEqual(item.audited("Error").at(-1), "work_item.delegated")
    assert.deepStrictEqual(item.last("work_item.delegated")?.details, {
      trigger: "audit-max-iterations",
      priorState: "Auditing",
      reason: "audit iterations: 1, blocking findings: 1",
      note: null,
      terminalFailureCount: 0,
      autoEscalated: true
    })
    item.takes("delegation")
    item.commits()
    item.takes("audit")
    assert.strictEqual(item.last("audit.started")?.details?.["iteration"], 1)
    assert.strictEqual(item.audited("Error").at(-1), "work_item.audit_failed")
  })

  it("that does not converge delegates the item once in its life, though an operator delegates it in between", () => {
    const item = inHand("audit", { maxAuditIterations: 1, delegatesAtAuditMax: true })
    const isAuditedAgain = () => {
      item.takes("delegation")
      item.commits()
      item.takes("audit")
      return item.audited("Error").at(-1)
    }
    item.audited("Error")
    assert.strictEqual(isAuditedAgain(), "work_item.audit_failed")
    const delegated = item.does({ _tag: "Delegate", trigger: "operator", reason: "too hard", note: null })
    assert.deepStrictEqual(delegated, ["work_item.delegated"])
    assert.strictEqual(isAuditedAgain(), "work_item.audit_failed")
  })

  it("reports an auditor that did not answer, and continues", () => {
    const item = inHand("audit")
    const late = { auditor: "safety", agent: "owl", sandboxId: "s-1" }
    assert.deepStrictEqual(item.reports("auditor-timed-out", late), ["audit.auditor_timed_out"])
    const of = { workItemId: itemId, iteration: 1 }
    assert.deepStrictEqual(item.last("audit.auditor_timed_out")?.details, { ...of, ...late })
    item.reports("auditor-timed-out", { ...late, sandboxId: null })
    assert.strictEqual(item.last("audit.auditor_timed_out")?.details?.["sandboxId"], "(launch-timeout)")
    assert.strictEqual(item.state().state, "Auditing")
  })

  it("numbers no iteration above the stated maximum, when the maximum is lowered in a run", () => {
    const item = readyFor("rework")
    item.takes("rework")
    item.commits()
    item.does(item.dispatch("audit", { settings: { ...item.state().settings, maxAuditIterations: 1 } }))
    item.audited("Error")
    assert.deepInclude(item.last("work_item.audit_iteration")?.details, { iteration: 2, totalIterations: 2 })
    assert.strictEqual(item.state().state, "AuditFailed")
  })
})
