/**
 * What holds a project's queue: an operator, its budget, or both; it runs while neither does. The world is told when
 * the queue stops and when it runs again, so that the two events take turns: a second hold is private. When spend
 * recovers only the budget's hold goes; an operator who resumes the queue lifts both.
 */
import type { ProjectFact, ProjectFactOf, ProjectState } from "#contracts"
import { type Deciders, decided, type Evolvers, nothing } from "./decisions.ts"

type Held = Pick<ProjectState, "manualPause" | "automaticPause">

export const isQueuePaused = ({ manualPause, automaticPause }: Held): boolean =>
  manualPause !== null || automaticPause !== null

/** The budget's hold, unless it is there. */
export const heldByBudget = (project: Held, reason: string): ReadonlyArray<ProjectFact> =>
  project.automaticPause === null
    ? [{ _tag: "PausedAutomatically", reason, isFirst: project.manualPause === null }]
    : []

export const releasedByBudget = (project: Held, reason: string): ReadonlyArray<ProjectFact> =>
  project.automaticPause === null
    ? []
    : [{ _tag: "AutomaticPauseLifted", reason, isLast: project.manualPause === null }]

export const holdDeciders = {
  PauseQueue: (project, { reason, pausedBy }) =>
    project.manualPause === null
      ? decided({ _tag: "PausedManually", reason, pausedBy, isFirst: project.automaticPause === null })
      : nothing,
  ResumeQueue: (project, { reason, resumedBy }) =>
    isQueuePaused(project) ? decided({ _tag: "ResumedManually", reason, resumedBy }) : nothing
} satisfies Partial<Deciders>

export const holdEvolvers = {
  PausedManually: (_project, { reason, pausedBy }, { atMs }) => ({
    manualPause: { reason, pausedBy, pausedAtMs: atMs }
  }),
  PausedAutomatically: (_project, { reason }, { atMs }) => ({ automaticPause: { reason, pausedAtMs: atMs } }),
  ResumedManually: () => ({ manualPause: null, automaticPause: null }),
  AutomaticPauseLifted: () => ({ automaticPause: null })
} satisfies Partial<Evolvers>

type HoldFact = ProjectFactOf<keyof typeof holdEvolvers>

/** Nothing for a hold that is not the first to come or the last to go. */
export const holdTold = (fact: HoldFact) => {
  switch (fact._tag) {
    case "PausedManually":
      return fact.isFirst ? paused(fact.reason, fact.pausedBy, false) : undefined
    case "PausedAutomatically":
      return fact.isFirst ? paused(fact.reason, null, true) : undefined
    case "ResumedManually":
      return resumed(fact.reason, fact.resumedBy, false)
    case "AutomaticPauseLifted":
      return fact.isLast ? resumed(fact.reason, null, true) : undefined
  }
}

const paused = (reason: string, pausedBy: string | null, automatic: boolean) => ({
  event: "project.queue_paused",
  details: { reason, pausedBy, automatic }
})

const resumed = (reason: string | null, resumedBy: string | null, automatic: boolean) => ({
  event: "project.queue_resumed",
  details: { reason, resumedBy, automatic }
})
