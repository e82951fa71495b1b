/** The rows that lists, pickup and follow-ups go by, with their summaries read. */
import { type SummaryRow, summaryReader } from "#actors"
import { AgentSummary, ProjectSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export type SeenWorkItem = SummaryRow<WorkItemSummary>
export type SeenAgent = SummaryRow<AgentSummary>
export type SeenProject = SummaryRow<ProjectSummary>
export type SeenRelease = SummaryRow<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readProjects = summaryReader(ProjectSummary)
export const readReleases = summaryReader(ReleaseSummary)
