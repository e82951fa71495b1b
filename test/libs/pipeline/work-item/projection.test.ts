import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { WorkItemSummary } from "#pipeline/contract"
import { workItemStates } from "#base"
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
  it("exists in every state, with a readable summary", () => {
    for (const state of workItemStates) {
      const row = show(itemIn[state]())
      assert.deepInclude(row, { project: "garden", state })
      assert.isTrue(Result.isSuccess(decodeSummary(row.summary)), state)
    }
    assert.isUndefined(workItemProjection.show(null, itemId))
  })

  it("states the phase for a runner, its agent, and its urgency", () => {
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

  it("states the runner's last sign of life, and since when an item has stood still", () => {
    const item = inHand("work")
    assert.deepStrictEqual(show(item).deadlinesMs, { lastProgress: item.nowMs(), stale: item.nowMs() })
    assert.deepStrictEqual(show(itemAtWork()).deadlinesMs, {})
    assert.deepStrictEqual(show(readyFor("delegation")).deadlinesMs, {})
    assert.deepStrictEqual(Object.keys(show(readyFor("merge")).deadlinesMs), ["stale"])
  })

  it("states a wait's end, and drops it afterwards", () => {
    const transient = itemIn.WaitingForTransientRetry()
    assert.deepStrictEqual(show(transient).deadlinesMs, { retryAt: transient.state().retryAtMs ?? 0 })
    const quota = inHand("work")
    quota.reports("quota-hit", { reason: "quota", toAgent: null, toModel: null, resetAtMs: 1_800_000_000_000 })
    assert.deepStrictEqual(show(quota).deadlinesMs, { quotaResetAt: 1_800_000_000_000 })
    quota.does({ _tag: "AutoRetry", reason: "quota", triggeredBy: "periodic", attempt: 1 })
    assert.deepStrictEqual(show(quota).deadlinesMs, {})
  })

  it("states when an item ended, how, and its cost", () => {
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

  it("states whether its pull request is open", () => {
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
