/** A project as lists and sweeps see it: `Running` or `Paused`. */
import { Schema } from "effect"
import type { Projection } from "#actors/definition"
import { ProjectState, type ProjectSummary } from "#contracts"
import { isQueuePaused } from "./holds.ts"

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
