import { assert, describe, it } from "@effect/vitest"
import {
  openQuestionsMax,
  questionsMax,
  questionsPerReportMax,
  suggestionsMax,
  suggestionsPerReportMax
} from "#pipeline/contract"
import { workItemOfSuggestion } from "#pipeline"
import { inHand, itemId, readyFor } from "./item-at-work.ts"

const question = (questionId: string) => ({ questionId, questionText: `Which ${questionId}?` })
const asking = (...ids: ReadonlyArray<string>) => ({ questions: ids.map((id) => question(id)) })
const answer = (questionId: string) => ({ _tag: "Answer", questionId, answer: "the left one" }) as const
const dismiss = (questionId: string) => ({ _tag: "DismissQuestion", questionId, reason: null }) as const

describe("a question of the agent", () => {
  it("parks the item, with an event for each new id", () => {
    const item = inHand("rework")
    assert.deepStrictEqual(item.reports("questions-asked", asking("hinge", "latch", "hinge")), [
      "work_item.needs_operator_input",
      "work_item.question_asked",
      "work_item.question_asked"
    ])
    assert.deepStrictEqual(item.last("work_item.question_asked")?.details, question("latch"))
    assert.deepInclude(item.state(), { state: "NeedsOperatorInput", phase: "rework", dispatch: null })
  })

  it("on a parked item only emits its event", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge"))
    assert.deepStrictEqual(item.reports("questions-asked", asking("latch")), ["work_item.question_asked"])
    assert.strictEqual(item.state().openQuestions.length, 2)
  })

  it("that repeats an earlier one is ignored, open or closed, and parks nothing", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge"))
    assert.deepStrictEqual(item.reports("questions-asked", asking("hinge")), [])
    item.does(answer("hinge"))
    item.takes("work")
    assert.deepStrictEqual(item.reports("questions-asked", asking("hinge")), [])
    assert.strictEqual(item.state().state, "Working")
  })

  it("has an event with its answer, and without a person's name", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge"))
    assert.deepStrictEqual(item.does(answer("hinge")), ["work_item.question_answered"])
    assert.deepStrictEqual(item.last("work_item.question_answered")?.details, {
      workItemId: itemId,
      projectId: "garden",
      questionId: "hinge",
      answer: "the left one",
      answeredBy: null
    })
  })

  it("that is dismissed has an event with the reason", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge", "latch"))
    item.does(dismiss("hinge"))
    item.does({ ...dismiss("latch"), reason: "see the plan" })
    const of = { workItemId: itemId, projectId: "garden" }
    const told = item.events.filter(({ event }) => event === "work_item.question_dismissed")
    assert.deepStrictEqual(
      told.map(({ details }) => details),
      [
        { ...of, questionId: "hinge", reason: null },
        { ...of, questionId: "latch", reason: "see the plan" }
      ]
    )
  })

  it("returns the item to its phase when the last open one is closed", () => {
    const places = [
      ["work", "Queued"],
      ["rework", "Reworking"],
      ["audit", "WorkComplete"],
      ["merge", "AuditPassed"],
      ["upstream", "Merged"],
      ["conflict-rework", "ConflictRework"],
      ["delegation", "Delegated"]
    ] as const
    for (const [phase, state] of places) {
      const item = inHand(phase)
      item.reports("questions-asked", asking("hinge", "latch"))
      item.does(answer("hinge"))
      assert.strictEqual(item.state().state, "NeedsOperatorInput")
      item.does(dismiss("latch"))
      assert.deepInclude(item.state(), { state, phase, dispatch: null })
    }
  })

  it("cannot be closed twice, nor without being asked", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge", "latch"))
    item.does(answer("hinge"))
    assert.match(item.refuses(answer("hinge")), /is closed already/u)
    assert.match(item.refuses(dismiss("gate")), /has not asked gate/u)
    item.does(answer("latch"))
    assert.match(item.refuses(answer("latch")), /no question is open/u)
  })

  it("is limited in the number of open ones, and of all", () => {
    const item = inHand("work")
    const many = Array.from({ length: openQuestionsMax }, (_, index) => `q${index}`)
    item.reports("questions-asked", asking(...many))
    assert.match(item.refusesReport("questions-asked", asking("one-more")), /would be open/u)
    for (let round = 1; round < questionsMax / questionsPerReportMax; round++) {
      for (const { questionId } of item.state().openQuestions) item.does(dismiss(questionId))
      item.takes("work")
      item.reports("questions-asked", asking(...many.map((id) => `${id}-${round}`)))
    }
    for (const { questionId } of item.state().openQuestions) item.does(dismiss(questionId))
    item.takes("work")
    assert.match(item.refusesReport("questions-asked", asking("one-more")), /128 is the most/u)
  })
})

describe("a suggestion of the agent", () => {
  const suggestion = (title: string) => ({
    title,
    rationale: "It would last longer.",
    category: "refactor" as const,
    severity: "notable" as const,
    estimatedEffort: "small" as const,
    filesReferenced: []
  })

  it("is an event for each, of the same item and without the rationale", () => {
    const item = inHand("work")
    const suggestions = ["Oil it", "Paint it", "Sell it"].map((title) => suggestion(title))
    assert.deepStrictEqual(
      item.reports("suggestions-made", { suggestions }),
      Array.from({ length: 3 }, () => "work_item.suggestion")
    )
    const told = item.events.filter(({ event }) => event === "work_item.suggestion")
    assert.deepStrictEqual(told[1]?.details, {
      id: `${itemId}-2`,
      title: "Paint it",
      category: "refactor",
      severity: "notable",
      estimatedEffort: "small",
      filesReferenced: []
    })
    assert.strictEqual(new Set(told.map(({ workItem }) => JSON.stringify(workItem))).size, 1)
    assert.strictEqual(workItemOfSuggestion(`${itemId}-2`), itemId)
    assert.deepInclude(item.records.at(-1)?.facts[0], { rationale: "It would last longer." })
  })

  it("leaves the item's state unchanged, even when it is parked", () => {
    const item = inHand("work")
    item.reports("questions-asked", asking("hinge"))
    item.reports("suggestions-made", { suggestions: [suggestion("Oil it")] })
    assert.strictEqual(item.state().state, "NeedsOperatorInput")
  })

  it("is limited in number", () => {
    const item = readyFor("work")
    item.takes("work")
    const suggestions = Array.from({ length: suggestionsPerReportMax }, (_, index) => suggestion(`s${index}`))
    for (let made = 0; made < suggestionsMax; made += suggestionsPerReportMax)
      item.reports("suggestions-made", { suggestions })
    assert.match(item.refusesReport("suggestions-made", { suggestions }), /256 is the most/u)
  })
})
