/** A small actor for these tests: a jar of coins that can be opened, filled, and broken. */
import { Result, Schema } from "effect"
import { type ActorDefinition, EntityNotFound, Refusal } from "#actors"

const JarState = Schema.Struct({ isOpen: Schema.Boolean, coins: Schema.Int })
type JarState = typeof JarState.Type

const JarFact = Schema.Union([
  Schema.TaggedStruct("Opened", {}),
  Schema.TaggedStruct("Filled", { coins: Schema.Int }),
  Schema.TaggedStruct("Broken", {})
])
export type JarFact = typeof JarFact.Type

export type JarCommand =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Fill"; readonly coins: number }
  | { readonly _tag: "Break" }

const coinsMax = 1_000_000

export const jar: ActorDefinition<JarState, JarCommand, JarFact> = {
  entity: "jar",
  state: JarState,
  fact: JarFact,
  initial: { isOpen: false, coins: 0 },
  stateVersion: 2,
  // The first version had no `isOpen`: every jar was open.
  upgrade: (stored) => ({ isOpen: true, ...(stored as object) }),
  begins: ({ _tag }) => _tag === "Open",
  decide: (state, command, { id }) => {
    if (command._tag === "Open") return Result.succeed(state.isOpen ? [] : [{ _tag: "Opened" as const }])
    if (!state.isOpen) return Result.fail(new EntityNotFound({ entity: "jar", id }))
    if (command._tag === "Break") return Result.succeed([{ _tag: "Broken" as const }])
    return state.coins + command.coins > coinsMax
      ? Result.fail(new Refusal({ state: "Full", reason: "the jar is full" }))
      : Result.succeed([{ _tag: "Filled" as const, coins: command.coins }])
  },
  evolve: (state, fact) => {
    if (fact._tag === "Opened") return { ...state, isOpen: true }
    return fact._tag === "Filled" ? { ...state, coins: state.coins + fact.coins } : { isOpen: false, coins: 0 }
  },
  toEvents: (state, fact) => [
    {
      event: `jar.${fact._tag.toLowerCase()}`,
      workItem: null,
      project: null,
      details: { coins: state.coins }
    }
  ],
  retires: (fact) => fact._tag === "Broken"
}
