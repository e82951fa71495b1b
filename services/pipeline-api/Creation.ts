/**
 * Creates work items and releases. The project or the configuration fills in what the caller omitted, and every fault
 * names its field. An item of a release is created only while that release is open: the release's state is a
 * precondition of the decision. A follow-up then lists the item in the release.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import { type CommandError, type Outcome, Refusal } from "#actors"
import { Configuration, type ConfigurationFile } from "#configuration"
import {
  itemSettingsOf,
  type ProjectState,
  type ReleaseCommandOf,
  type ReleaseState,
  workBranchOf,
  type WorkItemCommandOf,
  type WorkItemSettings,
  type WorkItemState
} from "#pipeline/contract"
import { type CreateReleaseRequest, type CreateWorkItemRequest, priorityDefault } from "#pipeline/api"
import { projectSnapshot, workItemSettingsOf } from "#pipeline"
import { Commands } from "./Commands.ts"
import { agentRoster, type AgentRoster } from "./Routing.ts"

interface Made<State> {
  readonly state: State
  readonly sequence: number
}

// The release can change at the very same moment, because each linked item changes it.
const triesMax = 16

export class Creation extends Context.Service<
  Creation,
  {
    /** If an equal item with that id already exists, the answer is the same as if it had just been created. */
    readonly create: (
      id: string,
      request: CreateWorkItemRequest
    ) => Effect.Effect<Result.Result<Made<WorkItemState>, Faults>, CommandError>
    readonly createRelease: (
      id: string,
      request: CreateReleaseRequest
    ) => Effect.Effect<Result.Result<Made<ReleaseState>, Faults>, CommandError>
  }
>()("starling/pipeline-api/Creation") {
  static readonly layer = Layer.effect(
    Creation,
    Effect.gen(function* () {
      const commands = yield* Commands
      const configured = yield* Configuration
      const roster = agentRoster(configured.Agents)

      const createConditionally = Effect.fnUntraced(function* (id: string, request: CreateWorkItemRequest) {
        const project = yield* commands.read("project", request.projectId)
        const release = request.releaseId == null ? Option.none() : yield* commands.read("release", request.releaseId)
        const creation = itemCreation(request, {
          configured,
          roster,
          project: stateOf(project),
          release: stateOf(release)
        })
        if (Result.isFailure(creation)) return Result.fail(creation.failure)
        if (Option.isSome(release) && release.value.state.state !== "open") {
          return yield* new Refusal({
            state: release.value.state.state,
            reason: "only an open release takes work items"
          })
        }
        const preconditions = Option.match(release, {
          onNone: () => [],
          onSome: ({ sequence }) => [{ entity: "release", id: request.releaseId ?? "", sequence }]
        })
        const address = { id, commandId: `create-${id}`, preconditions }
        return Result.succeed(yield* madeOf(yield* commands.run("workitem", address, creation.success)))
      })

      const create = Effect.fn("Creation.create")(function* (id: string, request: CreateWorkItemRequest) {
        return yield* createConditionally(id, request).pipe(
          Effect.retry({ times: triesMax, while: (error) => error._tag === "PreconditionFailed" })
        )
      })

      const createRelease = Effect.fn("Creation.createRelease")(function* (id: string, request: CreateReleaseRequest) {
        const project = yield* commands.read("project", request.projectId)
        const creation = releaseCreation(id, request, { configured, project: stateOf(project) })
        if (Result.isFailure(creation)) return Result.fail(creation.failure)
        const address = { id, commandId: `create-${id}` }
        return Result.succeed(yield* madeOf(yield* commands.run("release", address, creation.success)))
      })
      return Creation.of({ create, createRelease })
    })
  )
}

const stateOf = <State>(held: Option.Option<Made<State>>): State | undefined =>
  Option.getOrUndefined(Option.map(held, ({ state }) => state))

/** A created entity always has a state. */
const madeOf = <State>({ state, sequence }: Outcome<State | null>) =>
  state === null ? Effect.die(new Error("created, and not there")) : Effect.succeed({ state, sequence })

export type Configured = Pick<ConfigurationFile, "Pipeline" | "AutoRetryOnTransientFailure" | "QuotaRetry">
type Faults = Readonly<Record<string, string>>

/** The settings that apply to an item of that project now. */
export const settingsFor = (configured: Configured, project: ProjectState | undefined): WorkItemSettings =>
  project === undefined ? itemSettingsOf(configured) : workItemSettingsOf(project.settings, itemSettingsOf(configured))

const noProject = { projectId: "there is no such project" }

interface ItemMaterial {
  readonly configured: Configured
  readonly roster: AgentRoster
  readonly project: ProjectState | undefined
  /** The release of `releaseId`, if given. */
  readonly release: ReleaseState | undefined
}

const itemCreation = (
  request: CreateWorkItemRequest,
  { configured, roster, project, release }: ItemMaterial
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

const releaseCreation = (
  id: string,
  request: CreateReleaseRequest,
  { configured: { Pipeline }, project }: Pick<ItemMaterial, "configured" | "project">
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
