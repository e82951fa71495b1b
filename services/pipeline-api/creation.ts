/**
 * From what a caller asks to the commands that create a work item or a release: what is left out is the project's or
 * the configuration's to say. Every fault comes back by its field. Pure.
 */
import { Result } from "effect"
import {
  type ConfigurationFile,
  type CreateReleaseRequest,
  type CreateWorkItemRequest,
  itemSettingsOf,
  priorityDefault,
  type ProjectState,
  type ReleaseCommandOf,
  type ReleaseState,
  workBranchOf,
  type WorkItemCommandOf,
  type WorkItemSettings
} from "#contracts"
import type { AgentRoster } from "./agents.ts"
import { projectSnapshot, workItemSettingsOf } from "#pipeline"

export type Configured = Pick<ConfigurationFile, "Pipeline" | "AutoRetryOnTransientFailure" | "QuotaRetry">
export type Faults = Readonly<Record<string, string>>

/** What an item of that project goes by now. */
export const settingsFor = (configured: Configured, project: ProjectState | undefined): WorkItemSettings =>
  project === undefined ? itemSettingsOf(configured) : workItemSettingsOf(project.settings, itemSettingsOf(configured))

const noProject = { projectId: "there is no such project" }

export interface ItemGrounds {
  readonly configured: Configured
  readonly roster: AgentRoster
  readonly project: ProjectState | undefined
  /** Of `releaseId`, if one was named. */
  readonly release: ReleaseState | undefined
}

export const itemCreation = (
  request: CreateWorkItemRequest,
  { configured, roster, project, release }: ItemGrounds
): Result.Result<WorkItemCommandOf<"Create">, Faults> => {
  const { Pipeline } = configured
  const agent = request.agent ?? roster.usual
  const releaseId = request.releaseId ?? null
  const faults = {
    ...(project === undefined ? noProject : {}),
    ...(agent === undefined ? { agent: "must be named, for the configuration names no default" } : {}),
    ...(agent !== undefined && !roster.isKnown(agent)
      ? { agent: "there is no such agent, nor a class of agents" }
      : {}),
    ...releaseFault(request, releaseId, release)
  }
  if (project === undefined || agent === undefined || Object.keys(faults).length > 0) return Result.fail(faults)
  return Result.succeed({
    _tag: "Create",
    title: request.title,
    instructions: request.instructions ?? null,
    projectId: request.projectId,
    project: projectSnapshot(request.projectId, project),
    agent,
    baseBranch: request.baseBranch ?? release?.sourceBranch ?? Pipeline.BaseBranch,
    externalId: request.externalId ?? null,
    releaseId,
    kind: request.kind ?? "act",
    originCheckWorkItemId: null,
    priority: request.priority ?? priorityDefault,
    settings: settingsFor(configured, project),
    workBranchPrefix: request.workBranchPrefix ?? Pipeline.WorkBranchPrefix
  })
}

const releaseFault = (
  { projectId }: CreateWorkItemRequest,
  releaseId: string | null,
  release: ReleaseState | undefined
): Faults => {
  if (releaseId === null) return {}
  if (release === undefined) return { releaseId: "there is no such release" }
  return release.project.id === projectId ? {} : { releaseId: "a release of another project" }
}

export const releaseCreation = (
  id: string,
  request: CreateReleaseRequest,
  { Pipeline }: Configured,
  project: ProjectState | undefined
): Result.Result<ReleaseCommandOf<"Create">, Faults> => {
  if (project === undefined) return Result.fail(noProject)
  const sourceBranch = request.sourceBranch ?? workBranchOf(Pipeline.ReleaseBranchPrefix, id)
  const targetBranch = request.targetBranch ?? Pipeline.BaseBranch
  if (sourceBranch === targetBranch) return Result.fail({ sourceBranch: "must not be the target branch" })
  return Result.succeed({
    _tag: "Create",
    name: request.name,
    project: projectSnapshot(request.projectId, project),
    sourceBranch,
    targetBranch,
    description: request.description ?? null
  })
}
