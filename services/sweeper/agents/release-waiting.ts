/**
 * Items that wait for a paused agent although one takes work: parked in the moment in which the agent resumed, say.
 * Whoever follows the log lets the others go; these have been overlooked. Pure.
 */
import type { AgentKindEntry } from "#contracts"
import type { EligibleAgents } from "../eligible-agents.ts"
import { type PlannedCommand, toWorkItem } from "../planned-command.ts"
import type { SeenAgent, SeenWorkItem } from "../view-summaries.ts"

export interface WaitingInput {
  readonly items: ReadonlyArray<SeenWorkItem>
  readonly agents: ReadonlyArray<SeenAgent>
  readonly kinds: ReadonlyArray<Pick<AgentKindEntry, "Kind" | "Instances">>
  readonly eligible: EligibleAgents
  readonly nowMs: number
  /** An item is left to whoever follows the log for so long. */
  readonly patienceMs: number
}

export const overlookedItems = (input: WaitingInput): ReadonlyArray<PlannedCommand> => {
  const { items, eligible, nowMs, patienceMs } = input
  const isPaused = pausedKinds(input)
  return items
    .filter(({ updatedAtMs }) => nowMs - updatedAtMs >= patienceMs)
    .filter(({ summary }) => !eligible(summary).every(isPaused))
    .map((item) => toWorkItem(item, "agent-takes-work", { _tag: "AgentResumed" }))
}

/** A kind is paused as such, or when each of its instances is. */
const pausedKinds = ({ agents, kinds, nowMs }: WaitingInput) => {
  const paused = new Set(
    agents
      .filter(({ summary: { pause } }) => pause !== null && (pause.expiresAtMs === null || pause.expiresAtMs > nowMs))
      .map(({ id }) => id)
  )
  return (kind: string) => {
    const instances = kinds.find((entry) => entry.Kind === kind)?.Instances ?? []
    return paused.has(kind) || (instances.length > 0 && instances.every((name) => paused.has(`${kind}/${name}`)))
  }
}
