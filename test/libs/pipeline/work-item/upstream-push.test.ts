import { assert, describe, it } from "@effect/vitest"
import { inHand, readyFor } from "./item-at-work.ts"
import { opened } from "./item-with-pull-request.ts"

describe("a push to upstream", () => {
  it("is counted when it starts", () => {
    const item = inHand("upstream")
    assert.strictEqual(item.last("work_item.upstream_pushing")?.workItem?.upstreamPushAttempts, 1)
  })

  it("that failed is retried after a wait that doubles, then fails the item", () => {
    const transientBackoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 }
    const item = readyFor("upstream", { maxUpstreamPushAttempts: 3, transientBackoff })
    for (const waitMs of [1_100, 2_200]) {
      item.takes("upstream")
      assert.deepStrictEqual(item.reports("push-ended", { outcome: "failed", reason: "refused" }), [])
      assert.deepInclude(item.state(), { state: "Merged", lastError: "refused", notBeforeMs: item.nowMs() + waitMs })
      assert.match(item.refuses(item.dispatch("upstream")), /not to be taken before/u)
      item.passes(waitMs)
    }
    item.takes("upstream")
    const events = item.reports("push-ended", { outcome: "failed", reason: "refused" })
    assert.deepStrictEqual(events, ["work_item.failed"])
    assert.strictEqual(item.state().upstreamPushAttempts, 3)
  })

  it("emits its pull request once, with no merge commit unless the project merges by itself", () => {
    for (const [autoMerge, mergedSha] of [
      [false, null],
      [true, "feed123"]
    ] as const) {
      const item = inHand("upstream", { autoMerge })
      const said = { ...opened, mergedSha: "feed123" }
      assert.deepStrictEqual(item.reports("pull-request-opened", said), ["work_item.pull_request_opened"])
      assert.deepStrictEqual(item.last("work_item.pull_request_opened")?.details, {
        workBranch: "starling/0f8fad5b",
        baseBranch: "main",
        ...opened,
        mergedSha
      })
      assert.deepStrictEqual(item.reports("pull-request-opened", said), [])
      assert.strictEqual(item.state().state, "UpstreamPushing")
    }
  })

  it("with a pull request that the forge did not merge leaves it open", () => {
    const item = inHand("upstream", { autoMerge: true })
    item.reports("pull-request-opened", opened)
    assert.isNull(item.last("work_item.pull_request_opened")?.details?.["mergedSha"])
  })
})
