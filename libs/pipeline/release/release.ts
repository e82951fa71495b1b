/**
 * The release actor: a collection of work items that is closed, reviewed in depth and published as one. Pure; what is
 * chance or comes from outside is in the command, and the time is the record's.
 */
import { Schema } from "effect"
import type { ActorDefinition } from "#actors/definition"
import { type ReleaseCommand, ReleaseFact, ReleaseState } from "#contracts"
import { toEvents } from "./events.ts"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"

/** Null: nothing is known of a release of that id. */
export const release: ActorDefinition<ReleaseState | null, ReleaseCommand, ReleaseFact> = {
  entity: "release",
  state: Schema.NullOr(ReleaseState),
  fact: ReleaseFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve,
  toEvents,
  retires: (fact) => fact._tag === "Retired"
}
