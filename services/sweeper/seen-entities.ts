/** The view rows that sweeps read, with their summaries parsed. */
import { type AgentKindEntry, AgentSummary, ReleaseSummary, WorkItemSummary } from "#pipeline/contract"
import { summaryReader, type SummaryRow } from "#actors"

export type SeenWorkItem = SummaryRow<WorkItemSummary>
export type SeenAgent = SummaryRow<AgentSummary>
export type SeenRelease = SummaryRow<ReleaseSummary>

export const readWorkItems = summaryReader(WorkItemSummary)
export const readAgents = summaryReader(AgentSummary)
export const readReleases = summaryReader(ReleaseSummary)

/** Which agent kinds can take an item. */
export type EligibleAgents = (item: Pick<WorkItemSummary, "agent" | "assignedAgent">) => ReadonlyArray<string>

/** By the configured classes; without configured kinds a name stands for itself. */
export const eligibleAgents =
  (kinds: ReadonlyArray<Pick<AgentKindEntry, "Kind" | "Class">>): EligibleAgents =>
  ({ agent, assignedAgent }) => {
    if (assignedAgent !== null) return [assignedAgent]
    const members = kinds.filter((entry) => entry.Class === agent).map(({ Kind }) => Kind)
    return members.length === 0 ? [agent] : members
  }
