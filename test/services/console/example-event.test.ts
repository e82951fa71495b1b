import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { eventCatalogue } from "#base"
import { exampleWith } from "../../../services/console/http/events.ts"

const at = "2026-11-23T12:00:00.000Z"

describe("an example of an event", () => {
  it("is valid as it is, for every event of the catalogue", () => {
    for (const { name } of eventCatalogue) {
      const made = exampleWith(name, {}, at)
      assert.isTrue(made !== undefined && Result.isSuccess(made), name)
    }
  })

  it("has the fields that are set, however deep, and the time that is given", () => {
    const made = exampleWith("work_item.merged", { "workItem.title": "Mend it", "project.id": "p" }, at)
    assert.isTrue(made !== undefined && Result.isSuccess(made))
    if (made === undefined || Result.isFailure(made)) return
    assert.nestedInclude(made.success, { "workItem.title": "Mend it", "project.id": "p", occurredAt: at })
  })

  it.each([
    ["a value that breaks the schema", { "workItem.createdAt": "yesterday" }, "set.workItem.createdAt"],
    ["another event's name", { event: "queue.paused" }, "set.event"],
    ["a way into the prototype", { "workItem.__proto__.x": 1 }, "set.workItem.__proto__.x"],
    ["an empty step", { "workItem..title": 1 }, "set.workItem..title"]
  ] as const)("is refused with %s, by the field's path", (_, set, path) => {
    const made = exampleWith("work_item.merged", set, at)
    assert.isTrue(made !== undefined && Result.isFailure(made))
    if (made !== undefined && Result.isFailure(made)) assert.property(made.failure, path)
  })

  it("is none of an event that is not in the catalogue", () => {
    assert.isUndefined(exampleWith("work_item.vanished", {}, at))
  })
})
