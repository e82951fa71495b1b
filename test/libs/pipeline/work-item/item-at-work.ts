/**
 * An item under test: commands go through the actor's own decision, and of every record that comes of it the events
 * are decoded as receivers do, the facts and the state are read back as they are stored, and the facts are replayed.
 */
import { assert } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type ActorRecord, decideRecord, type ActorState } from "#actors"
import { decodeEnvelope, type Envelope } from "#base"
import {
  WorkItemCommand,
  type WorkItemCommandOf,
  WorkItemFact,
  type WorkItemPhase,
  type WorkItemReport,
  type WorkItemReportKind,
  type WorkItemReportOf,
  type WorkItemSettings,
  workItemSettingsDefault,
  type WorkItemState
} from "#pipeline/contract"
import { workItem } from "#pipeline"
import { creation } from "../../../../dev/fixtures/work-item-creation.ts"

export { creation }

export const itemId = "0f8fad5b-d9cb-469f-a165-70867728950e"
export const freshId = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
export const checkId = "16fd2706-8baf-433b-82eb-8c7fada847da"
export const startMs = 1_700_000_000_000

export const usage = (costMicroUsd: number) => ({
  tokensInput: 100,
  tokensOutput: 10,
  tokensCached: 50,
  costMicroUsd,
  elapsedMs: 1_000
})

export const finding = (severity: "Info" | "Warning" | "Error") => ({
  auditor: "style",
  severity,
  title: "Rust",
  location: "gate.ts:7",
  description: "It creaks."
})

const decodeStored = Schema.decodeUnknownSync(workItem.state, { errors: "all" })
const decodeFacts = Schema.decodeUnknownSync(Schema.Array(WorkItemFact), { errors: "all" })
const decodeCommand = Schema.decodeUnknownSync(WorkItemCommand, { errors: "all" })

type Record = ActorRecord<WorkItemState | null, WorkItemFact>
type Fields<Kind extends WorkItemReportKind> = Omit<
  WorkItemReportOf<Kind>,
  "kind" | "reportId" | "workItemId" | "dispatchId" | "usage"
> &
  Partial<Pick<Extract<WorkItemReport, { readonly dispatchId: string }>, "dispatchId" | "usage">>

/** The item, and all that is known of it so far. */
export const itemAtWork = (settings: Partial<WorkItemSettings> = {}, changes: Parameters<typeof creation>[0] = {}) => {
  const itemSettings = { ...workItemSettingsDefault, ...settings }
  let held: ActorState<WorkItemState | null> = { state: null, recentCommands: [] }
  let nowMs = startMs
  let commands = 0
  const records: Array<Record> = []
  const events: Array<Envelope> = []

  const decideOn = (command: WorkItemCommand) => {
    commands += 1
    nowMs += 1
    decodeCommand(command)
    return decideRecord(workItem, held, command, { id: itemId, commandId: `c${commands}`, atMs: nowMs })
  }
  const state = () => {
    assert.isNotNull(held.state)
    return held.state
  }
  /** The names of the events that the command led to. */
  const does = (command: WorkItemCommand): ReadonlyArray<string> => {
    const decided = decideOn(command)
    if (Result.isFailure(decided)) return assert.fail(`${command._tag} was refused: ${decided.failure.message}`)
    const record = decided.success
    if (record === undefined) return []
    check(record, held.state, nowMs)
    held = record
    records.push(record)
    events.push(...record.events)
    return record.events.map(({ event }) => event)
  }
  /** Why the command is refused. */
  const refuses = (command: WorkItemCommand): string => {
    const decided = decideOn(command)
    if (Result.isSuccess(decided)) return assert.fail(`${command._tag} was not refused`)
    return decided.failure.message
  }
  const report = <Kind extends WorkItemReportKind>(kind: Kind, fields: Fields<Kind>): WorkItemCommandOf<"Report"> => {
    const dispatchId = state().lastDispatchId ?? "none"
    const of = kind === "recheck-completed" ? {} : { dispatchId }
    const said = { reportId: `r${commands}`, workItemId: itemId, ...of, kind, ...fields } as WorkItemReport
    return { _tag: "Report", report: said, jitter: 0.5, freshWorkItemId: freshId }
  }
  const dispatch = (
    phase: WorkItemPhase,
    changes: Partial<WorkItemCommandOf<"Dispatch">> = {}
  ): WorkItemCommandOf<"Dispatch"> => ({
    _tag: "Dispatch",
    dispatchId: `d${commands}`,
    phase,
    agent: "smith",
    model: null,
    agentInstanceId: null,
    runner: "forge-1",
    sandboxId: null,
    auditors: phase === "audit" ? ["style", "safety"] : [],
    settings: itemSettings,
    ...changes
  })
  const reports = <Kind extends WorkItemReportKind>(kind: Kind, fields: Fields<Kind>) => does(report(kind, fields))
  const takes = (phase: WorkItemPhase) => does(dispatch(phase))
  const passes = (ms: number) => void (nowMs += ms)
  const commits = () => reports("iteration-ended", { outcome: "committed", commitSha: "abc1234", durationMs: 5 })
  const audited = (...severities: ReadonlyArray<"Info" | "Warning" | "Error">) =>
    reports("audit-ended", { findings: severities.map((severity) => finding(severity)), durationMs: 7 })

  does(creation({ settings: itemSettings, ...changes }))
  return {
    state,
    held: () => held,
    nowMs: () => nowMs,
    records,
    events,
    last: (name: string) => events.findLast(({ event }) => event === name),
    does,
    refuses,
    report,
    reports,
    refusesReport: <Kind extends WorkItemReportKind>(kind: Kind, fields: Fields<Kind>) => refuses(report(kind, fields)),
    dispatch,
    takes,
    passes,
    commits,
    audited
  }
}
export type ItemAtWork = ReturnType<typeof itemAtWork>

const check = (record: Record, before: WorkItemState | null, atMs: number) => {
  for (const event of record.events) {
    const decoded = decodeEnvelope(event)
    if (Result.isFailure(decoded)) assert.fail(`${event.event}: ${JSON.stringify(decoded.failure)}`)
    else assert.deepStrictEqual([decoded.success.known, decoded.success.unknownFields], [true, []], event.event)
  }
  const { facts, state } = JSON.parse(JSON.stringify(record))
  assert.deepStrictEqual(decodeFacts(facts), record.facts)
  assert.deepStrictEqual(decodeStored(state), record.state)
  const context = { id: itemId, commandId: "again", atMs }
  assert.deepStrictEqual(
    record.facts.reduce((inner, fact) => workItem.evolve(inner, fact, context), before),
    record.state
  )
}

/** Brings an item to where the phase is waited for. */
export const readyFor = (phase: WorkItemPhase, settings: Partial<WorkItemSettings> = {}): ItemAtWork => {
  const item = itemAtWork(settings)
  if (phase === "work") return item
  if (phase === "delegation") {
    item.does({ _tag: "Delegate", trigger: "operator", reason: "too hard", note: null })
    return item
  }
  item.takes("work")
  item.commits()
  if (phase === "audit") return item
  item.takes("audit")
  item.audited(...(phase === "rework" ? (["Error"] as const) : []))
  if (phase === "rework" || phase === "merge") return item
  item.takes("merge")
  const outcome = phase === "conflict-rework" ? "conflict" : "merged"
  item.reports("merge-ended", { outcome, mergeSha: null, reason: null })
  return item
}

/** An item with a runner of that phase. */
export const inHand = (phase: WorkItemPhase, settings: Partial<WorkItemSettings> = {}): ItemAtWork => {
  const item = readyFor(phase, settings)
  item.takes(phase)
  return item
}
