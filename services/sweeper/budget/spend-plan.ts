/**
 * Which projects are to hear of their spend. What a project decides depends on its spend, on itself, and on the run
 * of this process: where none of them has changed since it was last told, it is not told again. The first sweep of a
 * run tells them all, so that where a budget stands is said again after a restart. Pure.
 */
import type { ViewRow } from "#actors"
import { spendMicroUsdMax } from "#contracts"
import { type PlannedCommand, toProject } from "../planned-command.ts"

export interface Told {
  readonly spendMicroUsd: number
  /** Of the project's last record after it was told. */
  readonly sequence: number
  /** The sweep that told it. */
  readonly turn: number
}

export interface SpendPlanInput {
  readonly projects: ReadonlyArray<Pick<ViewRow, "id" | "sequence" | "summary">>
  readonly spentBy: (projectId: string) => number
  readonly told: ReadonlyMap<string, Told>
  readonly epoch: string
}

/** Who has waited longest comes first: a sweep has a bound. */
export const spendCommands = ({ projects, spentBy, told, epoch }: SpendPlanInput): ReadonlyArray<PlannedCommand> =>
  projects
    .filter(hasBudget)
    .map((project) => ({ project, spendMicroUsd: Math.min(spentBy(project.id), spendMicroUsdMax) }))
    .filter(({ project, spendMicroUsd }) => {
      const last = told.get(project.id)
      return last === undefined || last.spendMicroUsd !== spendMicroUsd || project.sequence > last.sequence
    })
    .toSorted((left, right) => turnOf(told, left.project.id) - turnOf(told, right.project.id))
    .map(({ project, spendMicroUsd }) => ({
      ...toProject(project, "spend", { _tag: "SweepSpend", spendMicroUsd, epoch }),
      commandId: `sweep.spend.${epoch}.${project.sequence}.${spendMicroUsd}`
    }))

const turnOf = (told: ReadonlyMap<string, Told>, projectId: string) => told.get(projectId)?.turn ?? -1

const hasBudget = ({ summary }: Pick<ViewRow, "summary">) => {
  const settings = summary["settings"]
  return (
    typeof settings === "object" &&
    settings !== null &&
    "budgetMicroUsd" in settings &&
    settings.budgetMicroUsd !== null
  )
}
