/** The rows that lists, pickup and follow-ups go by, with their summaries read. */
import { type Seen, summaryReader } from "#actor"
import { AgentSummary, ProjectSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export type SeenWorkItem = Seen<WorkItemSummary>
export type SeenAgent = Seen<AgentSummary>
export type SeenProject = Seen<ProjectSummary>
export type SeenRelease = Seen<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readProjects = summaryReader(ProjectSummary)
export const readReleases = summaryReader(ReleaseSummary)
