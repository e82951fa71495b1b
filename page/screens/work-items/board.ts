/** Work items on a board: which column a state stands in, and how it looks. */
import type { Tone } from "../../design/tone.ts"

export type ColumnName = "Needs you" | "Waiting" | "In progress" | "Done" | "Not completed"

export const columnNames: ReadonlyArray<ColumnName> = ["Needs you", "Waiting", "In progress", "Done", "Not completed"]

interface Column {
  readonly column: ColumnName
  readonly tone: Tone
  readonly words: string
}

const needsYou = (words: string): Column => ({ column: "Needs you", tone: "wait", words })
const waiting = (words: string): Column => ({ column: "Waiting", tone: "quiet", words })
const atWork = (words: string): Column => ({ column: "In progress", tone: "wait", words })
const done = (words: string): Column => ({ column: "Done", tone: "good", words })
const ended = (words: string, tone: Tone = "bad"): Column => ({ column: "Not completed", tone, words })

const places: Readonly<Record<string, Column>> = {
  Queued: waiting("queued"),
  Working: atWork("working"),
  WorkComplete: atWork("work complete"),
  Auditing: atWork("auditing"),
  AuditPassed: atWork("audit passed"),
  Reworking: atWork("reworking"),
  Merging: atWork("merging"),
  Merged: atWork("merged"),
  UpstreamPushing: atWork("pushing upstream"),
  ConflictRework: atWork("reworking a conflict"),
  NeedsOperatorInput: needsYou("waits for an answer"),
  Delegated: needsYou("delegated"),
  MergeConflictResolutionFailed: needsYou("merge conflict"),
  WaitingForAgentResume: waiting("waits for its agent"),
  WaitingForTransientRetry: waiting("waits to be tried again"),
  WaitingForQuotaReset: waiting("waits for a quota"),
  Done: done("done"),
  NoActionRequired: done("nothing to do"),
  Failed: ended("failed"),
  AuditFailed: ended("audit failed"),
  AbandonedAfterRecoveryAttempts: ended("given up"),
  Cancelled: ended("cancelled", "quiet")
}

/** A state that this page does not know stands where somebody sees it. */
export const placeOf = (state: string): Column => places[state] ?? needsYou(state)

/** Whether nothing more happens to it by itself. */
export const hasEnded = (state: string): boolean => {
  const { column } = placeOf(state)
  return column === "Done" || column === "Not completed"
}

interface Row {
  readonly state: string
  readonly updatedAt: string
}

/** Each column with its items, what changed last first. */
export const boardOf = <R extends Row>(rows: ReadonlyArray<R>): ReadonlyMap<ColumnName, ReadonlyArray<R>> => {
  const newestFirst = rows.toSorted((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))
  return new Map(columnNames.map((name) => [name, newestFirst.filter(({ state }) => placeOf(state).column === name)]))
}
