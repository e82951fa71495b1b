/** Work items over HTTP: creating, listing and showing them, and the operators' actions on them. */
import { Effect, Option, Schema } from "effect"
import { Views } from "#actors"
import { Uuid } from "#base"
import type { WorkItemCommand } from "#pipeline/contract"
import { type SuggestionView, WorkItemsGroup } from "#pipeline/api"
import { HttpCall, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import { workItemOfSuggestion } from "#pipeline"
import { Commands } from "../Commands.ts"
import { History } from "../History.ts"
import { Creation } from "../Creation.ts"
import { readWorkItems, workItemRow, workItemView } from "../views.ts"
import {
  apiOptions,
  commandId,
  createOnce,
  cursorOf,
  freshness,
  noSuch,
  pageOf,
  pathId,
  placeOf,
  refusing,
  rowKey,
  validated
} from "./requests.ts"

const command = Effect.fnUntraced(function* (given: WorkItemCommand) {
  const id = yield* pathId("workitem")
  const address = { id, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("workitem", address, given))
  if (state === null) return yield* noSuch("workitem")
  return jsonAnswer(workItemView(id, state, sequence))
})

const isUuid = Schema.is(Uuid)
const noSuggestion = notFound("no such suggestion", "suggestion_not_found")

export const workItemRoutes = routesOf(
  WorkItemsGroup,
  {
    createWorkItem: ({ body }) =>
      createOnce(
        body,
        Effect.fnUntraced(function* (id, wanted) {
          const { state, sequence } = yield* validated(yield* (yield* Creation).create(id, wanted))
          const headers = { location: `/workitems/${id}` }
          return jsonAnswer(workItemView(id, state, sequence), { status: 201, headers })
        })
      ),

    listWorkItems: ({ query }) =>
      Effect.gen(function* () {
        const filters = yield* query
        const place = yield* placeOf(filters)
        const rows = (yield* Views).list({
          entity: "workitem",
          ...(filters.project === undefined ? {} : { project: filters.project }),
          ...(filters.state === undefined ? {} : { states: [filters.state] })
        })
        const found = readWorkItems(rows).filter(
          ({ summary: item }) =>
            (filters.release === undefined || item.releaseId === filters.release) &&
            (filters.externalId === undefined || item.externalId === filters.externalId) &&
            (filters.kind === undefined || item.kind === filters.kind)
        )
        const { items, nextCursor } = pageOf(found, rowKey, place)
        return jsonAnswer({ items: items.map(workItemRow), nextCursor, ...(yield* freshness) })
      }),

    getWorkItem: () =>
      Effect.gen(function* () {
        const id = yield* pathId("workitem")
        const found = yield* refusing((yield* Commands).read("workitem", id))
        if (Option.isNone(found)) return yield* noSuch("workitem")
        return jsonAnswer(workItemView(id, found.value.state, found.value.sequence))
      }),

    getWorkItemHistory: ({ query }) =>
      Effect.gen(function* () {
        const id = yield* pathId("workitem")
        const { after = "0", limit } = yield* placeOf(yield* query)
        if (!/^\d{1,15}$/u.test(after)) return yield* validationFailed({ cursor: "is not the nextCursor of a page" })
        if (Option.isNone(yield* refusing((yield* Commands).read("workitem", id)))) return yield* noSuch("workitem")
        const records = yield* refusing((yield* History).page(id, Number(after), limit + 1))
        const items = records.slice(0, limit)
        const last = items.at(-1)
        return jsonAnswer({
          items,
          nextCursor: last === undefined || records.length <= limit ? null : cursorOf(String(last.sequence))
        })
      }),

    /** A field of the body wins over the same field of the query. */
    cancelWorkItem: ({ query, body }) =>
      Effect.gen(function* () {
        const byQuery = yield* query
        const byBody = yield* body
        const reason = byBody.reason ?? byQuery.reason ?? null
        const resolutionSha = byBody.resolutionSha ?? byQuery.resolutionSha ?? null
        return yield* command({ _tag: "Cancel", reason, resolutionSha })
      }),

    answerQuestion: ({ body }) =>
      Effect.gen(function* () {
        const { questionId, answer } = yield* body
        return yield* command({ _tag: "Answer", questionId, answer })
      }),

    dismissQuestion: ({ body }) =>
      Effect.gen(function* () {
        const { questionId, reason } = yield* body
        return yield* command({ _tag: "DismissQuestion", questionId, reason: reason ?? null })
      }),

    resumeWorkItem: () => command({ _tag: "Resume" }),

    delegateWorkItem: ({ body }) =>
      Effect.gen(function* () {
        const { reason, note } = yield* body
        return yield* command({ _tag: "Delegate", trigger: "operator", reason, note: note ?? null })
      }),

    getSuggestion: () =>
      Effect.gen(function* () {
        const { params } = yield* HttpCall
        const suggestionId = params["id"] ?? ""
        const workItemId = workItemOfSuggestion(suggestionId)
        if (!isUuid(workItemId)) return yield* noSuggestion
        const item = yield* refusing((yield* Commands).read("workitem", workItemId))
        if (Option.isNone(item)) return yield* noSuggestion
        const found = yield* refusing((yield* History).suggestion(workItemId, suggestionId))
        if (Option.isNone(found)) return yield* noSuggestion
        const view: SuggestionView = { ...found.value, workItemId, projectId: item.value.state.projectId }
        return jsonAnswer(view)
      })
  },
  apiOptions
)
