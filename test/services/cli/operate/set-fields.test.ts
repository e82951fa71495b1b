import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { findEvent } from "#base"
import { eventSchema } from "#pipeline/contract"
import { fieldsFrom } from "../../../../services/cli/operate/set-fields.ts"

const schemaOf = (event: string) => eventSchema(findEvent(event) ?? assert.fail(event))
const merged = schemaOf("work_item.merged")

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    either: { anyOf: [{ type: "string" }, { type: "null" }] },
    count: { $ref: "#/$defs/Count" },
    share: { type: "number" },
    isOn: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    free: {},
    record: { type: "object", additionalProperties: { type: "integer" } }
  },
  additionalProperties: true,
  $defs: { Count: { type: "integer" } }
}

describe("a field that is set on a command line", () => {
  it.each([
    ["name=1", "name", "1"],
    ["name=", "name", ""],
    ["name=a=b", "name", "a=b"],
    ["either=null", "either", null],
    ["either=nothing", "either", "nothing"],
    ["count=2", "count", 2],
    ["share=0.5", "share", 0.5],
    ["share=2", "share", 2],
    ["isOn=true", "isOn", true],
    ['tags=["a"]', "tags", ["a"]],
    ["tags.0=1", "tags.0", "1"],
    ["free=7", "free", 7],
    ["free=seven", "free", "seven"],
    ["free.deep.er={}", "free.deep.er", {}],
    ["record.a=3", "record.a", 3]
  ] as const)("has the type of its schema: %s", (assignment, path, value) => {
    const fields = fieldsFrom(schema, [assignment])
    assert.deepStrictEqual(Result.getOrUndefined(fields), { [path]: value })
  })

  it("is refused with every fault by its path, and a suggestion for a slip", () => {
    const fields = fieldsFrom(schema, ["nme=x", "count=many", "isOn=1", "record.a=x", "count.deep=1", "name"])
    assert.deepStrictEqual(Result.isFailure(fields) ? fields.failure : fields.success, [
      "nme: there is no field nme; did you mean name?",
      "count: is integer, not many",
      "isOn: is boolean, not 1",
      "record.a: is integer, not x",
      "count.deep: there are no fields in count, it is integer",
      "name: is written as path=value"
    ])
  })

  it("follows the references of an event's schema", () => {
    const fields = fieldsFrom(merged, [
      "workItem.upstreamPushAttempts=3",
      "workItem.title=4",
      "workItem.lastError=null"
    ])
    assert.deepStrictEqual(Result.getOrUndefined(fields), {
      "workItem.upstreamPushAttempts": 3,
      "workItem.title": "4",
      "workItem.lastError": null
    })
    const slip = fieldsFrom(merged, ["workItem.titel=x", "details.x=1"])
    assert.isTrue(Result.isFailure(slip))
    if (Result.isFailure(slip)) {
      assert.deepStrictEqual(slip.failure, [
        "workItem.titel: there is no field titel in workItem; did you mean title?",
        "details.x: there are no fields in details, it is null"
      ])
    }
  })
})
