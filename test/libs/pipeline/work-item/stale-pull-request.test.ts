import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decideRecord } from "#actors"
import { staleHeadsMax } from "#pipeline/contract"
import { workItemStates } from "#base"
import { workItem } from "#pipeline"
import { inHand, type ItemAtWork, itemId } from "./item-at-work.ts"
import { opened, route, withPullRequest } from "./item-with-pull-request.ts"
import { itemIn } from "./states.ts"

describe("a pull request that falls behind its base", () => {
  const resolved = (headSha?: string) => ({
    outcome: "resolved" as const,
    reason: null,
    ...(headSha === undefined ? {} : { headSha })
  })
  const again = (headSha: string) => ({ ...route, headSha })
  const pushing = (settings: Parameters<typeof inHand>[1] = {}) => {
    const item = inHand("upstream", settings)
    item.reports("pull-request-opened", opened)
    return item
  }

  it("while a runner has the item sends it to conflict rework when the runner is done, with one event", () => {
    const item = pushing()
    assert.deepStrictEqual(item.does(route), [])
    assert.deepInclude(item.state(), { state: "UpstreamPushing", conflictReworks: 0 })
    assert.deepStrictEqual(item.reports("push-ended", { outcome: "pushed", reason: null }), ["work_item.done"])
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 1 })
    assert.strictEqual(item.last("work_item.done")?.workItem?.state, "Done")
  })

  it("is handled after a failed push, a crash and an answer too", () => {
    const ends: Record<string, (item: ItemAtWork) => unknown> = {
      "a push that failed": (item) => item.reports("push-ended", { outcome: "failed", reason: "refused" }),
      "a crash": (item) => item.does({ _tag: "Recover", reason: "dead worker detected", dispatchId: null }),
      "an answer": (item) => {
        item.reports("questions-asked", { questions: [{ questionId: "q", questionText: "Which?" }] })
        assert.strictEqual(item.state().state, "NeedsOperatorInput")
        item.does({ _tag: "Answer", questionId: "q", answer: "this" })
      },
      "a cancel that is taken back": (item) => {
        item.does({ _tag: "Cancel", reason: null, resolutionSha: null })
        assert.strictEqual(item.state().state, "Cancelled")
        item.does({ _tag: "Resume" })
      },
      "a transport that failed": (item) => {
        item.reports("transient-failed", { reason: "reset" })
        item.does({ _tag: "AutoRetry", reason: "transient", triggeredBy: "periodic", attempt: null })
      }
    }
    for (const [end, comesTo] of Object.entries(ends)) {
      const item = pushing()
      item.does(route)
      comesTo(item)
      assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 1 }, end)
    }
  })

  it("while the item is parked is handled when that is over", () => {
    const item = pushing()
    item.reports("quota-hit", { reason: "quota", toAgent: null, toModel: null, resetAtMs: null })
    assert.deepStrictEqual(item.does(route), [])
    assert.strictEqual(item.state().state, "WaitingForQuotaReset")
    item.does({ _tag: "AutoRetry", reason: "quota", triggeredBy: "periodic", attempt: null })
    assert.strictEqual(item.state().state, "ConflictRework")
  })

  it("is reworked once for each head, however often and late that head is reported", () => {
    const item = withPullRequest()
    item.does(route)
    item.takes("conflict-rework")
    item.does(again("ABC1234"))
    item.reports("conflict-rework-ended", resolved("bcd2345"))
    item.does(route)
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "upstream", conflictReworks: 1 })
    item.takes("upstream")
    item.does(route)
    item.reports("push-ended", { outcome: "pushed", reason: null })
    item.does(again("abc12345678"))
    assert.deepInclude(item.state(), { state: "Done", conflictReworks: 1 })
    item.does(again("bcd2345"))
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 2 })
  })

  it("again, right after a rework, is reworked once more before the next push", () => {
    const item = withPullRequest()
    item.does(route)
    item.takes("conflict-rework")
    item.does(again("bcd2345"))
    item.reports("conflict-rework-ended", resolved("bcd2345"))
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 2 })
    item.takes("conflict-rework")
    item.reports("conflict-rework-ended", resolved("cde3456"))
    item.does(again("cde3456"))
    assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework", conflictReworks: 3 })
  })

  it("with a head that the work branch has moved on from is dropped", () => {
    const item = withPullRequest()
    item.does(route)
    item.takes("conflict-rework")
    item.does(again("bcd2345"))
    item.reports("conflict-rework-ended", resolved("cde3456"))
    assert.deepInclude(item.state(), { phase: "upstream", conflictReworks: 1 })
    item.does({ _tag: "Delegate", trigger: "operator", reason: "too hard", note: null })
    item.takes("delegation")
    item.does(again("cde3456"))
    item.reports("iteration-ended", { outcome: "committed", commitSha: "def4567", durationMs: 1 })
    assert.deepInclude(item.state(), { state: "WorkComplete", conflictReworks: 1 })
  })

  it("is reported again after a rework that reports no head", () => {
    const item = withPullRequest()
    item.does(route)
    item.takes("conflict-rework")
    item.does(again("bcd2345"))
    item.reports("conflict-rework-ended", resolved())
    assert.deepInclude(item.state(), { phase: "upstream", conflictReworks: 1 })
    item.does(again("bcd2345"))
    assert.deepInclude(item.state(), { phase: "conflict-rework", conflictReworks: 2 })
  })

  it("that becomes mergeable, or is closed, is forgotten", () => {
    for (const headSha of ["abc1234", null]) {
      const item = pushing()
      item.does(route)
      item.does({ _tag: "ForgetStaleHead", pullRequestNumber: 7, headSha })
      item.reports("push-ended", { outcome: "pushed", reason: null })
      assert.deepInclude(item.state(), { state: "Done", conflictReworks: 0 })
    }
    const item = withPullRequest()
    item.does(route)
    item.takes("conflict-rework")
    item.reports("conflict-rework-ended", resolved("abc1234"))
    item.does({ _tag: "ForgetStaleHead", pullRequestNumber: 7, headSha: "abc1234" })
    item.does(route)
    assert.deepInclude(item.state(), { phase: "conflict-rework", conflictReworks: 2 })
  })

  it("that is merged by then, or replaced, is left alone", () => {
    const merged = inHand("upstream", { autoMerge: true })
    merged.reports("pull-request-opened", opened)
    merged.does(route)
    merged.reports("pull-request-opened", { ...opened, mergedSha: "feed123" })
    merged.reports("push-ended", { outcome: "pushed", reason: null })
    assert.strictEqual(merged.state().state, "Done")
    const other = pushing()
    other.does(route)
    other.reports("pull-request-opened", { ...opened, pullRequestNumber: 8 })
    other.reports("push-ended", { outcome: "pushed", reason: null })
    assert.strictEqual(other.state().state, "Done")
  })

  it("leads to conflict rework from every unfinished state, at once or when the item is free", () => {
    const refused: Array<string> = []
    for (const state of workItemStates) {
      const item = itemIn[state]()
      Object.assign(item.state(), { pullRequest: { number: 7, url: opened.pullRequestUrl, mergedSha: null } })
      const decided = decideRecord(workItem, item.held(), route, { id: itemId, commandId: "route", atMs: item.nowMs() })
      if (Result.isFailure(decided)) refused.push(state)
      else {
        const after = decided.success?.state
        const isNoted = after?.staleHeads?.isAwaited === true && after.state === state
        assert.isTrue(isNoted || (after?.state === "ConflictRework" && after.conflictReworks > 0), state)
      }
    }
    assert.sameMembers(refused, [
      "AuditFailed",
      "NoActionRequired",
      "MergeConflictResolutionFailed",
      "AbandonedAfterRecoveryAttempts"
    ])
  })

  it("of a reworked or delegated item gets only audited commits pushed", () => {
    for (const [phase, state] of [
      ["delegation", "Delegated"],
      ["audit", "WorkComplete"],
      ["rework", "Reworking"]
    ] as const) {
      const item = withPullRequest()
      item.does(again("0123abc"))
      item.does({ _tag: "Delegate", trigger: "operator", reason: "too hard", note: null })
      if (phase !== "delegation") {
        item.takes("delegation")
        item.commits()
      }
      if (phase === "rework") {
        item.takes("audit")
        item.audited("Error")
      }
      assert.strictEqual(item.state().state, state)
      item.does(again("4567def"))
      assert.deepInclude(item.state(), { state: "ConflictRework", phase: "conflict-rework" })
      item.takes("conflict-rework")
      item.reports("conflict-rework-ended", resolved("89abcde"))
      assert.deepInclude(item.state(), { state, phase, dispatch: null })
    }
  })

  it("remembers no more heads than are ever reworked", () => {
    const item = pushing()
    for (let head = 0; head < 40; head++) item.does(again(`${1_000_000 + head}`))
    assert.lengthOf(item.state().staleHeads?.told ?? [], staleHeadsMax)
    item.reports("push-ended", { outcome: "pushed", reason: null })
    assert.strictEqual(item.state().conflictReworks, 1)
  })
})
