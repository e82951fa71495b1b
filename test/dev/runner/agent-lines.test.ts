import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { AgentLine, linesOf, readAgentLine } from "../../../dev/runner/agent-lines.ts"

const question = { type: "question", questionId: "q-1", questionText: "Which one?" }

describe("a line of an agent's output", () => {
  it.each([
    question,
    { type: "no-action" },
    { type: "finding", severity: "Error", title: "t", location: null, description: "d" },
    { type: "usage", tokensInput: 1, tokensOutput: 2, tokensCached: 0, costMicroUsd: 5, elapsedMs: 7 },
    { type: "quota", toAgent: null, toModel: null, resetAtMs: 1 },
    { type: "verdict", isMatched: false, answer: "no", followUp: null },
    {
      type: "suggestion",
      title: "t",
      rationale: "r",
      category: "docs",
      severity: "minor",
      estimatedEffort: "tiny",
      filesReferenced: []
    }
  ])("has a meaning when its type is known: $type", (line) => {
    assert.deepStrictEqual(readAgentLine(JSON.stringify(line)) as unknown, line)
  })

  it.each([
    "compiling ...",
    "",
    "{",
    "[]",
    '{"type":"unheard-of"}',
    JSON.stringify({ ...question, questionId: "not an id" }),
    JSON.stringify({ type: "usage", tokensInput: -1, tokensOutput: 0, tokensCached: 0, costMicroUsd: 0, elapsedMs: 0 })
  ])("is only a sign of life otherwise: %s", (line) => {
    assert.isUndefined(readAgentLine(line))
  })

  it("is recognised by its type", () => {
    const lines = [question, { type: "no-action" }, { ...question, questionId: "q-2" }]
      .map((line) => readAgentLine(JSON.stringify(line)))
      .filter((line) => line !== undefined)
    assert.deepStrictEqual(
      linesOf(lines, "question").map(({ questionId }) => questionId),
      ["q-1", "q-2"]
    )
  })
})

describe("the contract of an agent, as the runner's page has it", () => {
  const page = readFileSync("dev/runner/README.md", "utf8")

  it("shows a line of each type, and each is read", () => {
    const shown = [...page.matchAll(/^\| `(\{"type".*?\})` +\|/gmu)].map(([, line = ""]) => readAgentLine(line)?.type)
    assert.deepStrictEqual(shown.toSorted(), AgentLine.members.map(({ fields }) => fields.type.literal).toSorted())
  })

  it("names every variable that an agent gets, and no other", () => {
    const named = (text: string) => [...new Set(text.match(/\bSTARLING_[A-Z_]+\b/gu) ?? [])].toSorted()
    const code = globSync("dev/runner/**/*.ts").map((path) => readFileSync(path, "utf8"))
    assert.deepStrictEqual(named(page), named(code.join("\n")))
  })
})
