/** Which agent kinds may take an item, by the configured classes; without configured kinds a name stands for itself. */
import type { AgentKindEntry, WorkItemSummary } from "#contracts"

export type EligibleAgents = (item: Pick<WorkItemSummary, "agent" | "assignedAgent">) => ReadonlyArray<string>

export const eligibleAgents =
  (kinds: ReadonlyArray<Pick<AgentKindEntry, "Kind" | "Class">>): EligibleAgents =>
  ({ agent, assignedAgent }) => {
    if (assignedAgent !== null) return [assignedAgent]
    const members = kinds.filter((entry) => entry.Class === agent).map(({ Kind }) => Kind)
    return members.length === 0 ? [agent] : members
  }
