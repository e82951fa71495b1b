import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { envelopeBytesMax, recordBytesMax, reportBytesMax } from "#bus"
import { decodeReport, exampleReport, findingsMax, questionsPerReportMax, suggestionsPerReportMax } from "#contracts"

const text = (length: number) => "x".repeat(length)
const many = <A>(count: number, entry: A) => Array.from({ length: count }, () => entry)

const largest: ReadonlyArray<readonly [string, object]> = [
  [
    "audit-ended",
    {
      findings: many(findingsMax, {
        auditor: text(100),
        severity: "Warning",
        title: text(200),
        location: text(300),
        description: text(1_000)
      })
    }
  ],
  ["questions-asked", { questions: many(questionsPerReportMax, { questionId: text(64), questionText: text(4_000) }) }],
  [
    "suggestions-made",
    {
      suggestions: many(suggestionsPerReportMax, {
        title: text(120),
        rationale: text(4_000),
        category: "test-coverage",
        severity: "important",
        estimatedEffort: "medium",
        filesReferenced: many(32, text(256))
      })
    }
  ]
]

describe("a report as large as its schema allows, in plain characters", () => {
  it.each(largest)("fits into one message: %s", (kind, fields) => {
    const report = { ...exampleReport(kind), ...fields }
    assert.isTrue(Result.isSuccess(decodeReport(kind, report)))
    assert.isBelow(new TextEncoder().encode(JSON.stringify(report)).length, reportBytesMax)
  })

  it("leaves room for its follow-ups", () => {
    // The longest title, branches and addresses of an item, each character in three bytes.
    assert.isAtMost(reportBytesMax, envelopeBytesMax - 3 * 8_192)
    // As a fact, and as the events made of it, beside the state.
    assert.isBelow(3 * reportBytesMax, recordBytesMax)
  })
})
