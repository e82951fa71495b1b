/** Projects over HTTP: their settings, their spend, and their queues. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Views } from "#actors"
import { type BusError, Kv } from "#bus"
import { type ProjectCommand, type ProjectState, SpendEntry, spendKey, spentMicroUsd } from "#pipeline/contract"
import { ProjectsGroup } from "#pipeline/api"
import { jsonAnswer, routesOf } from "#http"
import { Configuration } from "#configuration"
import { Commands } from "../Commands.ts"
import { projectRow, projectSettingsOf, projectView, readProjects } from "../views.ts"
import {
  apiOptions,
  callerName,
  commandId,
  freshness,
  noSuch,
  pageOf,
  pathId,
  placeOf,
  refusing,
  rowKey
} from "./requests.ts"

interface Answered {
  readonly state: ProjectState | null
  readonly sequence: number
  readonly status?: number
}

const answered = Effect.fnUntraced(function* (id: string, { state, sequence, status = 200 }: Answered) {
  if (state === null) return yield* noSuch("project")
  const spendMicroUsd = yield* refusing((yield* Spend).of(id))
  return jsonAnswer(projectView(id, state, { sequence, spendMicroUsd }), { status })
})

const run = Effect.fnUntraced(function* (id: string, command: ProjectCommand) {
  return yield* (yield* Commands).run("project", { id, commandId: yield* commandId }, command)
})

/** The spend of projects over the last thirty days, as summed by the sweeper. */
export class Spend extends Context.Service<
  Spend,
  {
    /** In micro-USD; null for a project that has no sum yet. */
    readonly of: (projectId: string) => Effect.Effect<number | null, BusError>
  }
>()("starling/pipeline-api/Spend") {
  static readonly layer = Layer.effect(
    Spend,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("spend", SpendEntry)
      const of = Effect.fn("Spend.of")(function* (projectId: string) {
        const spend = yield* bucket.get(spendKey(projectId))
        if (Option.isNone(spend) || spend.value.value._tag !== "ProjectSpend") return null
        return spentMicroUsd(spend.value.value.hours, yield* Clock.currentTimeMillis)
      })
      return Spend.of({ of })
    })
  )
}

export const projectRoutes = routesOf(
  ProjectsGroup,
  {
    listProjects: ({ query }) =>
      Effect.gen(function* () {
        const place = yield* placeOf(yield* query)
        const { items, nextCursor } = pageOf((yield* Views).list({ entity: "project" }), rowKey, place)
        return jsonAnswer({ items: readProjects(items).map(projectRow), nextCursor, ...(yield* freshness) })
      }),

    getProject: () =>
      Effect.gen(function* () {
        const id = yield* pathId("project")
        const project = yield* refusing((yield* Commands).read("project", id))
        if (Option.isNone(project)) return yield* noSuch("project")
        return yield* answered(id, project.value)
      }),

    // If another caller created it at the same moment, its settings are updated instead.
    putProject: ({ body }) =>
      Effect.gen(function* () {
        const id = yield* pathId("project")
        const settings = projectSettingsOf(yield* body, (yield* Configuration).Budget)
        const update = Effect.map(run(id, { _tag: "UpdateSettings", settings }), (outcome) => ({
          ...outcome,
          status: 200
        }))
        const isThere = Option.isSome(yield* refusing((yield* Commands).read("project", id)))
        const create = run(id, { _tag: "Create", settings }).pipe(
          Effect.map((outcome) => ({ ...outcome, status: 201 })),
          Effect.catchTag("Refusal", () => update)
        )
        const { state, sequence, status } = yield* refusing(isThere ? update : create)
        return yield* answered(id, { state, sequence, status })
      }),

    pauseProjectQueue: ({ body }) =>
      Effect.gen(function* () {
        const id = yield* pathId("project")
        const { reason } = yield* body
        const { state, sequence } = yield* refusing(
          run(id, { _tag: "PauseQueue", reason, pausedBy: yield* callerName })
        )
        return yield* answered(id, { state, sequence })
      }),

    resumeProjectQueue: ({ body }) =>
      Effect.gen(function* () {
        const id = yield* pathId("project")
        const { reason = null } = yield* body
        const { state, sequence } = yield* refusing(
          run(id, { _tag: "ResumeQueue", reason, resumedBy: yield* callerName })
        )
        return yield* answered(id, { state, sequence })
      })
  },
  apiOptions
)
