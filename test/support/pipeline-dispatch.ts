/** A dispatch as a runner gets it, for a repository; and the last report of a runner on it. */
import { Effect, Option } from "effect"
import { StreamReader } from "#bus"
import { decodeReport, type PickupDispatch, type Report, workItemSettingsDefault } from "#pipeline/contract"
import { exampleAgent, type RunnerOptions } from "../../dev/runner/options.ts"
import type { TestRepository } from "./pipeline-repository.ts"

export const dispatchOf = (repository: TestRepository, changes: Partial<PickupDispatch> = {}): PickupDispatch => {
  const id = crypto.randomUUID()
  const project = { id: "p-1", displayName: "Project", repositoryUrl: repository.url }
  return {
    _tag: "Dispatch",
    dispatchId: crypto.randomUUID(),
    dispatchedAtMs: Date.now(),
    phase: "work",
    iteration: 1,
    agent: "coder",
    model: null,
    auditors: [],
    workItem: {
      id,
      externalId: null,
      projectId: project.id,
      title: "Say what it is",
      agent: "coder",
      repositoryUrl: repository.url,
      baseBranch: "main",
      workBranch: `starling/${id.slice(0, 8)}`,
      state: "Working",
      createdAt: "2026-11-20T12:00:00.000Z",
      updatedAt: "2026-11-20T12:00:00.000Z",
      lastError: null,
      upstreamPushAttempts: 0
    },
    project,
    kind: "act",
    instructions: null,
    originCheckWorkItemId: null,
    releaseId: null,
    settings: workItemSettingsDefault,
    replies: [],
    findings: [],
    commitSha: null,
    mergeSha: null,
    pullRequest: null,
    lastError: null,
    progressEveryMs: 30_000,
    progressTimeoutMs: 180_000,
    phaseTimeoutMs: 60_000,
    stuckAfterMs: 60_000,
    auditorTimeoutMs: 60_000,
    minFreeBytes: 0,
    ...changes
  }
}

export const runnerOptions = (folder: string, changes: Partial<RunnerOptions> = {}): RunnerOptions => ({
  name: "test-runner",
  agents: ["coder"],
  agentInstanceId: null,
  model: null,
  phases: ["work", "audit", "rework", "merge", "upstream", "conflict-rework", "delegation"],
  atOnce: 1,
  folder,
  work: exampleAgent,
  audit: exampleAgent,
  resolve: exampleAgent,
  verify: exampleAgent,
  forge: undefined,
  watchForgeMs: 0,
  waitMs: 1_000,
  ...changes
})

/** The reports of a dispatch in REPORTS, in order. */
export const reportsOf = Effect.fnUntraced(function* (dispatchId: string) {
  const reader = yield* StreamReader
  const { firstSequence, lastSequence } = yield* reader.bounds("REPORTS")
  const found: Array<Report> = []
  for (let sequence = firstSequence; sequence <= lastSequence; sequence += 1) {
    const message = yield* reader.next("REPORTS", sequence)
    if (Option.isNone(message)) break
    sequence = message.value.sequence
    const report = readReport(message.value.subject, message.value.data)
    if ("dispatchId" in report && report.dispatchId === dispatchId) found.push(report)
  }
  return found
})

const readReport = (subject: string, data: Uint8Array): Report => {
  const decoded = decodeReport(subject.replace("reports.", ""), JSON.parse(new TextDecoder().decode(data)))
  if (decoded._tag === "Success") return decoded.success
  throw new Error(`a report that breaks its schema: ${JSON.stringify(decoded.failure)}`)
}
