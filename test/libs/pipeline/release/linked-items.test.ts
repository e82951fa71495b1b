import { assert, describe, it } from "@effect/vitest"
import { releaseItemsMax } from "#pipeline/contract"
import { uuid } from "../entity-at-work.ts"
import { add, begin, close, end, iterated, releaseIn, reopen, returned } from "./release-at-work.ts"

const lost = "release.has_failed_work_items"

describe("a work item of a release", () => {
  it("is linked while the release is open, once", () => {
    const spring = releaseIn("open")
    assert.deepStrictEqual(spring.does(add(1)), ["release.work_item_added"])
    assert.deepStrictEqual(spring.does(add(1)), [])
    assert.deepStrictEqual(spring.last("release.work_item_added").details, {
      workItemId: uuid(1),
      title: "Item 1",
      workItemCount: 1
    })
    spring.does(close)
    assert.deepStrictEqual(spring.does(add(1)), [])
    assert.match(spring.refuses(add(2)), /only an open release takes work items \(closed\)/u)
  })

  it("is refused above the maximum", () => {
    const spring = releaseIn("open")
    const items = Array.from({ length: releaseItemsMax }, (_, index) => ({
      workItemId: uuid(index + 10),
      outcome: "open" as const
    }))
    Object.assign(spring.state(), { items })
    assert.match(spring.refuses(add(1)), /1000 work items are the most/u)
  })

  it("that ends is remembered, without an event while the release is open", () => {
    const spring = releaseIn("open")
    for (const number of [1, 2, 3]) spring.does(add(number))
    assert.deepStrictEqual(spring.does(end(1, "done")), [])
    assert.deepStrictEqual(spring.does(end(2, "failed")), [])
    assert.deepStrictEqual(spring.does(end(3, "cancelled")), [])
    assert.deepStrictEqual(
      spring.state().items.map(({ outcome }) => outcome),
      ["done", "failed", "cancelled"]
    )
    assert.deepStrictEqual(spring.facts(end(3, "cancelled")), [])
    assert.deepStrictEqual(spring.facts(end(9, "failed")), [], "it is linked to another release")
  })

  it("that failed or was cancelled is reported when the release closes", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), add(2), add(3), end(1, "failed"), end(2, "cancelled")]) spring.does(command)
    assert.deepStrictEqual(spring.does(close), ["release.closed", lost])
    assert.deepStrictEqual(spring.last(lost).details, {
      workItemCount: 3,
      openCount: 1,
      doneCount: 0,
      failedCount: 1,
      cancelledCount: 1,
      failedWorkItemIds: [uuid(1)],
      cancelledWorkItemIds: [uuid(2)]
    })
    assert.strictEqual(spring.last(lost).release?.state, "closed")
  })

  it("is not reported when all went well", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), add(2), end(1, "done")]) spring.does(command)
    assert.deepStrictEqual(spring.does(close), ["release.closed"])
    assert.deepStrictEqual(spring.does(end(2, "done")), [])
  })

  it.each(["failed", "cancelled"] as const)("that is %s after the close is reported then", (outcome) => {
    const spring = releaseIn("open")
    for (const command of [add(1), add(2), close]) spring.does(command)
    assert.deepStrictEqual(spring.does(end(1, outcome)), [lost])
    spring.does(begin)
    assert.deepStrictEqual(spring.does(end(2, outcome)), [lost])
  })

  it("that failed and is abandoned after the close is not reported twice", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), close, end(1, "failed")]) spring.does(command)
    assert.deepStrictEqual(spring.does(end(1, "cancelled")), [])
  })

  it("that is resumed no longer counts as failed, until it fails again", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), end(1, "failed"), returned(1)]) spring.does(command)
    assert.deepStrictEqual(spring.does(close), ["release.closed"])
    assert.deepStrictEqual(spring.does(end(1, "failed")), [lost])
    assert.deepStrictEqual(spring.facts(returned(9)), [])
  })

  it("that fails after the release itself failed is reported when the release is closed again", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), close, begin, iterated(3, 1)]) spring.does(command)
    assert.deepStrictEqual(spring.does(end(1, "failed")), [])
    spring.does(reopen)
    assert.deepStrictEqual(spring.does(close), ["release.closed", lost])
  })
})
