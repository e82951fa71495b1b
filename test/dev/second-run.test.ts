import { assert, describe, it } from "@effect/vitest"
import type { Failure } from "../../dev/closing-lines.ts"
import { afterSecondRun, failuresAfter, filesRepeatedMax, filesToRepeat } from "../../dev/second-run.ts"

const failure = (file: string | null): Failure => ({ ring: "fleet", file, name: "a test", message: "no", where: null })
const run = (files: Readonly<Record<string, ReadonlyArray<string>>>) => ({
  testResults: Object.entries(files).map(([name, statuses]) => ({
    name,
    assertionResults: statuses.map((status) => ({ status }))
  }))
})

describe("a second run", () => {
  it("covers each file with a failure", () => {
    assert.deepStrictEqual(filesToRepeat([failure("a.ts"), failure("b.ts"), failure("a.ts")]), ["a.ts", "b.ts"])
    assert.deepStrictEqual(filesToRepeat([]), [])
  })

  it("is skipped when many files failed", () => {
    const failures = Array.from({ length: filesRepeatedMax + 1 }, (_, index) => failure(`${index}.ts`))
    assert.strictEqual(filesToRepeat(failures.slice(1)).length, filesRepeatedMax)
    assert.deepStrictEqual(filesToRepeat(failures), [])
  })

  it("is skipped for an error that belongs to no file", () => {
    assert.deepStrictEqual(filesToRepeat([failure("a.ts"), failure(null)]), [])
  })

  it("tells what failed twice by its second failure, and what held then as flaky", () => {
    const first = [failure("a.ts"), failure("b.ts"), failure("b.ts")]
    const again = { ...failure("a.ts"), message: "no, again" }
    assert.deepStrictEqual(failuresAfter(first, [again]), { failures: [again], flaky: first.slice(1) })
    assert.deepStrictEqual(failuresAfter(first, []), { failures: [], flaky: first })
  })

  it("counts for its files, and for tests that a failed hook kept from running", () => {
    const first = run({ "a.ts": ["passed", "failed"], "b.ts": ["skipped", "skipped"], "c.ts": ["passed", "skipped"] })
    const second = run({ "a.ts": ["passed", "passed"], "b.ts": ["passed", "failed"] })
    const { numFailedTests, numPassedTests, numPendingTests } = afterSecondRun(first, second)
    assert.deepStrictEqual([numPassedTests, numFailedTests, numPendingTests], [4, 1, 1])
  })
})
