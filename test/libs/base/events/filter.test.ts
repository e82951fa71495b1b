import { assert, describe, it } from "@effect/vitest"
import { compileFilter, eventCatalogue, unknownFilterNames } from "#base"

describe("an event filter", () => {
  it("lets everything through when it is empty, except the eight progress events", () => {
    const wants = compileFilter([])
    for (const { name, isProgress } of eventCatalogue) assert.strictEqual(wants(name), !isProgress, name)
    assert.isTrue(wants("work_item.not_invented_yet"))
  })

  it.each([
    [["work_item.merged"], "work_item.merged", true],
    [["work_item.merged"], "work_item.merged_twice", false],
    [["iteration.*"], "iteration.started", true],
    [["iteration.*"], "audit.started", false],
    [["*"], "iteration.started", true],
    [["*.started"], "merge.started", true],
    [["*.started"], "merge.completed", false],
    [["work_item.*_failed"], "work_item.audit_failed", true],
    [["work_item.*_failed"], "work_item.failed", false],
    [["a*a"], "a", false],
    [["a*b*c"], "a1b2b3c", true],
    [["**"], "anything.at.all", true],
    [["audit.*", "queue.paused"], "queue.paused", true]
  ] as const)("%o on %s gives %s", (entries, event, expected) => {
    assert.strictEqual(compileFilter(entries)(event), expected)
  })

  it("stays fast on a pattern full of stars", () => {
    const wants = compileFilter(["*a".repeat(40)])
    assert.isFalse(wants("b".repeat(100)))
  })

  it("warns of names that match no known event", () => {
    assert.deepStrictEqual(unknownFilterNames(["work_item.merged", "work_item.mergd", "nothing.*", "*"]), [
      "work_item.mergd",
      "nothing.*"
    ])
  })
})
