/** The actors of this role by the names that they have in LOG and on `commands.<entity>`. */
import type { ActorDefinition } from "#actors/definition"
import type { CommandEntity } from "#contracts"
import { agent } from "./agent/agent.ts"
import { project } from "./project/project.ts"
import { queue } from "./queue.ts"
import { release } from "./release/release.ts"
import { workItem } from "./work-item/work-item.ts"

export const definitions = { workitem: workItem, release, project, agent, queue } as const satisfies Record<
  CommandEntity,
  unknown
>

type Definitions = typeof definitions

/** What is known of an entity of that kind once something is. */
export type StateOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer State, infer _Command, infer _Fact> ? NonNullable<State> : never
export type CommandOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer _State, infer Command, infer _Fact> ? Command : never

export type FactOf<Entity extends CommandEntity> =
  Definitions[Entity] extends ActorDefinition<infer _State, infer _Command, infer Fact> ? Fact : never

const table: {
  readonly [Entity in CommandEntity]: ActorDefinition<StateOf<Entity> | null, CommandOf<Entity>, FactOf<Entity>>
} = definitions

export const definitionOf = <Entity extends CommandEntity>(
  entity: Entity
): ActorDefinition<StateOf<Entity> | null, CommandOf<Entity>, FactOf<Entity>> => table[entity]

/** What the entities are called to callers. */
export const entityNames: Readonly<Record<CommandEntity, string>> = {
  workitem: "work item",
  release: "release",
  project: "project",
  agent: "agent",
  queue: "queue"
}
