import { assert, describe, it } from "@effect/vitest"
import { linesIn } from "../../../dev/mutants/changed-lines.ts"
import { equivalents, goneOf } from "../../../dev/mutants/equivalent.ts"
import { keyOf } from "../../../dev/mutants/mutant.ts"
import { mutantsOf } from "../../../dev/mutants/operators.ts"
import { shuffled } from "../../../dev/mutants/sample.ts"
import { readFileSync } from "node:fs"

const all = Array.from({ length: 500 }, (_, at) => at)

describe("a sample of mutants", () => {
  it("is the same for the same seed, and another for another", () => {
    assert.deepStrictEqual(shuffled(all, 7), shuffled(all, 7))
    assert.notDeepEqual(shuffled(all, 7), shuffled(all, 8))
  })

  it("holds each once", () => {
    assert.sameMembers([...shuffled(all, 7)], all)
  })

  it("takes every place with the same chance", () => {
    const times = Array.from({ length: 10 }, () => 0)
    for (let seed = 0; seed < 5_000; seed += 1) {
      const [first = 0] = shuffled(all.slice(0, 10), seed)
      times[first] = (times[first] ?? 0) + 1
    }
    for (const count of times) assert.closeTo(count, 500, 100)
  })
})

describe("the lines that a diff changes", () => {
  it("are those of the new files, and none of a file that went", () => {
    const diff = [
      "--- a/libs/a.ts",
      "+++ b/libs/a.ts",
      "@@ -1,0 +2,2 @@ const a = 1",
      "+const b = 2",
      "+const c = 3",
      "@@ -9 +11 @@",
      "-x",
      "+y",
      "@@ -20,3 +21,0 @@",
      "--- a/libs/gone.ts",
      "+++ /dev/null",
      "@@ -1,2 +0,0 @@"
    ]
    assert.deepStrictEqual(linesIn(diff.join("\n")), new Map([["libs/a.ts", new Set([2, 3, 11])]]))
  })
})

describe("the list of equivalent mutants", () => {
  it("names mutants that the code still has, each once and with a reason", () => {
    const files = [...new Set(equivalents.map(({ file }) => file))]
    const made = files.flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")))
    assert.deepStrictEqual(goneOf(equivalents, made), [])
    assert.strictEqual(new Set(equivalents.map(keyOf)).size, equivalents.length)
    for (const { reason } of equivalents) assert.match(reason, /\w+ \w+/u)
  })

  it("knows a mutant when lines above it come, and not when its code or its function is another", () => {
    const code = "const isMore = (a: number) => a > 7"
    const [first] = mutantsOf("libs/a.ts", code)
    const list = first === undefined ? [] : [{ ...first, reason: "nobody has seven of them" }]
    const gone = (text: string) => goneOf(list, mutantsOf("libs/a.ts", text)).length
    const texts = [`// more\n\n${code}`, code.replace("7", "9"), code.replace("isMore", "isMuch")]
    assert.deepStrictEqual(texts.map(gone), [0, 1, 1])
  })
})
