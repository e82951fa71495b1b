/**
 * The rows behind lists, pickup and follow-ups, with their summaries parsed; and times and money in their wire form.
 */
import { summaryReader, type SummaryRow } from "#actors"
import { AgentSummary, isoTime, ProjectSummary, ReleaseSummary, WorkItemSummary } from "#contracts"

export type SeenWorkItem = SummaryRow<WorkItemSummary>
export type SeenAgent = SummaryRow<AgentSummary>
export type SeenProject = SummaryRow<ProjectSummary>
export type SeenRelease = SummaryRow<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readProjects = summaryReader(ProjectSummary)
export const readReleases = summaryReader(ReleaseSummary)

export const maybeTime = (epochMs: number | null): string | null => (epochMs === null ? null : isoTime(epochMs))

const microUsdPerUsd = 1_000_000
export const usdOf = (microUsd: number): number => microUsd / microUsdPerUsd
export const microUsdOf = (usd: number): number => Math.round(usd * microUsdPerUsd)
