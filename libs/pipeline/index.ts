/**
 * The actors of the pipeline. Each decides on commands, turns facts into state and events, and makes a row for lists.
 * All of it is pure: the command carries randomness and external input, and the record carries the time.
 */
import type { ActorDefinition } from "#actors/definition"
import type { CommandEntity } from "#pipeline/contract"
import { agent } from "./agent/agent.ts"
import { project } from "./project/project.ts"
import { queue } from "./queue.ts"
import { release } from "./release/release.ts"
import { workItem } from "./work-item/work-item.ts"

export { agent, agentProjection } from "./agent/agent.ts"
export { agentHold, agentHolds } from "./agent/holds.ts"

export { isQueuePaused, projectHolds } from "./project/holds.ts"
export {
  capDeferral,
  type InFlight,
  project,
  projectProjection,
  projectSnapshot,
  workItemSettingsOf
} from "./project/project.ts"

export { queue, queueProjection } from "./queue.ts"

export { release, releaseProjection } from "./release/release.ts"

export { eventItem } from "./work-item/concern.ts"
export { progressGrainMs } from "./work-item/dispatch.ts"
export { workItemOfSuggestion } from "./work-item/questions.ts"
export { isEnded, isReady } from "./work-item/states.ts"
export { workItem, workItemProjection } from "./work-item/work-item.ts"

/** The actors by their names in LOG and on `commands.<entity>`. */
export const definitions = { workitem: workItem, release, project, agent, queue } as const satisfies Record<
  CommandEntity,
  unknown
>

type Definitions = typeof definitions

/** The state of an entity of that kind, once it exists. */
export type StateOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer State, infer _Command, infer _Fact> ? NonNullable<State> : never
export type CommandOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer _State, infer Command, infer _Fact> ? Command : never

type FactOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer _State, infer _Command, infer Fact> ? Fact : never

const table: {
  readonly [Entity in CommandEntity]: ActorDefinition<StateOf<Entity> | null, CommandOf<Entity>, FactOf<Entity>>
} = definitions

export const definitionOf = <Entity extends CommandEntity>(
  entity: Entity
): ActorDefinition<StateOf<Entity> | null, CommandOf<Entity>, FactOf<Entity>> => table[entity]

/** The names of the entities for callers. */
export const entityNames: Readonly<Record<CommandEntity, string>> = {
  workitem: "work item",
  release: "release",
  project: "project",
  agent: "agent",
  queue: "queue"
}
