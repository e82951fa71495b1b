import { assert, describe, it } from "@effect/vitest"
import {
  agentReasonCharactersMax,
  exampleReport,
  findingsMax,
  isReportKind,
  isRunnerReport,
  workItemReportKinds
} from "#pipeline/contract"
import { subjects } from "#base"
import { example, faultPaths, kinds } from "./report-material.ts"

const many = <A>(count: number, entry: A) => Array.from({ length: count }, () => entry)
const finding = { auditor: "a", severity: "Error", title: "t", location: "a.ts:1", description: "d" }
const question = { questionId: "q1", questionText: "which?" }

describe("the table of reports", () => {
  it("names each kind as a token of a subject, and as the report's own kind", () => {
    assert.strictEqual(kinds.length, 33)
    for (const kind of kinds) {
      assert.match(kind, /^[a-z]+(-[a-z]+)*$/u)
      assert.strictEqual(subjects.report(kind), `reports.${kind}`)
      assert.strictEqual(example(kind)["kind"], kind)
    }
  })

  it("has every report that a work item accepts", () => {
    assert.includeMembers(kinds, [...workItemReportKinds])
    const ofRunners = kinds.filter((kind) => {
      const report = exampleReport(kind)
      return report !== undefined && isRunnerReport(report)
    })
    assert.sameMembers(ofRunners, [...workItemReportKinds])
  })

  it("accepts its own example of every kind", () => {
    for (const kind of kinds) assert.deepStrictEqual(faultPaths(kind, example(kind)), [], kind)
  })

  it("does not accept an object's built-in property name as a kind", () => {
    for (const kind of ["constructor", "toString", "__proto__", ""]) assert.isFalse(isReportKind(kind), kind)
  })
})

describe("an incoming report", () => {
  it("has a head, whatever its kind", () => {
    for (const kind of kinds) {
      for (const key of ["kind", "reportId", "atMs"]) {
        const { [key]: _removed, ...rest } = example(kind)
        assert.include(faultPaths(kind, rest), `/${key}`, kind)
      }
      assert.include(faultPaths(kind, { ...example(kind), reportId: "not-a-uuid" }), "/reportId", kind)
      assert.include(faultPaths(kind, { ...example(kind), atMs: "2026-11-20T12:00:00Z" }), "/atMs", kind)
    }
  })

  it("has the kind of its subject", () => {
    assert.deepStrictEqual(faultPaths("progress", example("preempted")), ["/kind"])
    assert.deepStrictEqual(faultPaths("levitated", example("progress")), ["/kind"])
  })

  it.each([
    ["iteration-ended", { commitSha: "abc12" }, "/commitSha"],
    ["iteration-ended", { outcome: "fine" }, "/outcome"],
    ["progress", { usage: { ...(example("progress")["usage"] as object), costMicroUsd: 0.5 } }, "/usage/costMicroUsd"],
    ["progress", { usage: { ...(example("progress")["usage"] as object), costMicroUsd: 1e13 } }, "/usage/costMicroUsd"],
    ["audit-ended", { findings: many(findingsMax + 1, finding) }, "/findings"],
    ["audit-ended", { findings: [{ ...finding, description: "d".repeat(1_001) }] }, "/findings/0/description"],
    ["audit-ended", { findings: [finding, { ...finding, severity: "Fatal" }] }, "/findings/1/severity"],
    ["questions-asked", { questions: [] }, "/questions"],
    ["questions-asked", { questions: many(9, question) }, "/questions"],
    ["questions-asked", { questions: [{ ...question, questionId: "a b" }] }, "/questions/0/questionId"],
    ["questions-asked", { questions: [{ ...question, questionText: "x".repeat(4_001) }] }, "/questions/0/questionText"],
    ["quota-hit", { resetAtMs: -1 }, "/resetAtMs"],
    ["smoke-result", { reason: "r".repeat(agentReasonCharactersMax + 1) }, "/reason"],
    ["smoke-result", { category: "Fatal" }, "/category"],
    ["quota-forecast", { usableQuotaPct: 101 }, "/usableQuotaPct"],
    ["sandbox-leak-detected", { name: "other-1" }, "/name"],
    ["sandbox-leak-detected", { name: "service-has space" }, "/name"],
    ["sandbox-leak-detected", { reason: "Not A Code" }, "/reason"],
    ["sandbox-leak-detected", { ageMinutes: -1 }, "/ageMinutes"],
    ["disk-deferred", { mountPath: "" }, "/mountPath"],
    ["disk-deferred", { freeBytes: 1.5 }, "/freeBytes"],
    ["release-published", { mergeSha: "main" }, "/mergeSha"],
    ["release-published", { forgeReleaseUrl: "javascript:alert(1)" }, "/forgeReleaseUrl"],
    ["release-deep-audit-iteration-ended", { iteration: 1_001 }, "/iteration"],
    ["release-deep-audit-iteration-ended", { releaseId: "autumn" }, "/releaseId"],
    ["pull-request-mergeability", { mergeability: "maybe" }, "/mergeability"],
    ["pull-request-mergeability", { pullRequestNumber: 0 }, "/pullRequestNumber"]
  ])("is refused when %s carries %o", (kind, changes, path) => {
    assert.deepStrictEqual(faultPaths(kind, { ...example(kind), ...changes }), [path])
  })

  it.each([
    ["audit-ended", { findings: many(findingsMax, { ...finding, description: "d".repeat(1_000) }) }],
    ["audit-ended", { findings: [] }],
    ["questions-asked", { questions: many(8, { ...question, questionText: "x".repeat(4_000) }) }],
    ["smoke-result", { workItemId: null, agentInstanceId: null, reason: null, epoch: null }],
    ["sandbox-provisioning-deferred", { workItemId: null, dispatchId: null }],
    ["progress", { mood: "calm" }]
  ])("is accepted when %s is at its limits or has unknown fields", (kind, changes) => {
    assert.deepStrictEqual(faultPaths(kind, { ...example(kind), ...changes }), [])
  })

  it("gets every fault at once", () => {
    const paths = faultPaths("push-ended", { kind: "push-ended", workItemId: 7, outcome: "lost" })
    assert.includeMembers(paths, ["/reportId", "/atMs", "/workItemId", "/dispatchId", "/outcome", "/reason"])
  })

  it("is refused for every kind when it is not an object", () => {
    for (const kind of kinds) {
      for (const input of [null, "x", 1, [], undefined]) assert.isNotEmpty(faultPaths(kind, input), kind)
    }
  })
})
