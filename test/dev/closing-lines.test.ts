import { assert, describe, it } from "@effect/vitest"
import {
  charactersMax,
  closingLines,
  type Failure,
  failureOutside,
  failuresNamedMax,
  flakyLine,
  slowestLines
} from "../../dev/closing-lines.ts"

const failure = (changes: Partial<Failure> = {}): Failure => ({
  ring: "fleet",
  file: "test/fleet/voices.fleet.test.ts",
  name: "a voice > is heard",
  message: "AssertionError: expected 1 to equal 2",
  where: "test/fleet/voices.fleet.test.ts:12",
  ...changes
})
const many = (count: number, changes: Partial<Failure> = {}) =>
  Array.from({ length: count }, (_, index) => failure({ name: `a voice > is heard, number ${index}`, ...changes }))

describe("the closing lines", () => {
  it("are empty when nothing failed", () => {
    assert.deepStrictEqual(closingLines([]), [])
  })

  it("name a failed test by project, file and full name, with its message and location", () => {
    assert.deepStrictEqual(closingLines([failure()]), [
      "== failed",
      "✗ fleet test/fleet/voices.fleet.test.ts › a voice > is heard",
      "    AssertionError: expected 1 to equal 2",
      "    at test/fleet/voices.fleet.test.ts:12"
    ])
  })

  it("name a failure that has neither file nor location", () => {
    const lost = failure({ file: null, name: "an error that no test waited for", message: "Error: lost", where: null })
    assert.deepStrictEqual(closingLines([lost]).slice(1), [
      "✗ fleet an error that no test waited for",
      "    Error: lost"
    ])
  })

  it("keep the first lines of a message, without colours and empty lines", () => {
    const [, , ...said] = closingLines([failure({ message: "\u001b[31mone\u001b[39m\n\n two \nthree\nfour\nfive" })])
    assert.deepStrictEqual(said.slice(0, -1), ["    one", "     two", "    three", "    four"])
  })

  it("name twenty, and say how many more there are", () => {
    const lines = closingLines(many(failuresNamedMax + 3))
    assert.strictEqual(lines.filter((line) => line.startsWith("✗")).length, failuresNamedMax)
    assert.strictEqual(lines.at(-1), "and 3 more")
    assert.notInclude(closingLines(many(failuresNamedMax)).join("\n"), "more")
  })

  it.each([1, 2, 7, 20, 500])("fit in the last 4 kB with %i failures, however long names and messages are", (count) => {
    const lines = closingLines(many(count, { name: "n".repeat(3_000), message: "message ".repeat(2_000) }))
    assert.isAtMost(lines.join("\n").length, charactersMax)
    const flaky = flakyLine(many(count, { name: "n".repeat(3_000) }))
    assert.isBelow(
      Buffer.byteLength(`${[...lines, ...flaky].join("\n")}\n12345 passed, 12345 failed, 12345 skipped\n`),
      4_096
    )
    for (const line of lines.filter((each) => each.startsWith("✗"))) assert.include(line, "test/fleet/voices")
  })

  it("keep the end of a long name, which tells the tests of one suite apart", () => {
    const lines = closingLines(many(20, { name: `${"long ".repeat(100)}the end` }))
    assert.strictEqual(lines.filter((line) => line.endsWith("the end")).length, 20)
  })
})

describe("a failure outside the tests", () => {
  it("shows the compiler's errors, without its suggestions", () => {
    const output = "a.ts(1,2): suggestion TS1: nicer\nb.ts(3,4): error TS2322: Type\nc.ts(5,6): error TS2304: Name\n"
    assert.deepStrictEqual(closingLines([failureOutside("types", output)]).slice(1), [
      "✗ types failed",
      "    b.ts(3,4): error TS2322: Type",
      "    c.ts(5,6): error TS2304: Name"
    ])
  })

  it("shows the first lines of any other program, and the number of lines", () => {
    const output = ["Checking formatting...", ...Array.from({ length: 9 }, (_, index) => `libs/file-${index}.ts`)]
    const [, head, ...said] = closingLines([failureOutside("format", output.join("\n"))])
    assert.strictEqual(head, "✗ format failed (10 lines)")
    assert.deepStrictEqual(said, [
      "    Checking formatting...",
      "    libs/file-0.ts",
      "    libs/file-1.ts",
      "    libs/file-2.ts"
    ])
  })

  it("is reported even when the program printed nothing", () => {
    assert.deepStrictEqual(closingLines([failureOutside("types", "")]), ["== failed", "✗ types failed"])
  })
})

describe("the line of flaky tests", () => {
  it("is absent when every file passed at once", () => {
    assert.deepStrictEqual(flakyLine([]), [])
  })

  it("counts the tests and names them by file and full name", () => {
    const other = failure({ file: null, name: "\u001b[31mlost\u001b[39m" })
    assert.deepStrictEqual(flakyLine([failure(), other]), [
      "2 flaky: test/fleet/voices.fleet.test.ts › a voice > is heard; lost"
    ])
  })

  it("names three, and says how many more there are", () => {
    const [line = ""] = flakyLine(many(5))
    assert.match(line, /^5 flaky: .*; and 2 more$/u)
    assert.strictEqual(line.split("›").length - 1, 3)
  })
})

describe("the slowest files", () => {
  const file = (name: string, tookMs: number) => ({ file: `test/${name}.test.ts`, tookMs })

  it("are named with their seconds, the slowest first", () => {
    assert.deepStrictEqual(slowestLines([file("a", 25_000), file("b", 90_400), file("c", 19_999)]), [
      "== slowest",
      "90 s test/b.test.ts",
      "25 s test/a.test.ts"
    ])
  })

  it("are ten at most, and not listed when all were quick", () => {
    assert.strictEqual(slowestLines(Array.from({ length: 30 }, (_, at) => file(`${at}`, 30_000))).length, 11)
    assert.deepStrictEqual(slowestLines([file("a", 100)]), [])
  })
})
