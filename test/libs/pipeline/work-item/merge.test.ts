import { assert, describe, it } from "@effect/vitest"
import { inHand, itemId, readyFor } from "./item-at-work.ts"
import { opened, route, withPullRequest } from "./item-with-pull-request.ts"

const branches = { workItemId: itemId, baseBranch: "main", workBranch: "starling/0f8fad5b" }
const conflict = { outcome: "conflict", mergeSha: null, reason: "both changed gate.ts" } as const
describe("a merge", () => {
  it("emits the branches at its start and its commit at its end", () => {
    const item = inHand("merge")
    assert.deepStrictEqual(item.last("merge.started")?.details, branches)
    const events = item.reports("merge-ended", { outcome: "merged", mergeSha: null, reason: null })
    assert.deepStrictEqual(events, ["merge.completed", "work_item.merged"])
    assert.deepStrictEqual(item.last("merge.completed")?.details, { ...branches, mergeSha: null })
  })

  it("that fails leaves its start without an end", () => {
    const item = inHand("merge")
    const events = item.reports("merge-ended", { outcome: "failed", mergeSha: null, reason: "disk on fire" })
    assert.deepStrictEqual(events, ["work_item.failed"])
    assert.deepInclude(item.state(), { state: "Failed", lastError: "disk on fire", failureKind: "merge" })
  })
})

describe("conflict rework", () => {
  it("begins and ends without an event, and leads to another merge", () => {
    const item = inHand("merge")
    assert.deepStrictEqual(item.reports("merge-ended", conflict), [])
    assert.deepInclude(item.state(), { state: "ConflictRework", conflictReworks: 1 })
    assert.deepStrictEqual(item.takes("conflict-rework"), [])
    assert.deepStrictEqual(item.reports("conflict-rework-ended", { outcome: "resolved", reason: null }), [])
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "merge" })
    assert.deepStrictEqual(item.takes("merge"), ["work_item.merging", "merge.started"])
  })

  it("without attempts left ends the item", () => {
    const item = inHand("merge", { maxReworkAttempts: 1 })
    item.reports("merge-ended", conflict)
    item.takes("conflict-rework")
    const events = item.reports("conflict-rework-ended", { outcome: "failed", reason: "tangled" })
    assert.deepStrictEqual(events, ["work_item.merge_conflict_resolution_failed"])
    assert.deepInclude(item.state(), { state: "MergeConflictResolutionFailed", conflictReworks: 1 })
  })

  it("that failed is retried while attempts are left", () => {
    const item = inHand("conflict-rework")
    assert.deepStrictEqual(item.reports("conflict-rework-ended", { outcome: "failed", reason: null }), [])
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 2 })
  })

  it("without attempts in the project ends a conflicting merge at once", () => {
    const item = inHand("merge", { maxReworkAttempts: 0 })
    assert.deepStrictEqual(item.reports("merge-ended", conflict), ["work_item.merge_conflict_resolution_failed"])
  })

  it("with a rejected resolution ends the item at once, with a fallback event", () => {
    const item = inHand("conflict-rework")
    item.reports("conflict-rework-ended", { outcome: "rejected", reason: "outside the scope fence" })
    assert.deepStrictEqual(item.last("work_item.merge_conflict_resolution_failed")?.details, {
      workItemId: itemId,
      phase: "conflict-rework",
      iteration: 1,
      reason: "outside the scope fence",
      fromAgent: "smith",
      fromModel: null,
      toAgent: null,
      toModel: null
    })
  })

  it("picks up a finished item whose pull request fell behind its base, and pushes again", () => {
    const item = withPullRequest()
    assert.deepStrictEqual(item.does(route), [])
    assert.deepInclude(item.state(), { state: "ConflictRework", endedAtMs: null })
    assert.deepStrictEqual(item.does(route), [])
    item.takes("conflict-rework")
    item.reports("conflict-rework-ended", { outcome: "resolved", reason: null })
    assert.deepStrictEqual(item.takes("upstream"), ["work_item.upstream_pushing"])
    assert.strictEqual(item.state().upstreamPushAttempts, 2)
  })

  it("leaves a finished item alone when no attempt is left", () => {
    const item = withPullRequest({ maxReworkAttempts: 0 })
    assert.match(item.refuses(route), /no attempt/u)
    assert.strictEqual(item.state().state, "Done")
  })

  it("ends an unfinished item when no attempt is left", () => {
    const item = inHand("upstream", { maxReworkAttempts: 0 })
    item.reports("pull-request-opened", opened)
    assert.deepStrictEqual(item.does(route), [])
    assert.deepStrictEqual(item.reports("push-ended", { outcome: "failed", reason: null }), [
      "work_item.merge_conflict_resolution_failed"
    ])
    assert.strictEqual(item.state().state, "MergeConflictResolutionFailed")
  })

  it("is only for the item's own pull request, and only while that is open", () => {
    assert.match(readyFor("upstream").refuses(route), /not the item's/u)
    const item = inHand("upstream", { autoMerge: true })
    item.reports("pull-request-opened", { ...opened, mergedSha: "feed123" })
    item.reports("push-ended", { outcome: "pushed", reason: null })
    assert.match(item.refuses(route), /is merged/u)
  })
})
