/**
 * Rows of the views with their summaries read. A row that cannot be read is of another version of the fleet: it is
 * passed over, and seen again once the projector is of this one.
 */
import { Option, Schema } from "effect"
import type { ViewRow } from "#actor"
import { AgentSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export interface Seen<Summary> extends Omit<ViewRow, "summary"> {
  readonly summary: Summary
}

export type SeenWorkItem = Seen<WorkItemSummary>
export type SeenAgent = Seen<AgentSummary>
export type SeenRelease = Seen<ReleaseSummary>

const reader = <Summary>(schema: Schema.Codec<Summary, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (rows: ReadonlyArray<ViewRow>): ReadonlyArray<Seen<Summary>> =>
    rows.flatMap((row) => {
      const summary = decode(row.summary)
      return Option.isSome(summary) ? [{ ...row, summary: summary.value }] : []
    })
}

export const readWorkItems = reader(WorkItemSummary)
export const readAgents = reader(AgentSummary)
export const readReleases = reader(ReleaseSummary)
