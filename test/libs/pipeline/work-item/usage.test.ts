import { assert, describe, it } from "@effect/vitest"
import { usageAdded } from "../../../../libs/pipeline/work-item/usage.ts"
import { inHand, itemAtWork, usage } from "./item-at-work.ts"

const committed = { outcome: "committed", commitSha: "abc1234", durationMs: 5 } as const

describe("the cost of an item", () => {
  it("is absent from the envelope while it is unknown", () => {
    const item = itemAtWork()
    item.takes("work")
    item.commits()
    for (const event of item.events) assert.notProperty(event, "usage")
    for (const event of item.events) assert.notProperty(event, "usageTotal")
  })

  it("is shown in US dollars, for the latest iteration and in total", () => {
    const item = itemAtWork()
    item.takes("work")
    item.reports("iteration-ended", { ...committed, usage: usage(1_250_000) })
    const counted = { tokensInput: 100, tokensOutput: 10, tokensReasoning: 0, tokensCached: 50, elapsedMs: 1_000 }
    const envelope = item.last("work_item.work_complete")
    assert.deepStrictEqual(envelope?.usage, { iteration: 1, ...counted, costUsd: 1.25 })
    assert.deepStrictEqual(envelope?.usageTotal, { ...counted, costUsd: 1.25 })
  })

  it("is the sum over an iteration, and restarts with the next", () => {
    const item = itemAtWork()
    item.takes("work")
    item.reports("progress", { usage: usage(1) })
    item.reports("iteration-ended", { ...committed, usage: usage(2) })
    item.takes("audit")
    item.reports("audit-ended", {
      findings: [{ auditor: "style", severity: "Error", title: "Rust", location: null, description: "" }],
      durationMs: 7,
      usage: usage(4)
    })
    assert.deepInclude(item.state().usage, { iteration: 1, costMicroUsd: 7 })
    item.takes("rework")
    item.reports("progress", { usage: usage(8) })
    assert.deepInclude(item.state().usage, { iteration: 2, costMicroUsd: 8, tokensInput: 100 })
    assert.deepInclude(item.state().usageTotal, { costMicroUsd: 15, tokensInput: 400 })
  })

  it("does not mix iterations of the same number of two runs", () => {
    const item = inHand("work")
    item.reports("preempted", { usage: usage(3) })
    item.takes("work")
    item.reports("progress", { usage: usage(5) })
    assert.deepInclude(item.state().usage, { run: 2, iteration: 1, costMicroUsd: 5 })
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 8)
  })

  it("includes a late report, in its own iteration", () => {
    const item = inHand("work")
    const { lastDispatchId } = item.state()
    item.commits()
    item.takes("audit")
    item.audited("Error")
    // The next iteration waits for a runner, and the last one's audit reports its cost.
    item.reports("progress", { usage: usage(4) })
    assert.deepInclude(item.state().usage, { run: 1, iteration: 1, costMicroUsd: 4 })
    item.takes("rework")
    item.reports("progress", { usage: usage(8) })

    item.reports("progress", { dispatchId: lastDispatchId ?? "", usage: usage(1) })
    assert.deepInclude(item.state().usage, { run: 1, iteration: 2, costMicroUsd: 8 })
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 13)
  })

  it("includes a report after the item's end, which changes nothing else", () => {
    const item = inHand("work")
    item.does({ _tag: "Cancel", reason: null, resolutionSha: null })
    const { usage: _usage, usageTotal: _total, countedReports: _counted, updatedAtMs: _at, ...before } = item.state()
    assert.deepStrictEqual(item.reports("iteration-ended", { ...committed, usage: usage(7) }), [])
    assert.deepInclude(item.state(), before)
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 7)
  })

  it("includes a repeated report once, whatever was reported in between", () => {
    const item = inHand("work")
    const first = item.report("progress", { usage: usage(1) })
    item.does(first)
    // More than an entity remembers commands.
    for (let n = 0; n < 250; n++) item.reports("progress", { usage: usage(1) })
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 251)
    item.does(first)
    item.does({ ...first, report: { ...first.report, kind: "progress", dispatchId: "older" } as typeof first.report })
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 251)
    assert.isAtMost(item.state().countedReports?.length ?? 0, 2_048)
  })

  it("includes a report whose mark is found across two others", () => {
    const item = inHand("work")
    const report = item.report("progress", { usage: usage(1) })
    item.does(report)
    const { countedReports: mark = "", ...before } = item.state()
    const half = mark.length / 2
    const astride = { ...before, countedReports: `${"-".repeat(half)}${mark}${"-".repeat(half)}` }
    assert.deepInclude(usageAdded(astride, report.report), { costMicroUsd: 1, countedAs: mark })
    const behind = { ...before, countedReports: `${"-".repeat(half)}${mark}${"-".repeat(half)}${mark}` }
    assert.isUndefined(usageAdded(behind, report.report))
  })

  it("is reported to the project's budget", () => {
    const item = inHand("work")
    item.reports("failed", { reason: "no", failureKind: "agent", usage: usage(9) })
    assert.deepInclude(item.records.at(-1)?.facts[0], { _tag: "UsageAdded", projectId: "garden", costMicroUsd: 9 })
  })
})
