import { assert, describe, it } from "@effect/vitest"
import {
  findingsMax,
  openQuestionsMax,
  questionsMax,
  questionsPerReportMax,
  suggestionsPerReportMax,
  type WorkItemReport
} from "#pipeline/contract"
import { type ItemAtWork, itemAtWork } from "./item-at-work.ts"
import { sampleReport } from "./samples.ts"

// The size of one message, and the state's share of it.
const recordBytesMax = 1_000_000
const stateCharactersMax = 65_536

/** Three bytes each. */
const long = (characters: number) => "ア".repeat(characters)

const largestItem = () =>
  itemAtWork(
    {},
    {
      title: long(300),
      instructions: long(8_000),
      externalId: long(256),
      releaseId: long(256),
      baseBranch: long(250),
      workBranchPrefix: long(200),
      agent: long(128)
    }
  )

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length
const lastRecordBytes = (item: ItemAtWork) => bytesOf(item.records.at(-1))
const says = (item: ItemAtWork, report: WorkItemReport) => {
  const dispatched = { ...report, dispatchId: item.state().lastDispatchId ?? "" }
  item.does({ ...item.report("progress", {}), report: dispatched as WorkItemReport })
}

describe("the largest item", () => {
  it("with its maximum of questions stays within its bound", () => {
    const item = largestItem()
    for (let asked = 0; asked < questionsMax; asked += questionsPerReportMax) {
      item.takes("work")
      const questions = Array.from({ length: openQuestionsMax }, (_, index) => ({
        questionId: `${asked + index}`.padStart(64, "q"),
        questionText: long(4_000)
      }))
      item.reports("questions-asked", { questions })
      assert.isBelow(JSON.stringify(item.state()).length, stateCharactersMax)
      assert.isBelow(lastRecordBytes(item), recordBytesMax)
      if (asked + questionsPerReportMax === questionsMax) break
      for (const { questionId } of questions) item.does({ _tag: "DismissQuestion", questionId, reason: null })
    }
    assert.strictEqual(item.state().questionIds.length, questionsMax)
  })

  it("makes no record that exceeds one message", () => {
    const item = largestItem()
    item.takes("work")
    const [suggestion] = (sampleReport("suggestions-made") as Extract<WorkItemReport, { kind: "suggestions-made" }>)
      .suggestions
    assert.isDefined(suggestion)
    const suggestions = Array.from({ length: suggestionsPerReportMax }, () => ({
      ...suggestion,
      title: long(120),
      rationale: long(4_000),
      filesReferenced: Array.from({ length: 32 }, () => long(256))
    }))
    item.reports("suggestions-made", { suggestions })
    assert.isBelow(lastRecordBytes(item), recordBytesMax)
    says(item, sampleReport("iteration-ended"))
    item.takes("audit")
    const found = { auditor: long(100), severity: "Error", title: long(200), location: long(300) } as const
    const findings = Array.from({ length: findingsMax }, () => ({ ...found, description: long(1_000) }))
    item.reports("audit-ended", { findings, durationMs: 1 })
    assert.isBelow(lastRecordBytes(item), recordBytesMax)
  })
})
