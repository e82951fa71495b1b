/**
 * Routing: which agents can take which work, by the configuration; whether they take work now, by their actors; and
 * which agent stands in for one that does not.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { Precondition } from "#actors"
import type { BusError } from "#bus"
import { agentIdOf, type Agents, type AgentStatus, type AgentState, type WorkItemPhase } from "#pipeline/contract"
import { agentHold, agentHolds } from "#pipeline"
import { Configuration } from "#configuration"
import { Commands } from "./Commands.ts"

export interface AgentHold {
  /** What holds the agent back from new work; undefined if nothing does. */
  readonly hold: Exclude<AgentStatus, "Available"> | undefined
  readonly reason: string | null
  /** The hold is valid as long as these preconditions are. */
  readonly preconditions: ReadonlyArray<Precondition>
}

export class Routing extends Context.Service<
  Routing,
  {
    /** For an instance, the hold of its kind counts too. */
    readonly holdOn: (agentKind: string, agentInstanceId: string | null) => Effect.Effect<AgentHold, BusError>
    /** Another member of the class that takes that phase now, in configuration order. */
    readonly substitute: (
      name: string,
      agentKind: string,
      phase: WorkItemPhase
    ) => Effect.Effect<string | undefined, BusError>
  }
>()("starling/pipeline-api/Routing") {
  static readonly layer = Layer.effect(
    Routing,
    Effect.gen(function* () {
      const commands = yield* Commands
      const roster = agentRoster((yield* Configuration).Agents)

      const holdOn = Effect.fn("Routing.holdOn")(function* (agentKind: string, agentInstanceId: string | null) {
        const ids = [agentKind, ...(agentInstanceId === null ? [] : [agentIdOf(agentKind, agentInstanceId)])]
        const nowMs = yield* Clock.currentTimeMillis
        const held = yield* Effect.forEach(ids, (id) => commands.read("agent", id), { concurrency: 2 })
        const states = held.map((each) => Option.getOrNull(Option.map(each, ({ state }) => state)))
        const holding = states.find((state) => agentHold(state, nowMs) !== undefined) ?? null
        return {
          hold: agentHold(holding, nowMs),
          reason: reasonOf(holding, nowMs),
          preconditions: ids.map((id, index) => ({
            entity: "agent",
            id,
            sequence: Option.match(held[index] ?? Option.none(), {
              onNone: () => 0,
              onSome: ({ sequence }) => sequence
            })
          }))
        }
      })

      const substitute = Effect.fn("Routing.standIn")(function* (
        name: string,
        agentKind: string,
        phase: WorkItemPhase
      ) {
        const others = roster.members(name).filter((kind) => kind !== agentKind && roster.takesPhase(kind, phase))
        for (const kind of others) {
          const { hold } = yield* holdOn(kind, null)
          if (hold === undefined) return kind
        }
        return undefined
      })
      return Routing.of({ holdOn, substitute })
    })
  )
}

const reasonOf = (agent: AgentState | null, nowMs: number): string | null =>
  (agent === null ? undefined : agentHolds(agent, nowMs)[0])?.reason ?? null

export interface AgentRoster {
  /** Whether a kind or a class of that name exists. */
  readonly isKnown: (name: string) => boolean
  readonly isKind: (kind: string) => boolean
  /** The kinds that a kind or a class stands for, in order. */
  readonly members: (name: string) => ReadonlyArray<string>
  /** The names on items that a kind can take: its own and its class's. */
  readonly namesFor: (kind: string) => ReadonlyArray<string>
  readonly takesPhase: (kind: string, phase: WorkItemPhase) => boolean
  readonly hasInstances: (kind: string) => boolean
  readonly preferredModel: (kind: string) => string | null
  readonly kinds: ReadonlyArray<string>
  readonly usual: string | undefined
}

/**
 * Members of a class stand in for each other, in the order of the list. Without configured agents, any kind can be
 * named and can ask, and none stands in for another. Pure.
 */
export const agentRoster = ({ Kinds, Default }: Pick<Agents, "Kinds" | "Default">): AgentRoster => {
  const byKind = new Map(Kinds.map((entry) => [entry.Kind, entry]))
  const byClass = new Map<string, Array<string>>()
  for (const { Kind, Class } of Kinds) {
    if (Class !== undefined) byClass.set(Class, [...(byClass.get(Class) ?? []), Kind])
  }
  const isOpen = Kinds.length === 0
  return {
    isKnown: (name) => isOpen || byKind.has(name) || byClass.has(name),
    isKind: (kind) => (isOpen ? !kind.includes("/") : byKind.has(kind)),
    members: (name) => byClass.get(name) ?? (isOpen || byKind.has(name) ? [name] : []),
    namesFor: (kind) => {
      const group = byKind.get(kind)?.Class
      return group === undefined ? [kind] : [kind, group]
    },
    takesPhase: (kind, phase) => byKind.get(kind)?.Phases.includes(phase) ?? isOpen,
    hasInstances: (kind) => (byKind.get(kind)?.Instances.length ?? 0) > 1,
    preferredModel: (kind) => byKind.get(kind)?.Models[0] ?? null,
    kinds: Kinds.map(({ Kind }) => Kind),
    usual: Default
  }
}
