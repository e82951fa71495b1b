/**
 * The project actor: settings, the hold on its queue, its budget, and its stale pull requests. Pure; what is chance
 * or comes from outside is in the command, and the time is the record's.
 */
import { Equal, Result, Schema } from "effect"
import { type ActorDefinition, type DecisionContext, EntityNotFound, Refusal } from "#actors/definition"
import { type ProjectCommand, ProjectFact, type ProjectFactOf, ProjectState } from "#contracts"
import { toEvents } from "./events.ts"
import { budgetDeciders, budgetEvolvers, budgetRemoved } from "./budget.ts"
import { type Deciders, decided, type Decision, type Evolvers, nothing } from "./decisions.ts"
import { holdDeciders, holdEvolvers, isQueuePaused } from "./holds.ts"
import { staleBaseDeciders, staleBaseEvolvers } from "./stale-bases.ts"

const deciders: Deciders = {
  ...budgetDeciders,
  ...holdDeciders,
  ...staleBaseDeciders,
  UpdateSettings: (project, { settings }) => {
    if (Equal.equals(project.settings, settings)) return nothing
    const updated = { _tag: "SettingsUpdated", settings } as const
    return settings.budgetMicroUsd === null ? decided(updated, ...budgetRemoved(project)) : decided(updated)
  }
}

const evolvers: Evolvers = {
  ...budgetEvolvers,
  ...holdEvolvers,
  ...staleBaseEvolvers,
  SettingsUpdated: (_project, { settings }) => ({ settings })
}

const created = ({ settings }: ProjectFactOf<"Created">, { atMs }: DecisionContext): ProjectState => ({
  settings,
  createdAtMs: atMs,
  updatedAtMs: atMs,
  manualPause: null,
  automaticPause: null,
  budget: { band: "normal", toldEpoch: null, spendMicroUsd: 0 },
  staleBases: { epoch: null, told: [] }
})

const stateNameOf = (project: ProjectState) => (isQueuePaused(project) ? "Paused" : "Running")

/** Null: nothing is known of a project of that id. */
export const project: ActorDefinition<ProjectState | null, ProjectCommand, ProjectFact> = {
  entity: "project",
  state: Schema.NullOr(ProjectState),
  fact: ProjectFact,
  initial: null,
  stateVersion: 1,
  decide: (state, command, { id }) => {
    const isOfSettings = command._tag === "Create" || command._tag === "UpdateSettings"
    if (isOfSettings && command.settings.warningThresholdPct >= command.settings.hardCapPct) {
      const reason = "the warning threshold must be less than the hard cap"
      return Result.fail(new Refusal({ state: state === null ? "none" : stateNameOf(state), reason }))
    }
    if (command._tag === "Create") {
      return state === null
        ? decided({ _tag: "Created", settings: command.settings })
        : Result.fail(new Refusal({ state: stateNameOf(state), reason: "a project of that id is there already" }))
    }
    if (state === null) return Result.fail(new EntityNotFound({ entity: "project", id }))
    // A command and its own decider are of one tag; the compiler cannot tell that of two looked up apart.
    return (deciders[command._tag] as (project: ProjectState, command: ProjectCommand) => Decision)(state, command)
  },
  evolve: (state, fact, context) => {
    if (fact._tag === "Created") return created(fact, context)
    if (state === null) return null
    type Evolve = (project: ProjectState, fact: ProjectFact, context: DecisionContext) => Partial<ProjectState>
    return { ...state, ...(evolvers[fact._tag] as Evolve)(state, fact, context), updatedAtMs: context.atMs }
  },
  toEvents: (state, fact, { id }) => (state === null ? [] : toEvents(state, fact, id))
}
