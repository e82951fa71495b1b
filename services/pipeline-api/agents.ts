/**
 * Which agents may take what, as configured. Members of a class stand in for each other, in the order of the list.
 * Where no agents are configured any kind may be named and may ask, and none stands in for another. Pure.
 */
import type { Agents, WorkItemPhase } from "#contracts"

export interface AgentRoster {
  /** A kind or a class that there is. */
  readonly isKnown: (name: string) => boolean
  readonly isKind: (kind: string) => boolean
  /** The kinds that a kind or a class stands for, in order. */
  readonly members: (name: string) => ReadonlyArray<string>
  /** Of the names that items may carry, those that a kind may take: its own and its class's. */
  readonly namesFor: (kind: string) => ReadonlyArray<string>
  readonly takesPhase: (kind: string, phase: WorkItemPhase) => boolean
  readonly hasInstances: (kind: string) => boolean
  readonly preferredModel: (kind: string) => string | null
  readonly kinds: ReadonlyArray<string>
  readonly usual: string | undefined
}

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
