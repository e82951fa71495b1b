import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { WorkItemSummary, workItemStates } from "#contracts"
import { workItemProjection } from "#pipeline"
import { inHand, type ItemAtWork, itemAtWork, itemId, readyFor, usage } from "./item-at-work.ts"
import { itemIn } from "./states.ts"

const show = (item: ItemAtWork) => {
  const row = workItemProjection.show(item.state(), itemId)
  assert.isDefined(row)
  return row
}
const summary = (item: ItemAtWork) => Schema.decodeUnknownSync(WorkItemSummary)(show(item).summary)
const decodeSummary = Schema.decodeUnknownResult(WorkItemSummary, { errors: "all" })

describe("a work item's row", () => {
  it("is shown in every state, with a summary that can be read", () => {
    for (const state of workItemStates) {
      const row = show(itemIn[state]())
      assert.deepInclude(row, { project: "garden", state })
      assert.isTrue(Result.isSuccess(decodeSummary(row.summary)), state)
    }
    assert.isUndefined(workItemProjection.show(null, itemId))
  })

  it("says what a runner may take, for whom, and how urgent it is", () => {
    const item = readyFor("audit")
    assert.deepInclude(summary(item), {
      agent: "smith",
      phase: "audit",
      isReady: true,
      priority: 5,
      title: "Mend the gate"
    })
    item.takes("audit")
    assert.deepInclude(summary(item), { phase: "audit", isReady: false, runner: "forge-1", agentAtWork: "smith" })
    item.reports("questions-asked", { questions: [{ questionId: "q", questionText: "Which?" }] })
    assert.deepInclude(summary(item), { phase: "audit", isReady: false, openQuestionIds: ["q"], runner: null })
  })

  it("says when a runner was heard of last, and since when an item that should move has not", () => {
    const item = inHand("work")
    assert.deepStrictEqual(show(item).deadlinesMs, { lastProgress: item.nowMs(), stale: item.nowMs() })
    assert.deepStrictEqual(show(itemAtWork()).deadlinesMs, {})
    assert.deepStrictEqual(show(readyFor("delegation")).deadlinesMs, {})
    assert.deepStrictEqual(Object.keys(show(readyFor("merge")).deadlinesMs), ["stale"])
  })

  it("says when a wait is over, and nothing of it afterwards", () => {
    const transient = itemIn.WaitingForTransientRetry()
    assert.deepStrictEqual(show(transient).deadlinesMs, { retryAt: transient.state().retryAtMs ?? 0 })
    const quota = inHand("work")
    quota.reports("quota-hit", { reason: "quota", toAgent: null, toModel: null, resetAtMs: 1_800_000_000_000 })
    assert.deepStrictEqual(show(quota).deadlinesMs, { quotaResetAt: 1_800_000_000_000 })
    quota.does({ _tag: "AutoRetry", reason: "quota", triggeredBy: "periodic", attempt: 1 })
    assert.deepStrictEqual(show(quota).deadlinesMs, {})
  })

  it("says when an item came to its end, how, and what it cost", () => {
    const item = inHand("work")
    item.reports("failed", { reason: "no route", failureKind: "infra", usage: usage(7) })
    assert.deepStrictEqual(show(item).deadlinesMs, { ended: item.nowMs() })
    assert.deepInclude(summary(item), {
      failureKind: "infra",
      failedAgent: "smith",
      lastError: "no route",
      costTotalMicroUsd: 7
    })
  })

  it("says whether its pull request is open", () => {
    const item = inHand("upstream")
    assert.deepInclude(summary(item), { pullRequestUrl: null, isPullRequestOpen: false })
    item.reports("pull-request-opened", {
      pullRequestNumber: 7,
      pullRequestUrl: "https://git.example/7",
      mergedSha: null
    })
    assert.deepInclude(summary(item), { pullRequestUrl: "https://git.example/7", isPullRequestOpen: true })
  })
})
