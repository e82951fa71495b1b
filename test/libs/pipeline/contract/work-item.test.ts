import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { faultsOf } from "#base"
import { WorkItemCommand, WorkItemReport, workItemReportKinds, workBranchOf } from "#pipeline/contract"

const of = { reportId: "r-1", workItemId: "0f8fad5b-d9cb-469f-a165-70867728950e", dispatchId: "d-1" }
const decodeReport = Schema.decodeUnknownResult(WorkItemReport, { errors: "all" })
const decodeCommand = Schema.decodeUnknownResult(WorkItemCommand, { errors: "all" })

const faultPaths = (decoded: Result.Result<unknown, Schema.SchemaError>) =>
  Result.isSuccess(decoded) ? [] : faultsOf(decoded.failure.issue).map(({ path }) => path)
const reportFaults = (fields: object) => faultPaths(decodeReport({ ...of, ...fields }))
const commandFaults = (command: object) => faultPaths(decodeCommand(command))

const suggestion = (title: string) => ({
  title,
  rationale: "",
  category: "docs",
  severity: "minor",
  estimatedEffort: "tiny",
  filesReferenced: []
})
const suggesting = (title: string) => ({ kind: "suggestions-made", suggestions: [suggestion(title)] })
const asking = (questionId: string, questionText: string) => ({
  kind: "questions-asked",
  questions: [{ questionId, questionText }]
})
const cancelling = (reason: string | null, resolutionSha: string | null) => ({ _tag: "Cancel", reason, resolutionSha })

describe("a work item's report", () => {
  it("is known by its kind, which fits a subject", () => {
    assert.strictEqual(new Set(workItemReportKinds).size, 19)
    for (const kind of workItemReportKinds) assert.match(kind, /^[a-z]+(-[a-z]+)*$/u)
    assert.isNotEmpty(reportFaults({ kind: "unheard-of" }))
  })

  it("with faults gets each one with its place", () => {
    const ended = { kind: "iteration-ended", outcome: "perhaps", commitSha: "not hex", durationMs: -1 }
    assert.sameMembers(reportFaults(ended), ["/outcome", "/commitSha", "/durationMs"])
  })

  it("keeps to the limits of suggestions and questions", () => {
    assert.deepStrictEqual(reportFaults(suggesting("x".repeat(120))), [])
    assert.deepStrictEqual(reportFaults(suggesting("x".repeat(121))), ["/suggestions/0/title"])
    assert.deepStrictEqual(reportFaults(asking("a-B_9".padEnd(64, "x"), "x".repeat(4_000))), [])
    assert.deepStrictEqual(reportFaults(asking("x".repeat(65), "?")), ["/questions/0/questionId"])
    assert.deepStrictEqual(reportFaults(asking("no spaces", "?")), ["/questions/0/questionId"])
    assert.deepStrictEqual(reportFaults(asking("q", "x".repeat(4_001))), ["/questions/0/questionText"])
  })

  it("may state its cost, in whole micro-USD", () => {
    const spent = { tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd: 1, elapsedMs: 1 }
    assert.deepStrictEqual(reportFaults({ kind: "progress", usage: spent }), [])
    assert.deepStrictEqual(reportFaults({ kind: "progress", usage: { ...spent, costMicroUsd: 0.5 } }), [
      "/usage/costMicroUsd"
    ])
  })
})

describe("a work item's command", () => {
  it("keeps to the limits of a cancellation", () => {
    for (const good of [
      cancelling(null, null),
      cancelling("x".repeat(500), "abcdef0"),
      cancelling("", "F".repeat(40))
    ]) {
      assert.deepStrictEqual(commandFaults(good), [])
    }
    assert.deepStrictEqual(commandFaults(cancelling("x".repeat(501), "abcdef")), ["/reason", "/resolutionSha"])
    assert.deepStrictEqual(commandFaults(cancelling(null, "f".repeat(41))), ["/resolutionSha"])
    assert.deepStrictEqual(commandFaults(cancelling(null, "ghijklm")), ["/resolutionSha"])
  })

  it("recovers an item for one of three reasons only", () => {
    assert.deepStrictEqual(commandFaults({ _tag: "Recover", reason: "a hunch", dispatchId: null }), ["/reason"])
  })
})

describe("a work branch", () => {
  it("has the prefix and the item's short id", () => {
    assert.strictEqual(workBranchOf("starling/fix", of.workItemId), "starling/fix/0f8fad5b")
  })
})
