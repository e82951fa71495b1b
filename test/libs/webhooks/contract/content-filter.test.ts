import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { moreFaults } from "#base"
import { decodeEndpointSettings } from "#webhooks/contract"

const faultsOf = (filter: unknown) => {
  const settings = decodeEndpointSettings({ Name: "a", Url: "https://a.example", ContentFilter: filter })
  if (Result.isSuccess(settings)) return []
  return settings.failure.flatMap(({ path, message }) => {
    if (message === moreFaults) return []
    assert.isTrue(path.startsWith("/ContentFilter"), path)
    return [[path.slice("/ContentFilter".length), message]]
  })
}
const pathsOf = (filter: unknown) => faultsOf(filter).map(([path]) => path)

const nest = (depth: number): unknown => Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner }), ["x"])

describe("a content filter's schema", () => {
  it.each<readonly [string, unknown]>([
    ["values", { event: ["a.b", 1, -2.5, true, null, ""] }],
    ["operators", { a: [{ prefix: "x" }, { suffix: "y" }, { exists: false }, { "anything-but": ["a", 1, null] }] }],
    ["ranges", { a: [{ numeric: ["=", 0] }, { numeric: [">=", 1, "<=", 1] }, { numeric: ["<", 1e300] }] }],
    ["anything but an affix", { a: [{ "anything-but": { prefix: "x" } }, { "anything-but": { suffix: "y" } }] }],
    ["$or, at the top and within", { $or: [{ a: ["x"] }, { b: { $or: [{ c: [1] }, { d: [2] }] } }] }],
    ["the depth of ten", nest(10)]
  ])("takes %s", (_, filter) => {
    assert.deepStrictEqual(faultsOf(filter), [])
  })

  it.each<readonly [string, unknown, ReadonlyArray<string>]>([
    ["a text", "work_item.merged", [""]],
    ["a list", [["a"]], [""]],
    ["nothing", {}, [""]],
    ["an empty object", { a: { b: {} } }, ["/a/b"]],
    ["an empty list", { a: [] }, ["/a"]],
    ["a value that is in no list", { event: "work_item.merged" }, ["/event"]],
    ["a list in a list", { a: ["x", ["y"]] }, ["/a/1"]],
    ["an unknown operator", { a: [{ wildcard: "x*" }] }, ["/a/0"]],
    ["an operator of every object", { a: [{ constructor: "x" }, { toString: 1 }] }, ["/a/0", "/a/1"]],
    ["two operators in one", { a: [{ prefix: "x", suffix: "y" }] }, ["/a/0"]],
    ["an empty prefix", { a: [{ prefix: "" }] }, ["/a/0"]],
    ["exists of a text", { a: [{ exists: "true" }] }, ["/a/0"]],
    ["anything but nothing", { a: [{ "anything-but": [] }] }, ["/a/0"]],
    ["anything but a range", { a: [{ "anything-but": { numeric: ["<", 1] } }] }, ["/a/0"]],
    ["a range of texts", { a: [{ numeric: [">", "5"] }] }, ["/a/0"]],
    ["a range from above", { a: [{ numeric: ["<", 5, ">", 1] }] }, ["/a/0"]],
    ["a range that is empty", { a: [{ numeric: [">", 5, "<", 5] }, { numeric: [">", 6, "<", 5] }] }, ["/a/0", "/a/1"]],
    ["half a range", { a: [{ numeric: [">", 5, "<"] }] }, ["/a/0"]],
    ["$or of one", { $or: [{ a: ["x"] }] }, ["/$or"]],
    ["$or of values", { $or: ["x", { a: "y" }] }, ["/$or/0", "/$or/1/a"]],
    ["all that is wrong at once", { a: "x", b: { c: [{}] }, d: [undefined] }, ["/a", "/b/c/0", "/d/0"]],
    ["what is more than ten deep", nest(11), ["/a/a/a/a/a/a/a/a/a/a"]],
    ["what is far deeper", nest(100_000), ["/a/a/a/a/a/a/a/a/a/a"]],
    ["257 alternatives", { a: Array.from({ length: 257 }, () => 1) }, [""]],
    ["a million alternatives", { a: [{ "anything-but": Array.from({ length: 1_000_000 }, () => 1) }] }, [""]],
    ["4,097 characters", { a: ["x".repeat(4_097)] }, [""]]
  ])("refuses %s", (_, filter, paths) => {
    assert.deepStrictEqual(pathsOf(filter), [...paths])
  })

  it("names at most fifty faults of many", () => {
    assert.strictEqual(pathsOf({ a: Array.from({ length: 200 }, () => ({})) }).length, 50)
    assert.strictEqual(
      pathsOf(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]))).length,
      50
    )
  })

  it("says what there is instead", () => {
    assert.deepStrictEqual(faultsOf({ a: [{ wildcard: "x*" }], event: "merged" }), [
      ["/a/0", "there is no operator wildcard; there are prefix, suffix, exists, numeric, anything-but"],
      ["/event", 'is a list of alternatives, such as ["merged"], or an object of fields']
    ])
  })
})
