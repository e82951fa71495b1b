/** A project under test, and the commands on it. Money is micro-USD; the budget is 100 US dollars. */
import { ProjectCommand, type ProjectCommandOf, type ProjectSettings, projectSettingsDefault } from "#pipeline/contract"
import { project } from "#pipeline"
import { entityAtWork } from "../entity-at-work.ts"

export const projectId = "garden"
const microUsdPerUsd = 1_000_000

export const settingsOf = (changes: Partial<ProjectSettings> = {}): ProjectSettings => ({
  ...projectSettingsDefault,
  displayName: "The garden",
  repositoryUrl: "https://git.example/garden.git",
  budgetMicroUsd: 100 * microUsdPerUsd,
  ...changes
})

export const update = (changes: Partial<ProjectSettings>) =>
  ({ _tag: "UpdateSettings", settings: settingsOf(changes) }) as const
export const spent = (usd: number, epoch = "sweeper-1") =>
  ({ _tag: "SweepSpend", spendMicroUsd: Math.round(usd * microUsdPerUsd), epoch }) as const
export const pause = { _tag: "PauseQueue", reason: "spring cleaning", pausedBy: "ann" } as const
export const resume = { _tag: "ResumeQueue", reason: null, resumedBy: "ben" } as const
export const stale = (
  pullRequestNumber: number,
  headSha: string,
  changes: Partial<ProjectCommandOf<"ReportStaleBase">> = {}
): ProjectCommandOf<"ReportStaleBase"> => ({
  _tag: "ReportStaleBase",
  pullRequestNumber,
  pullRequestUrl: `https://git.example/garden/pulls/${pullRequestNumber}`,
  headBranch: "starling/00000000",
  headSha,
  baseBranch: "main",
  firstDetectedAtMs: 1_700_000_000_000,
  workItem: null,
  epoch: "sweeper-1",
  ...changes
})

export const projectWith = (changes: Partial<ProjectSettings> = {}) => {
  const entity = entityAtWork(project, ProjectCommand, projectId)
  entity.does({ _tag: "Create", settings: settingsOf(changes) })
  return entity
}
