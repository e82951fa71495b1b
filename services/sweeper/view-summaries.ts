/** The rows that sweeps go by, with their summaries read. */
import { type SummaryRow, summaryReader } from "#actors"
import { AgentSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export type SeenWorkItem = SummaryRow<WorkItemSummary>
export type SeenAgent = SummaryRow<AgentSummary>
export type SeenRelease = SummaryRow<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readReleases = summaryReader(ReleaseSummary)
