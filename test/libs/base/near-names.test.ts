import { assert, describe, it } from "@effect/vitest"
import { didYouMean, nearNames } from "#base"

const known = [
  "work_item.merged",
  "work_item.merging",
  "work_item.done",
  "queue.paused",
  "queue.resumed",
  "project.paused",
  "agent.paused"
]

describe("an unknown name", () => {
  it.each([
    ["work_itm.merged", ["work_item.merged"]],
    ["Work_Item.Merged", ["work_item.merged"]],
    ["queue.pasued", ["queue.paused"]],
    ["work_item.mergd", ["work_item.merged"]],
    ["queue.pased", ["queue.paused"]],
    ["merged", ["work_item.merged"]],
    ["paused", ["queue.paused", "agent.paused", "project.paused"]],
    ["nosuch", []],
    ["nosuch.event", []],
    ["", []],
    ["x".repeat(1_000), []]
  ])("%j is near %j", (name, near) => {
    assert.deepStrictEqual(nearNames(name, known), near)
  })

  it.each([
    ["work_item.don", "; did you mean work_item.done?"],
    ["paused", "; did you mean queue.paused, agent.paused or project.paused?"],
    ["nosuch", ""]
  ])("%j gets the answer %j", (name, told) => {
    assert.strictEqual(didYouMean(name, known), told)
  })
})
