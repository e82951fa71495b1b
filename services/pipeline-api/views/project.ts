/** A project in the API's form, with its spend; and the settings that a caller's project stands for. Pure. */
import {
  type ConfigurationFile,
  isoTime,
  type ProjectSettings,
  projectSettingsDefault,
  type ProjectState
} from "#contracts"
import type { ProjectRow, ProjectView, PutProjectRequest } from "#contracts/pipeline-api"
import { isQueuePaused, projectHolds } from "#pipeline"
import { microUsdOf, type SeenProject, usdOf } from "./rows.ts"

/** `spendMicroUsd`: over the last thirty days; null: not summed yet. */
export const projectView = (
  id: string,
  project: ProjectState,
  { sequence, spendMicroUsd = null }: { readonly sequence: number; readonly spendMicroUsd?: number | null }
): ProjectView => {
  const { settings, manualPause, automaticPause } = project
  return {
    id,
    displayName: settings.displayName,
    repositoryUrl: settings.repositoryUrl,
    state: isQueuePaused(project) ? "Paused" : "Running",
    holds: projectHolds(project),
    manualPause: manualPause === null ? null : pauseOf(manualPause, manualPause.pausedBy),
    automaticPause: automaticPause === null ? null : pauseOf(automaticPause, null),
    monthlyBudgetUsd: settings.budgetMicroUsd === null ? null : usdOf(settings.budgetMicroUsd),
    warningThresholdPct: settings.warningThresholdPct,
    hardCapPct: settings.hardCapPct,
    maxInFlightItems: settings.maxInFlightItems,
    maxInFlightItemsPerAgent: settings.maxInFlightItemsPerAgent,
    workItems: settings.workItems,
    budget: budgetOf(project, spendMicroUsd),
    createdAt: isoTime(project.createdAtMs),
    updatedAt: isoTime(project.updatedAtMs),
    sequence
  }
}

const pauseOf = ({ reason, pausedAtMs }: { reason: string; pausedAtMs: number }, pausedBy: string | null) => ({
  reason,
  pausedBy,
  pausedAt: isoTime(pausedAtMs)
})

const budgetOf = ({ settings, budget }: ProjectState, spendMicroUsd: number | null): ProjectView["budget"] => {
  const { budgetMicroUsd } = settings
  if (budgetMicroUsd === null || spendMicroUsd === null) return null
  return {
    currentSpendUsd: usdOf(spendMicroUsd),
    budgetUsd: usdOf(budgetMicroUsd),
    pct: (spendMicroUsd / budgetMicroUsd) * 100,
    band: budget.band
  }
}

export const projectRow = ({ id, state, createdAtMs, updatedAtMs, summary }: SeenProject): ProjectRow => {
  const { settings } = summary
  return {
    id,
    displayName: settings.displayName,
    repositoryUrl: settings.repositoryUrl,
    state: state as ProjectRow["state"],
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs)
  }
}

/** Fields left out are as configured, or unset. */
export const projectSettingsOf = (
  request: PutProjectRequest,
  { WarningThresholdPct, HardCapPct }: ConfigurationFile["Budget"]
): ProjectSettings => ({
  ...projectSettingsDefault,
  displayName: request.displayName,
  repositoryUrl: request.repositoryUrl,
  budgetMicroUsd: request.monthlyBudgetUsd == null ? null : microUsdOf(request.monthlyBudgetUsd),
  warningThresholdPct: request.warningThresholdPct ?? WarningThresholdPct,
  hardCapPct: request.hardCapPct ?? HardCapPct,
  maxInFlightItems: request.maxInFlightItems ?? null,
  maxInFlightItemsPerAgent: request.maxInFlightItemsPerAgent ?? null,
  workItems: overridesOf(request.workItems ?? {})
})

const overridesOf = ({
  delegatesAfterFailures,
  ...others
}: NonNullable<PutProjectRequest["workItems"]>): ProjectSettings["workItems"] => ({
  ...(Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)) as ProjectSettings["workItems"]),
  // Null is a value here, apart from undefined.
  ...(delegatesAfterFailures === undefined ? {} : { delegatesAfterFailures })
})
