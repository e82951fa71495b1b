/** The routes that look at many records: lists of work items, an item's history, and suggestions with their reasons. */
import { Effect, Option, Schema } from "effect"
import { Views } from "#actors"
import { HistoryQuery, type SuggestionView, WorkItemsQuery, Uuid } from "#contracts"
import { authenticated, HttpCall, jsonAnswer, notFound, readQuery, route, validationFailed } from "#http"
import { Commands } from "../Commands.ts"
import { History } from "../History.ts"
import { workItemRow } from "../shown/work-item.ts"
import { readWorkItems } from "../view-summaries.ts"
import { workItemOfSuggestion } from "#pipeline"
import { cursorOf, freshness, pageOf, placeOf, rowKey } from "./paging.ts"
import { noSuch, refusing } from "./refusals.ts"
import { pathId } from "./requests.ts"

const list = Effect.gen(function* () {
  const query = yield* readQuery(WorkItemsQuery)
  const place = yield* placeOf(query)
  const rows = (yield* Views).list({
    entity: "workitem",
    ...(query.project === undefined ? {} : { project: query.project }),
    ...(query.state === undefined ? {} : { states: [query.state] })
  })
  const found = readWorkItems(rows).filter(
    ({ summary: item }) =>
      (query.release === undefined || item.releaseId === query.release) &&
      (query.externalId === undefined || item.externalId === query.externalId) &&
      (query.kind === undefined || item.kind === query.kind)
  )
  const { items, nextCursor } = pageOf(found, rowKey, place)
  return jsonAnswer({ items: items.map(workItemRow), nextCursor, ...(yield* freshness) })
})

const history = Effect.gen(function* () {
  const id = yield* pathId("workitem")
  const { after = "0", limit } = yield* placeOf(yield* readQuery(HistoryQuery))
  if (!/^\d{1,15}$/u.test(after)) return yield* validationFailed({ cursor: "is not the nextCursor of a page" })
  if (Option.isNone(yield* refusing((yield* Commands).read("workitem", id)))) return yield* noSuch("workitem")
  const records = yield* refusing((yield* History).page(id, Number(after), limit + 1))
  const items = records.slice(0, limit)
  const last = items.at(-1)
  return jsonAnswer({
    items,
    nextCursor: last === undefined || records.length <= limit ? null : cursorOf(String(last.sequence))
  })
})

const isUuid = Schema.is(Uuid)
const noSuggestion = notFound("no such suggestion", "suggestion_not_found")

const suggestion = Effect.gen(function* () {
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

const read = authenticated("pipeline:read")

export const workItemListRoutes = [
  route("GET", "/workitems", read(list)),
  route("GET", "/workitems/:id/history", read(history)),
  route("GET", "/suggestions/:id", read(suggestion))
] as const
