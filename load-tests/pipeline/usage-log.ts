/**
 * A log of paid work: records as the work item's own actor makes them, each with what one report cost, spread over 31
 * days and some projects. What they add up to is known beforehand.
 */
import type { JetStreamClient } from "@nats-io/jetstream"
import { Result } from "effect"
import { decideRecord, type ActorState } from "#actors"
import {
  hourOf,
  hourlySpendHours,
  type WorkItemCommand,
  workItemSettingsDefault,
  type WorkItemState
} from "#pipeline/contract"
import { workItem } from "#pipeline"

const hourMs = 3_600_000
const spreadMs = 31 * 24 * hourMs
export const projects = 50
const id = "0f8fad5b-d9cb-469f-a165-70867728950e"

const projectOf = (index: number) => `project-${index % projects}`
const costOf = (index: number) => (index * 7_919) % 3_000_000

/** A record of an item at work, as JSON, with holes for what differs. */
const template = (nowMs: number) => {
  const commands: ReadonlyArray<WorkItemCommand> = [
    {
      _tag: "Create",
      title: "Mend the gate of the garden before the winter comes",
      instructions: "The gate creaks, and does not close. ".repeat(12),
      projectId: "@project@",
      project: { id: "@project@", displayName: "The garden", repositoryUrl: "https://git.example/garden.git" },
      agent: "smith",
      baseBranch: "main",
      externalId: "TICKET-1",
      releaseId: null,
      kind: "act",
      originCheckWorkItemId: null,
      priority: 5,
      settings: workItemSettingsDefault,
      workBranchPrefix: "starling"
    },
    {
      _tag: "Dispatch",
      dispatchId: "d1",
      phase: "work",
      agent: "smith",
      model: null,
      agentInstanceId: null,
      runner: "forge-1",
      sandboxId: null,
      auditors: [],
      settings: workItemSettingsDefault
    },
    {
      _tag: "Report",
      jitter: 0,
      freshWorkItemId: id,
      report: {
        kind: "progress",
        reportId: "r1",
        workItemId: id,
        dispatchId: "d1",
        usage: { tokensInput: 1, tokensOutput: 1, tokensCached: 1, costMicroUsd: 123_454_321, elapsedMs: 1 }
      }
    }
  ]
  let held: ActorState<WorkItemState | null> = { state: null, recentCommands: [] }
  let text = ""
  for (const [index, command] of commands.entries()) {
    const decided = decideRecord(workItem, held, command, { id, commandId: `c${index}`, atMs: nowMs })
    if (Result.isFailure(decided) || decided.success === undefined) throw new Error("the example is refused")
    // As long as one that has come some way.
    const recentCommands = Array.from({ length: 32 }, () => "0f8fad5b-d9cb-469f-a165-70867728950e")
    held = { ...decided.success, recentCommands }
    text = JSON.stringify({ ...decided.success, recentCommands })
  }
  return text.replace(`"atMs":${nowMs}`, '"atMs":@atMs@').split(/(@project@|@atMs@|123454321)/u)
}

export interface UsageLog {
  readonly recordBytes: number
  readonly expected: ReadonlyMap<string, number>
  /** Publishes so many records from `index` on; answers with the milliseconds it took. */
  readonly publish: (client: JetStreamClient, index: number, count: number) => Promise<number>
}

export const usageLog = (nowMs: number, total: number): UsageLog => {
  const parts = template(nowMs)
  const expected = new Map<string, number>()
  const atMsOf = (index: number) => Math.floor(nowMs - spreadMs + (Math.min(index, total) * spreadMs) / total)
  const body = (index: number) => {
    const [project, atMs, cost] = [projectOf(index), String(atMsOf(index)), String(costOf(index))]
    const fill = (part: string) =>
      part === "@project@" ? project : part === "@atMs@" ? atMs : part === "123454321" ? cost : part
    return parts.map(fill).join("")
  }
  const publish = async (client: JetStreamClient, from: number, count: number) => {
    const began = performance.now()
    let next = from
    const work = async () => {
      while (next < from + count) {
        const index = next++
        await client.publish(`log.workitem.i${index % 100_000}`, body(index))
        if (hourOf(nowMs) - hourOf(atMsOf(index)) > hourlySpendHours) continue
        expected.set(projectOf(index), (expected.get(projectOf(index)) ?? 0) + costOf(index))
      }
    }
    await Promise.all(Array.from({ length: 512 }, work))
    return performance.now() - began
  }
  return { recordBytes: body(0).length, expected, publish }
}
