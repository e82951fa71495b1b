/**
 * Creates work items and releases. An item of a release is created only while that release is open: its standing at
 * the moment of the decision is a condition. That the release lists the item is the follow-up's work.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import { type CommandError, type Outcome, Refusal } from "#actors"
import type { CreateReleaseRequest, CreateWorkItemRequest, ReleaseState, WorkItemState } from "#contracts"
import { Configuration } from "#runtime"
import { agentRoster } from "./agents.ts"
import { Commands } from "./Commands.ts"
import { type Faults, itemCreation, releaseCreation } from "./creation.ts"

interface Made<State> {
  readonly state: State
  readonly sequence: number
}

// The release changed at the very moment; items that are linked to it do that.
const triesMax = 16

export class ItemCreation extends Context.Service<
  ItemCreation,
  {
    /** One of that id that is there already, of the same making, is answered as if it had just been made. */
    readonly create: (
      id: string,
      request: CreateWorkItemRequest
    ) => Effect.Effect<Result.Result<Made<WorkItemState>, Faults>, CommandError>
    readonly createRelease: (
      id: string,
      request: CreateReleaseRequest
    ) => Effect.Effect<Result.Result<Made<ReleaseState>, Faults>, CommandError>
  }
>()("starling/pipeline-api/ItemCreation") {
  static readonly layer = Layer.effect(
    ItemCreation,
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

      const create = Effect.fn("ItemCreation.create")(function* (id: string, request: CreateWorkItemRequest) {
        return yield* createConditionally(id, request).pipe(
          Effect.retry({ times: triesMax, while: (error) => error._tag === "PreconditionFailed" })
        )
      })

      const createRelease = Effect.fn("ItemCreation.createRelease")(function* (
        id: string,
        request: CreateReleaseRequest
      ) {
        const project = yield* commands.read("project", request.projectId)
        const creation = releaseCreation(id, request, configured, stateOf(project))
        if (Result.isFailure(creation)) return Result.fail(creation.failure)
        const address = { id, commandId: `create-${id}` }
        return Result.succeed(yield* madeOf(yield* commands.run("release", address, creation.success)))
      })
      return ItemCreation.of({ create, createRelease })
    })
  )
}

const stateOf = <State>(held: Option.Option<Made<State>>): State | undefined =>
  Option.getOrUndefined(Option.map(held, ({ state }) => state))

/** What was created has a state. */
const madeOf = <State>({ state, sequence }: Outcome<State | null>) =>
  state === null ? Effect.die(new Error("created, and not there")) : Effect.succeed({ state, sequence })
