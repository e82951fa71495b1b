/**
 * An operator, the budget, or both hold a project's queue; it runs while neither does. Each hold ends with its own
 * cause: an operator's when one resumes the queue, the budget's when spend has recovered or the budget was raised
 * beyond it or removed. Each new hold makes an event, and so does the end of each, with what still holds the queue.
 */
import { type Hold, isoTime } from "#base"
import type { ProjectFact, ProjectFactOf, ProjectState } from "#pipeline/contract"
import { type Concern, decided, nothing } from "./concern.ts"

export const holdsConcern = {
  commands: {
    PauseQueue: (project, { reason, pausedBy }) =>
      project.manualPause === null
        ? decided({ _tag: "PausedManually", reason, pausedBy, isFirst: project.automaticPause === null })
        : nothing,
    ResumeQueue: (project, { reason, resumedBy }) =>
      project.manualPause === null
        ? nothing
        : decided({ _tag: "ResumedManually", reason, resumedBy, isLast: project.automaticPause === null })
  },
  evolve: {
    PausedManually: (_project, { reason, pausedBy }, { atMs }) => ({
      manualPause: { reason, pausedBy, pausedAtMs: atMs }
    }),
    PausedAutomatically: (_project, { reason, cap }, { atMs }) => ({
      automaticPause: { reason, pausedAtMs: atMs, ...(cap === undefined ? {} : { cap }) }
    }),
    // An older fact without `isLast` ended both holds.
    ResumedManually: (_project, { isLast }) =>
      isLast === undefined ? { manualPause: null, automaticPause: null } : { manualPause: null },
    AutomaticPauseLifted: () => ({ automaticPause: null })
  }
} satisfies Concern

type QueueCauses = Pick<ProjectState, "manualPause" | "automaticPause">
type Cap = NonNullable<ProjectFactOf<"PausedAutomatically">["cap"]>

/** The operator's hold comes first. */
export const projectHolds = ({ manualPause, automaticPause }: QueueCauses): ReadonlyArray<Hold> => [
  ...(manualPause === null ? [] : [holdOf("manual", manualPause, manualPause.pausedBy)]),
  ...(automaticPause === null ? [] : [holdOf("budget", automaticPause, null)])
]

const holdOf = (
  cause: Hold["cause"],
  { reason, pausedAtMs }: { readonly reason: string; readonly pausedAtMs: number },
  pausedBy: string | null
): Hold => ({ cause, reason, pausedBy, since: isoTime(pausedAtMs), until: null })

export const isQueuePaused = ({ manualPause, automaticPause }: QueueCauses): boolean =>
  manualPause !== null || automaticPause !== null

/** The budget's hold, unless it already holds the queue. */
export const heldByBudget = (project: QueueCauses, reason: string, cap: Cap): ReadonlyArray<ProjectFact> =>
  project.automaticPause === null
    ? [{ _tag: "PausedAutomatically", reason, isFirst: project.manualPause === null, cap }]
    : []

export const releasedByBudget = (project: QueueCauses, reason: string): ReadonlyArray<ProjectFact> =>
  project.automaticPause === null
    ? []
    : [{ _tag: "AutomaticPauseLifted", reason, isLast: project.manualPause === null }]

type HoldFact = ProjectFactOf<keyof typeof holdsConcern.evolve>

/** `project`: its state after the fact. */
export const holdEvent = (project: QueueCauses, fact: HoldFact) => {
  switch (fact._tag) {
    case "PausedManually":
      return paused(project, fact.reason, fact.pausedBy)
    case "PausedAutomatically":
      return paused(project, fact.reason, null)
    case "ResumedManually":
      return resumed(project, fact.reason, fact.resumedBy)
    case "AutomaticPauseLifted":
      return resumed(project, fact.reason, null)
  }
}

const paused = (project: QueueCauses, reason: string, pausedBy: string | null) => ({
  event: "project.queue_paused",
  details: { reason, pausedBy, automatic: pausedBy === null, holds: projectHolds(project) }
})

const resumed = (project: QueueCauses, reason: string | null, resumedBy: string | null) => ({
  event: "project.queue_resumed",
  details: { reason, resumedBy, automatic: resumedBy === null, holds: projectHolds(project) }
})
