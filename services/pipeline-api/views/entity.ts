/** Any entity in the API's form, for senders of commands over the bus. Pure. */
import type { AgentState, CommandEntity, ProjectState, QueueState, ReleaseState, WorkItemState } from "#contracts"
import type { StateOf } from "#pipeline"
import { agentView, queueView } from "./fleet.ts"
import { projectView } from "./project.ts"
import { releaseView } from "./release.ts"
import { workItemView } from "./work-item.ts"

interface EntityAddress {
  readonly id: string
  readonly sequence: number
  readonly nowMs: number
}

/** `state` null: the entity is unknown, and the command changed nothing. */
export const entityView = <Entity extends CommandEntity>(
  entity: Entity,
  state: StateOf<Entity> | null,
  { id, sequence, nowMs }: EntityAddress
): Readonly<Record<string, unknown>> => {
  const known: unknown = state
  switch (entity) {
    case "agent":
      return { ...agentView(id, known as AgentState | null, { sequence, nowMs }) }
    case "queue":
      return { ...queueView(known as QueueState | null, sequence) }
    case "project":
      return known === null ? {} : { ...projectView(id, known as ProjectState, { sequence }) }
    case "release":
      return known === null ? {} : { ...releaseView(id, known as ReleaseState, sequence) }
    default:
      return known === null ? {} : { ...workItemView(id, known as WorkItemState, sequence) }
  }
}
