import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { detailsCheck } from "../../../libs/events/details-schema.ts"

const faultsOf = (schema: object, details: unknown) => Result.getOrThrow(detailsCheck(schema))(details)
const pathsOf = (schema: object, details: unknown) => faultsOf(schema, details).map(({ path }) => path)
const refusal = (schema: object) => {
  const check = detailsCheck(schema)
  return Result.isFailure(check) ? check.failure : []
}

const order = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string", pattern: "^[A-Z]{3}-[0-9]+$" },
    total: { type: "number", minimum: 0 },
    lines: { type: "array", items: { $ref: "#/$defs/line" }, uniqueItems: true }
  },
  additionalProperties: false,
  $defs: {
    line: { type: "object", required: ["sku"], properties: { sku: { $ref: "#sku" } } },
    sku: { $anchor: "sku", type: "string" }
  }
}

describe("the schema of an event type's details", () => {
  it("accepts what fits", () => {
    assert.deepStrictEqual(faultsOf(order, { id: "ABC-1", total: 2.5, lines: [{ sku: "a" }, { sku: "b" }] }), [])
  })

  it("names every fault by its place", () => {
    const details = { id: "abc", total: -1, lines: [{ sku: 1 }, {}], more: true }
    assert.sameMembers(pathsOf(order, details), ["/id", "/total", "/lines/0/sku", "/lines/1", "/more"])
  })

  it("says what is wrong without naming the place a second time", () => {
    const [fault] = faultsOf({ properties: { a: { type: "string" } } }, { a: 1 })
    assert.deepStrictEqual(fault, { path: "/a", message: "Expected `1` (number) to be of type `string`" })
  })

  it("takes formats as annotations", () => {
    assert.deepStrictEqual(faultsOf({ properties: { a: { format: "date-time" } } }, { a: "today" }), [])
  })

  const refused: ReadonlyArray<readonly [string, object, string]> = [
    ["a reference to another document", { $ref: "https://schemas.example/order.json" }, "/$ref"],
    ["a reference to a file", { properties: { a: { $ref: "order.json#/a" } } }, "/properties/a/$ref"],
    ["a reference to nothing", { $ref: "#/$defs/none" }, "/$ref"],
    ["a dynamic reference to nothing", { $dynamicRef: "#none" }, "/$dynamicRef"],
    ["a part with an $id", { $defs: { a: { $id: "https://schemas.example/a" } } }, "/$defs/a/$id"],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, "/$schema"],
    ["a type that does not exist", { properties: { a: { type: "text" } } }, "/properties/a/type"],
    ["a look-ahead", { properties: { a: { pattern: "^(?=a)b" } } }, "/properties/a/pattern"],
    ["a backreference", { properties: { a: { pattern: "(a)\\1" } } }, "/properties/a/pattern"],
    ["a pattern that is none", { patternProperties: { "(": true } }, "/patternProperties"],
    ["too large a repetition", { pattern: "((a{100}){100}){100}" }, "/pattern"],
    ["a long pattern", { pattern: "a".repeat(1_001) }, "/pattern"],
    ["more than 64 kB", { description: "x".repeat(65_536) }, ""]
  ]
  it.each(refused)("is refused with %s", (_name, schema, path) => {
    assert.include(
      refusal(schema).map((fault) => fault.path),
      path
    )
  })

  it("is refused when it is deeper than 32 levels", () => {
    const deep = (levels: number): object => (levels === 0 ? { type: "string" } : { not: deep(levels - 1) })
    assert.isTrue(Result.isSuccess(detailsCheck(deep(30))))
    assert.match(refusal(deep(40))[0]?.message ?? "", /deeper than 32 levels/u)
  })

  it("may call itself something, and name the dialect", () => {
    const named = { $id: "https://schemas.example/order.json", $schema: "https://json-schema.org/draft/2020-12/schema" }
    assert.deepStrictEqual(pathsOf({ ...named, type: "object", $defs: { a: true }, $ref: "#/$defs/a" }, {}), [])
  })

  const doubling = (keyword: string, leaf: unknown = { type: "string" }) => {
    const steps = Array.from({ length: 12 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` }
      return [`d${at}`, { [keyword]: Array.from({ length: 8 }, () => next) }] as const
    })
    return { $defs: { ...Object.fromEntries(steps), d12: leaf }, $ref: "#/$defs/d0" }
  }
  const many = (count: number, of: (at: number) => unknown) => Array.from({ length: count }, (_, at) => of(at))
  const long = "a".repeat(200_000)
  const named = (count: number) =>
    Object.fromEntries(many(count, (at) => [`p${at}`, { q: at }]) as Array<[string, unknown]>)

  const hostile: ReadonlyArray<readonly [string, object, unknown]> = [
    ["references that double", doubling("allOf"), 1],
    ["alternatives that double", doubling("anyOf"), 1],
    ["references that double and all hold", doubling("allOf", true), { a: 1 }],
    ["a reference to itself", { $ref: "#" }, 1],
    ["an alternative that is itself", { anyOf: [{ $ref: "#" }, { type: "string" }] }, 1],
    ["nested quantifiers", { properties: { a: { pattern: "^(a+)+$" } } }, { a: `${long}!` }],
    ["a pattern with many states", { properties: { a: { pattern: "(.*a.{200}b)" } } }, { a: long }],
    ["a hundred thousand faults", { properties: { a: { items: { type: "string" } } } }, { a: many(100_000, () => 1) }],
    [
      "a long list of distinct objects",
      { properties: { a: { uniqueItems: true } } },
      { a: many(20_000, (at) => ({ at })) }
    ],
    ["a long list against a long enum", { items: { enum: many(5_000, String) } }, many(20_000, () => "4999")],
    [
      "many properties that nothing evaluates",
      { allOf: many(100, (at) => ({ properties: { [`q${at}`]: true } })), unevaluatedProperties: false },
      named(2_000)
    ],
    [
      "many patterns for names",
      { patternProperties: Object.fromEntries(many(300, (at) => [`^${at}`, true]) as Array<[string, unknown]>) },
      named(5_000)
    ]
  ]
  it.each(hostile)("ends soon, whatever it says: %s", (_name, schema, details) => {
    const check = Result.getOrThrow(detailsCheck(schema))
    const startedMs = performance.now()
    const faults = check(details)
    // Ten times what it takes on an idle machine; without bounds these take seconds to for ever.
    assert.isBelow(performance.now() - startedMs, 2_500)
    assert.isAtMost(faults.length, 50)
  })
})
