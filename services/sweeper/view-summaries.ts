/** The rows that sweeps go by, with their summaries read. */
import { type Seen, summaryReader } from "#actor"
import { AgentSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export type SeenWorkItem = Seen<WorkItemSummary>
export type SeenAgent = Seen<AgentSummary>
export type SeenRelease = Seen<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readReleases = summaryReader(ReleaseSummary)
