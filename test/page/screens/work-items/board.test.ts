import { assert, describe, it } from "@effect/vitest"
import { workItemFacts, WorkItemStateName } from "#pipeline/contract"
import { boardOf, columnNames, hasEnded, placeOf } from "../../../../page/screens/work-items/board.ts"
import { sayingOf } from "../../../../page/screens/work-items/facts.ts"

describe("the board of work items", () => {
  it("has a place with words of its own for every state", () => {
    const words = WorkItemStateName.literals.map((state) => placeOf(state).words)
    assert.strictEqual(new Set(words).size, words.length)
    for (const [index, state] of WorkItemStateName.literals.entries()) assert.notStrictEqual(words[index], state)
  })

  it("puts a state that it does not know where somebody sees it", () => {
    assert.deepInclude(placeOf("Dreaming"), { column: "Needs you", words: "Dreaming" })
  })

  it.each([
    ["Done", true],
    ["Cancelled", true],
    ["NeedsOperatorInput", false],
    ["Queued", false]
  ])("takes %s for ended: %s", (state, is) => {
    assert.strictEqual(hasEnded(state), is)
  })

  it("shows in each column what changed last first", () => {
    const rows = [
      { id: 1, state: "Working", updatedAt: "2026-01-01T00:00:00.000Z" },
      { id: 2, state: "Auditing", updatedAt: "2026-01-02T00:00:00.000Z" },
      { id: 3, state: "Done", updatedAt: "2026-01-01T00:00:00.000Z" }
    ]
    const board = boardOf(rows)
    assert.deepStrictEqual([...board.keys()], [...columnNames])
    assert.deepStrictEqual(
      board.get("In progress")?.map(({ id }) => id),
      [2, 1]
    )
  })
})

describe("a fact in words", () => {
  it("is a sentence for every fact that the log knows", () => {
    const dispatch = { phase: "work", iteration: 1, agent: "coder", runner: "here" }
    for (const name of Object.keys(workItemFacts)) assert.isNotEmpty(sayingOf({ fact: name, dispatch }).words, name)
  })

  it("quotes the question of an agent, and the reason of an operator", () => {
    const asked = sayingOf({ fact: "QuestionAsked", questionText: "Which oil?" })
    assert.deepInclude(asked, { quote: "Which oil?", tone: "wait" })
    assert.deepInclude(sayingOf({ fact: "Cancelled", reason: "done by hand" }), { quote: "done by hand" })
    assert.notProperty(sayingOf({ fact: "Cancelled", reason: null }), "quote")
  })

  it("is the name of a fact that the page does not know", () => {
    assert.strictEqual(sayingOf({ fact: "GateOiled" }).words, "gate oiled")
  })
})
