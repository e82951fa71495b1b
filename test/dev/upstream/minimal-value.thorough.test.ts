import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { Schema } from "effect"
import { minimalValue } from "../../../dev/upstream/minimal-value.ts"

const ajv = addFormats.default(new Ajv2020({ strict: false }))

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const leaves: ReadonlyArray<(size: number) => unknown> = [
  (size) => ({ type: "string", minLength: size }),
  (size) => ({ type: "integer", minimum: size, maximum: size + 10 }),
  (size) => ({ type: "integer", exclusiveMaximum: -size }),
  (size) => ({ type: "number", exclusiveMinimum: size }),
  (size) => ({ type: "integer", minimum: size, multipleOf: 7 }),
  (size) => ({ type: ["string", "null"], minLength: size }),
  (size) => ({ enum: [`a${size}`, size] }),
  (size) => ({ const: { size } }),
  () => ({ type: "boolean" }),
  ...["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"].map(
    (format) => () => ({ type: "string", format })
  )
]

const branches: ReadonlyArray<(inner: unknown, size: number) => unknown> = [
  (inner) => ({ type: "object", properties: { a: inner, b: inner }, required: ["b"], additionalProperties: false }),
  (inner, size) => ({ type: "array", items: inner, minItems: size % 3 }),
  (inner) => ({ anyOf: [inner, { type: "null" }] }),
  (inner) => ({
    oneOf: [{ type: "object", properties: { kind: { const: "x" }, inner }, required: ["kind", "inner"] }]
  }),
  (inner) => ({ allOf: [{ type: "object", properties: { a: inner }, required: ["a"] }, { required: ["a"] }] })
]

describe("the least that a random schema allows", () => {
  it.prop(
    "is valid by it",
    [whole(0, 1_000), whole(0, 40), Schema.Array(whole(0, 1_000)).check(Schema.isMaxLength(4))],
    ([leaf, size, path]) => {
      const start = leaves[leaf % leaves.length]?.(size)
      const schema = path.reduce<unknown>((inner, step) => branches[step % branches.length]?.(inner, size), start)
      const validate = ajv.compile(schema as object)
      const value = minimalValue(schema)
      assert.isTrue(validate(value), JSON.stringify({ schema, value, errors: validate.errors }))
    },
    { arbitrary: { runs: 400 } }
  )
})
