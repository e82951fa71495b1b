/** Work items over HTTP: creating, listing, looking at them, and what operators do with them. */
import { Effect, Option, Result, Schema } from "effect"
import { Views } from "#actors"
import {
  AnswerQuestionRequest,
  CancelWorkItemQuery,
  CancelWorkItemRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
  HistoryQuery,
  type SuggestionView,
  Uuid,
  type WorkItemCommand,
  WorkItemsQuery
} from "#contracts"
import { authenticated, HttpCall, jsonAnswer, notFound, readQuery, route, validationFailed } from "#http"
import { workItemOfSuggestion } from "#pipeline"
import { Commands } from "../Commands.ts"
import { History } from "../History.ts"
import { Creation } from "../Creation.ts"
import { workItemRow, workItemView } from "../views/work-item.ts"
import { readWorkItems } from "../views/rows.ts"
import { cursorOf, freshness, pageOf, placeOf, rowKey } from "./paging.ts"
import { commandId, createOnce, noSuch, pathId, readBody, readBodyIfAny, refusing } from "./requests.ts"

const create = createOnce(
  CreateWorkItemRequest,
  Effect.fnUntraced(function* (id, body) {
    const created = yield* (yield* Creation).create(id, body)
    const { state, sequence } = yield* Result.isSuccess(created)
      ? Effect.succeed(created.success)
      : Effect.fail(validationFailed(created.failure))
    return jsonAnswer(workItemView(id, state, sequence), { status: 201, headers: { location: `/workitems/${id}` } })
  })
)

const get = Effect.gen(function* () {
  const id = yield* pathId("workitem")
  const held = yield* refusing((yield* Commands).read("workitem", id))
  if (Option.isNone(held)) return yield* noSuch("workitem")
  return jsonAnswer(workItemView(id, held.value.state, held.value.sequence))
})

const command = Effect.fnUntraced(function* (given: WorkItemCommand) {
  const id = yield* pathId("workitem")
  const address = { id, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("workitem", address, given))
  if (state === null) return yield* noSuch("workitem")
  return jsonAnswer(workItemView(id, state, sequence))
})

const answer = Effect.flatMap(readBody(AnswerQuestionRequest), ({ questionId, answer: text }) =>
  command({ _tag: "Answer", questionId, answer: text })
)

const dismiss = Effect.flatMap(readBody(DismissQuestionRequest), ({ questionId, reason }) =>
  command({ _tag: "DismissQuestion", questionId, reason: reason ?? null })
)

const delegate = Effect.flatMap(readBody(DelegateWorkItemRequest), ({ reason, note }) =>
  command({ _tag: "Delegate", trigger: "operator", reason, note: note ?? null })
)

/** The body goes before the query, field by field. */
const cancel = Effect.gen(function* () {
  const query = yield* readQuery(CancelWorkItemQuery)
  const body = yield* readBodyIfAny(CancelWorkItemRequest, {})
  const reason = body.reason ?? query.reason ?? null
  const resolutionSha = body.resolutionSha ?? query.resolutionSha ?? null
  return yield* command({ _tag: "Cancel", reason, resolutionSha })
})

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

const write = authenticated("pipeline:write")
const read = authenticated("pipeline:read")

export const workItemRoutes = [
  route("POST", "/workitems", write(create)),
  route("GET", "/workitems/:id", read(get)),
  route("DELETE", "/workitems/:id", write(cancel)),
  route("POST", "/workitems/:id/answer", write(answer)),
  route("POST", "/workitems/:id/dismiss-question", write(dismiss)),
  route("POST", "/workitems/:id/resume", write(command({ _tag: "Resume" }))),
  route("POST", "/workitems/:id/delegate", write(delegate)),
  route("GET", "/workitems", read(list)),
  route("GET", "/workitems/:id/history", read(history)),
  route("GET", "/suggestions/:id", read(suggestion))
] as const
