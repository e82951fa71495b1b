import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeReport, exampleReport, suggestionsPerReportMax } from "#pipeline/contract"

const suggestion = {
  title: "t".repeat(120),
  rationale: "",
  category: "dead-code",
  severity: "important",
  estimatedEffort: "tiny",
  filesReferenced: []
}
const faultPaths = (suggestions: ReadonlyArray<object>) => {
  const decoded = decodeReport("suggestions-made", { ...(exampleReport("suggestions-made") as object), suggestions })
  return Result.isFailure(decoded) ? decoded.failure.map(({ path }) => path) : []
}
const words = {
  category: ["test-coverage", "refactor", "dead-code", "security", "dependency", "docs", "other"],
  severity: ["minor", "notable", "important"],
  estimatedEffort: ["tiny", "small", "medium", "large"]
}

describe("suggestions of agents", () => {
  it("state kind, weight and effort in the contract's words", () => {
    for (const [field, values] of Object.entries(words)) {
      for (const value of values) assert.deepStrictEqual(faultPaths([{ ...suggestion, [field]: value }]), [])
      assert.deepStrictEqual(faultPaths([{ ...suggestion, [field]: "else" }]), [`/suggestions/0/${field}`])
    }
  })

  it("have a title of at most 120 characters, and may refer to no file", () => {
    assert.deepStrictEqual(faultPaths([suggestion]), [])
    assert.deepStrictEqual(faultPaths([suggestion, { ...suggestion, title: "t".repeat(121) }]), [
      "/suggestions/1/title"
    ])
  })

  it("come as a non-empty list", () => {
    assert.deepStrictEqual(faultPaths([]), ["/suggestions"])
    const many = Array.from({ length: suggestionsPerReportMax + 1 }, () => suggestion)
    assert.deepStrictEqual(faultPaths(many), ["/suggestions"])
    assert.deepStrictEqual(faultPaths(many.slice(1)), [])
  })
})
