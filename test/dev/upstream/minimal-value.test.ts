import { assert, describe, it } from "@effect/vitest"
import { minimalValue } from "../../../dev/upstream/minimal-value.ts"

const node = {
  type: "object",
  properties: { name: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
  required: ["name", "next"]
}

const rows: ReadonlyArray<readonly [what: string, schema: unknown, value: unknown]> = [
  ["a constant", { const: 7 }, 7],
  ["the first of some values", { enum: ["b", "a"] }, "b"],
  ["an empty text", { type: "string" }, ""],
  ["a text as long as it has to be", { type: "string", minLength: 3 }, "xxx"],
  ["a date", { type: "string", format: "date" }, "1970-01-01"],
  ["nothing of a type that may be null", { type: ["null", "string"] }, null],
  ["the first of some types", { type: ["string", "null"] }, ""],
  ["false", { type: "boolean" }, false],
  ["zero", { type: "integer" }, 0],
  ["the lowest number", { type: "number", minimum: 1.5 }, 1.5],
  ["the highest number below zero", { type: "integer", maximum: -2 }, -2],
  ["the whole number above a limit", { type: "integer", exclusiveMinimum: 4 }, 5],
  ["a number between limits", { type: "number", exclusiveMinimum: 4, maximum: 4.75 }, 4.5],
  ["the next multiple", { type: "integer", minimum: 4, multipleOf: 3 }, 6],
  ["an empty list", { type: "array", items: { type: "string" } }, []],
  ["as many items as there have to be", { type: "array", items: { enum: [1] }, minItems: 2 }, [1, 1]],
  ["items of their own schemas", { prefixItems: [{ const: 1 }], items: { const: 2 }, minItems: 2 }, [1, 2]],
  [
    "the required keys alone",
    { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } }, required: ["a"] },
    { a: 0 }
  ],
  [
    "the first option with what stands beside it",
    { anyOf: [{ required: ["a"] }], properties: { a: { const: 1 } } },
    { a: 1 }
  ],
  [
    "all parts together",
    {
      allOf: [{ properties: { a: { const: 1 } }, required: ["a"] }, { $ref: "#/definitions/b" }],
      definitions: { b: { properties: { b: { const: 2 } }, required: ["b"] } }
    },
    { a: 1, b: 2 }
  ],
  ["a definition", { $ref: "#/$defs/a", $defs: { a: { const: 1 } } }, 1],
  ["a definition that refers to itself, once", { $ref: "#/$defs/node", $defs: { node } }, { name: "", next: null }],
  ["a text for anything", {}, ""],
  ["an object without keys", { type: "object" }, {}]
]

describe("the least that a schema allows", () => {
  it.each(rows)("is %s", (_what, schema, value) => {
    assert.deepStrictEqual(minimalValue(schema), value)
  })
})
