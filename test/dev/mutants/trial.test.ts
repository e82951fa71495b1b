import { assert, describe, it } from "@effect/vitest"
import { importGraph } from "../../../dev/mutants/import-graph.ts"
import { mutantsOf } from "../../../dev/mutants/operators.ts"
import { lastLine, lineOf, scoreOf, survivorLine } from "../../../dev/mutants/report.ts"
import type { Attempt, Outcome } from "../../../dev/mutants/test-run.ts"
import { type Tried, tryMutants } from "../../../dev/mutants/trial.ts"

const code = "export const isMore = (a: number) => a > 7"
const files = new Map([
  ["libs/a.ts", code],
  ["test/a.test.ts", 'import { isMore } from "../libs/a.ts"'],
  ["test/b.test.ts", 'import { isMore } from "../libs/a.ts"']
])
const mutants = mutantsOf("libs/a.ts", code)

const tryWith = async (outcomeOf: (attempt: Attempt) => Outcome["end"]) => {
  const attempts: Array<Attempt> = []
  const unfit: Array<string> = []
  const run = async (attempt: Attempt): Promise<Outcome> => {
    attempts.push(attempt)
    return { end: outcomeOf(attempt), tookMs: 100, by: "x" }
  }
  const tried = await tryMutants(mutants, {
    graph: importGraph(files, {}),
    runner: { run, close: async () => {} },
    textOf: (file) => files.get(file) ?? "",
    projects: ["unit"],
    testsMax: () => 10,
    onTried: () => {},
    onUnfit: (test) => unfit.push(test)
  })
  return { tried: tried.map(({ mutant, verdict, by }) => [mutant.operator, verdict, by]), attempts, unfit }
}

describe("a mutant", () => {
  it("is killed by the first test that fails, and no further test runs", async () => {
    const { tried, attempts } = await tryWith(({ text }) => (text === code ? "passed" : "failed"))
    assert.deepStrictEqual(tried, [
      ["boundary", "killed", "test/a.test.ts"],
      ["number", "killed", "test/a.test.ts"]
    ])
    assert.deepStrictEqual(
      attempts.map(({ test, text }) => [test, text === code]),
      [
        ["test/a.test.ts", true],
        ["test/a.test.ts", false],
        ["test/a.test.ts", false]
      ]
    )
  })

  it("survives when all its tests pass", async () => {
    const { tried } = await tryWith(({ text, test }) =>
      text.includes(">=") && test === "test/b.test.ts" ? "failed" : "passed"
    )
    assert.deepStrictEqual(tried, [
      ["boundary", "killed", "test/b.test.ts"],
      ["number", "survived", undefined]
    ])
  })

  it("is told apart when a test takes too long, by the time it took before", async () => {
    const { tried, attempts } = await tryWith(({ text }) => (text === code ? "passed" : "timed out"))
    assert.deepStrictEqual(tried[0], ["boundary", "timed out", "test/a.test.ts"])
    assert.strictEqual(attempts[1]?.limitMs, 10_500)
  })

  it("is not judged by a test that fails without it", async () => {
    const { tried, unfit } = await tryWith(({ test }) => (test === "test/a.test.ts" ? "failed" : "passed"))
    assert.deepStrictEqual(tried, [
      ["boundary", "survived", undefined],
      ["number", "survived", undefined]
    ])
    assert.deepStrictEqual(unfit, ["test/a.test.ts"])
  })

  it("is loaded under one name for all its tests, with what loads it", async () => {
    const { attempts } = await tryWith(() => "passed")
    const ofFirst = attempts.filter(({ text }) => text.includes(">="))
    assert.strictEqual(new Set(ofFirst.map(({ run }) => run)).size, 1)
    assert.sameMembers([...(ofFirst[0]?.anew ?? [])], ["libs/a.ts", "test/a.test.ts", "test/b.test.ts"])
  })
})

describe("the report", () => {
  const [first, second] = mutants
  const tried = [
    { mutant: first, verdict: "killed", tests: 1 },
    { mutant: first, verdict: "timed out", tests: 1 },
    { mutant: second, verdict: "survived", tests: 2 }
  ] as ReadonlyArray<Tried>

  it("shows a survivor by its place, and by the code before and after", () => {
    const shown = second === undefined ? "" : lineOf(second)
    assert.strictEqual(shown, `libs/a.ts:1 number: ${code}  →  ${code.replace("7", "8")}`)
  })

  it("says of a survivor which tests could still notice it", () => {
    const [mutant] = mutants
    if (mutant === undefined) return assert.fail("there is no mutant")
    const suffix = (tests: number, unasked: number) =>
      survivorLine({ mutant, tests }, unasked).slice(lineOf(mutant).length)
    assert.deepStrictEqual(
      [suffix(3, 0), suffix(0, 0), suffix(3, 2), suffix(0, 2)],
      ["", "  (no test imports it)", "  (2 slower tests were not asked)", "  (2 slower tests were not asked)"]
    )
  })

  it("ends with the score", () => {
    assert.strictEqual(
      lastLine({ room: "libs/a", tried, equivalent: 4, seconds: 12.4, seed: 3 }),
      "libs/a: 2/3 noticed, 66.7 % (1 timed out, 4 equivalent left out), 12 s, seed 3"
    )
    assert.strictEqual(scoreOf([]), 100)
  })
})
