import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decideRecord } from "#actors"
import { workItemPhases, workItemReportKinds, type WorkItemReportKind } from "#pipeline/contract"
import { workItem } from "#pipeline"
import { inHand, itemAtWork, itemId, readyFor, startMs, usage } from "./item-at-work.ts"
import { sampleReport } from "./samples.ts"

const ofDispatch = workItemReportKinds.filter((kind) => kind !== "recheck-completed")

// Kinds that belong to one phase, or to some; all others fit any phase that a runner has.
const ofPhases: Partial<Record<WorkItemReportKind, ReadonlyArray<string>>> = {
  "iteration-ended": ["work", "rework", "delegation"],
  // Of a check alone, and these are none.
  "check-verdict": [],
  "audit-ended": ["audit"],
  "auditor-timed-out": ["audit"],
  "merge-ended": ["merge"],
  "conflict-rework-ended": ["conflict-rework"],
  "pull-request-opened": ["upstream"],
  "push-ended": ["upstream"],
  "agent-stuck": ["work", "rework", "merge"]
}

describe("a report", () => {
  it("of an older dispatch changes only the cost, whatever it says and wherever the item is", () => {
    for (const phase of workItemPhases) {
      const item = inHand(phase)
      const { usage: _usage, usageTotal: _total, countedReports: _counted, updatedAtMs: _at, ...before } = item.state()
      for (const kind of ofDispatch) {
        const late = { ...sampleReport(kind), reportId: kind, dispatchId: "older", usage: usage(5) }
        assert.deepStrictEqual(item.does({ ...item.report("progress", {}), report: late }), [], `${phase} ${kind}`)
      }
      assert.deepInclude(item.state(), before)
      assert.strictEqual(item.state().usageTotal?.costMicroUsd, 5 * ofDispatch.length)
    }
  })

  it("of a finished dispatch changes nothing", () => {
    const item = inHand("work")
    item.commits()
    for (const kind of ofDispatch) {
      const report = { ...sampleReport(kind), dispatchId: item.state().lastDispatchId ?? "" }
      assert.deepStrictEqual(item.does({ ...item.report("progress", {}), report }), [], kind)
    }
  })

  it("leaves its id in the record, for deduplication", () => {
    const item = inHand("work")
    const command = item.report("progress", { usage: usage(5) })
    const decided = decideRecord(workItem, item.held(), command, { id: itemId, commandId: "r1", atMs: item.nowMs() })
    assert.strictEqual(Result.getOrThrow(decided)?.recentCommands.at(-1), "r1")
  })

  it("is accepted when the current phase allows it, and otherwise refused with the state and the reason", () => {
    for (const phase of workItemPhases) {
      const item = inHand(phase)
      const context = { id: itemId, commandId: "r", atMs: item.nowMs() + 60_000 }
      for (const kind of ofDispatch) {
        const report = { ...sampleReport(kind), dispatchId: item.state().lastDispatchId ?? "" }
        const decided = decideRecord(workItem, item.held(), { ...item.report("progress", {}), report }, context)
        const isTaken = ofPhases[kind]?.includes(phase) ?? true
        if (isTaken) assert.isAbove(Result.getOrThrow(decided)?.facts.length ?? 0, 0, `${phase} ${kind}`)
        else if (Result.isSuccess(decided)) assert.fail(`${phase} ${kind} was taken`)
        else assert.include(decided.failure.message, `(${item.state().state})`)
      }
    }
  })

  it("of an unknown item finds none", () => {
    const context = { id: itemId, commandId: "c", atMs: startMs }
    const command = readyFor("work").report("progress", {})
    const decided = decideRecord(workItem, { state: null, recentCommands: [] }, command, context)
    assert.strictEqual(Result.isFailure(decided) && decided.failure._tag, "EntityNotFound")
  })

  it("with a cost counts it even when it changes nothing else", () => {
    const item = itemAtWork()
    item.takes("work")
    item.reports("progress", { usage: usage(5) })
    assert.strictEqual(item.state().usageTotal?.costMicroUsd, 5)
  })
})
