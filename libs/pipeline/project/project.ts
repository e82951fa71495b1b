/**
 * The project actor: settings, the holds on its queue, its budget, and its stale pull requests; its events; and its row
 * for lists and sweeps.
 *
 * Pull requests whose base has moved on without them. Each head makes one event in each run of a sweeping process,
 * however many processes check at once. The project remembers the heads up to a bound; beyond it the oldest can be
 * reported again, which receivers must tolerate anyway.
 */
import { Equal, Result, Schema } from "effect"
import {
  type ActorDefinition,
  type DecisionContext,
  EntityNotFound,
  type EventDraft,
  type Projection,
  Refusal
} from "#actors/definition"
import { isoTime, type Project } from "#base"
import {
  type ProjectCommand,
  ProjectFact,
  type ProjectFactOf,
  type ProjectSettings,
  ProjectState,
  type ProjectSummary,
  staleBaseProcessesMax,
  staleBasesMax,
  type WorkItemDeferral,
  type WorkItemSettings
} from "#pipeline/contract"
import { budgetConcern, budgetDetails, budgetRemoved } from "./budget.ts"
import { type Concern, decided, type Deciders, type Decision, type Evolvers, nothing } from "./concern.ts"
import { holdEvent, holdsConcern, isQueuePaused } from "./holds.ts"

export const staleBasesConcern = {
  commands: {
    ReportStaleBase: ({ staleBases }, command) =>
      reportedBy(staleBases, command.epoch).includes(keyOf(command))
        ? nothing
        : decided({ ...command, _tag: "StaleBaseFound" })
  },
  evolve: {
    StaleBaseFound: ({ staleBases }, fact) => {
      const keys = [...reportedBy(staleBases, fact.epoch), keyOf(fact)].slice(-staleBasesMax)
      return {
        staleBases: {
          epoch: fact.epoch,
          told: keys,
          others: withinRoom(othersThan(staleBases, fact.epoch), staleBasesMax - keys.length)
        }
      }
    }
  }
} satisfies Concern

type Found = Pick<ProjectFactOf<"StaleBaseFound">, "pullRequestNumber" | "headSha">
type StaleBases = ProjectState["staleBases"]
type Others = NonNullable<StaleBases["others"]>

const keyOf = ({ pullRequestNumber, headSha }: Found) => `${pullRequestNumber}:${headSha}`

const reportedBy = ({ epoch, told, others = [] }: StaleBases, process: string): ReadonlyArray<string> =>
  epoch === process ? told : (others.find((other) => other.epoch === process)?.told ?? [])

/** The heads that other processes reported; the process that reported last comes first. */
const othersThan = ({ epoch, told, others = [] }: StaleBases, process: string): Others =>
  [...(epoch === null ? [] : [{ epoch, told }]), ...others].filter((other) => other.epoch !== process)

/** The newest heads that fit. A process that is gone loses its heads once enough others report after it. */
const withinRoom = (others: Others, room: number): Others => {
  let left = room
  return others.slice(0, staleBaseProcessesMax).flatMap(({ epoch, told }) => {
    const kept = told.slice(Math.max(0, told.length - left))
    left -= kept.length
    return kept.length === 0 ? [] : [{ epoch, told: kept }]
  })
}

/** Null: no project of that id is known. */
export const project: ActorDefinition<ProjectState | null, ProjectCommand, ProjectFact> = {
  entity: "project",
  state: Schema.NullOr(ProjectState),
  fact: ProjectFact,
  initial: null,
  stateVersion: 1,
  begins: ({ _tag }) => _tag === "Create",
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
    // A command and its decider have the same tag, which the compiler cannot see when each is looked up apart.
    return (deciders[command._tag] as (project: ProjectState, command: ProjectCommand) => Decision)(state, command)
  },
  evolve: (state, fact, context) => {
    if (fact._tag === "Created") return created(fact, context)
    if (state === null) return null
    type Evolve = (project: ProjectState, fact: ProjectFact, context: DecisionContext) => Partial<ProjectState>
    return { ...state, ...(evolvers[fact._tag] as Evolve)(state, fact, context), updatedAtMs: context.atMs }
  },
  toEvents: (state, fact, { id }) => (state === null ? [] : eventsOf(state, fact, id))
}

const deciders: Deciders = {
  ...budgetConcern.commands,
  ...holdsConcern.commands,
  ...staleBasesConcern.commands,
  UpdateSettings: (project, { settings }) => {
    if (Equal.equals(project.settings, settings)) return nothing
    const updated = { _tag: "SettingsUpdated", settings } as const
    return settings.budgetMicroUsd === null ? decided(updated, ...budgetRemoved(project)) : decided(updated)
  }
}

const evolvers: Evolvers = {
  ...budgetConcern.evolve,
  ...holdsConcern.evolve,
  ...staleBasesConcern.evolve,
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

/** Budget events carry no project object: their details name the project. */
const eventsOf = (project: ProjectState, fact: ProjectFact, id: string): ReadonlyArray<EventDraft> => {
  const nobodys = { workItem: null, project: null }
  switch (fact._tag) {
    case "BudgetWarned":
      return [{ event: "project.budget_warning", ...nobodys, details: budgetDetails(id, fact) }]
    case "BudgetExceeded":
      return [{ event: "project.budget_exceeded", ...nobodys, details: budgetDetails(id, fact) }]
    case "BudgetRecovered":
      return [{ event: "project.budget_recovered", ...nobodys, details: budgetDetails(id, fact) }]
    case "PausedManually":
    case "PausedAutomatically":
    case "ResumedManually":
    case "AutomaticPauseLifted": {
      const hold = holdEvent(project, fact)
      const details = { projectId: id, ...hold.details }
      return [{ event: hold.event, workItem: null, project: projectSnapshot(id, project), details }]
    }
    case "StaleBaseFound": {
      const { _tag, workItem, firstDetectedAtMs, epoch: _epoch, ...found } = fact
      const details = { projectId: id, ...found, firstDetectedAt: isoTime(firstDetectedAtMs) }
      return [{ event: "upstream.pr_stale_base", workItem, project: projectSnapshot(id, project), details }]
    }
    // Settings, and the fall from the hard cap to the warning band, are private.
    case "Created":
    case "SettingsUpdated":
    case "BudgetEased":
    case "BudgetRemoved":
      return []
  }
}

/** The project as events and items carry it. */
export const projectSnapshot = (id: string, { settings }: ProjectState): Project => ({
  id,
  displayName: settings.displayName,
  repositoryUrl: settings.repositoryUrl
})

/** A project as lists and sweeps see it: `Running` or `Paused`. */
export const projectProjection: Projection<ProjectState | null> = {
  entity: "project",
  state: Schema.NullOr(ProjectState),
  show: (project, id) =>
    project === null
      ? undefined
      : {
          project: id,
          state: isQueuePaused(project) ? "Paused" : "Running",
          createdAtMs: project.createdAtMs,
          updatedAtMs: project.updatedAtMs,
          deadlinesMs: {},
          summary: { ...summaryOf(project) }
        }
}

const summaryOf = ({ settings, manualPause, automaticPause, budget }: ProjectState): ProjectSummary => ({
  settings,
  isPausedManually: manualPause !== null,
  isPausedAutomatically: automaticPause !== null,
  pauseReason: (manualPause ?? automaticPause)?.reason ?? null,
  budgetBand: budget.band
})

/**
 * A project's settings for its items: the settings of one item's run, and how many items can be in progress on runners
 * at once. Pickup checks before it gives an item out. An item beyond a cap is put off, and its own event reports that.
 * The configured settings, overridden by the project's own.
 */
export const workItemSettingsOf = (
  { workItems }: Pick<ProjectSettings, "workItems">,
  configured: WorkItemSettings
): WorkItemSettings => ({ ...configured, ...workItems })

/** The project's items in progress on runners: all of them, and those with that agent. */
export interface InFlight {
  readonly agent: string
  readonly items: number
  readonly itemsOfAgent: number
}

/** The cap that puts the item off; undefined if the item can be given out. */
export const capDeferral = (
  { maxInFlightItems, maxInFlightItemsPerAgent }: ProjectSettings,
  { agent, items, itemsOfAgent }: InFlight,
  suggestedRetryAtMs: number
): WorkItemDeferral | undefined => {
  const putOff = (reason: string) => ({ kind: "budget", reason, suggestedRetryAtMs }) as const
  if (maxInFlightItems !== null && items >= maxInFlightItems) {
    return putOff(`MaxInFlightItems: ${items}/${maxInFlightItems} items in flight`)
  }
  return maxInFlightItemsPerAgent !== null && itemsOfAgent >= maxInFlightItemsPerAgent
    ? putOff(`MaxInFlightItemsPerAgent: ${itemsOfAgent}/${maxInFlightItemsPerAgent} items in flight with ${agent}`)
    : undefined
}
