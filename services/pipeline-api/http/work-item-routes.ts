/** The routes of single work items: creating one, looking at it, and what operators do with it. */
import { Effect, Option, Result } from "effect"
import {
  AnswerQuestionRequest,
  CancelWorkItemQuery,
  CancelWorkItemRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
  type WorkItemCommand
} from "#contracts"
import { authenticated, jsonAnswer, readQuery, route, validationFailed } from "#http"
import { Commands } from "../Commands.ts"
import { ItemCreation } from "../ItemCreation.ts"
import { workItemView } from "../shown/work-item.ts"
import { createOnce } from "./create-once.ts"
import { noSuch, refusing } from "./refusals.ts"
import { commandId, pathId, readBody, readBodyIfAny } from "./requests.ts"

const create = createOnce(
  CreateWorkItemRequest,
  Effect.fnUntraced(function* (id, body) {
    const created = yield* (yield* ItemCreation).create(id, body)
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

const write = authenticated("pipeline:write")
const read = authenticated("pipeline:read")

export const workItemRoutes = [
  route("POST", "/workitems", write(create)),
  route("GET", "/workitems/:id", read(get)),
  route("DELETE", "/workitems/:id", write(cancel)),
  route("POST", "/workitems/:id/answer", write(answer)),
  route("POST", "/workitems/:id/dismiss-question", write(dismiss)),
  route("POST", "/workitems/:id/resume", write(command({ _tag: "Resume" }))),
  route("POST", "/workitems/:id/delegate", write(delegate))
] as const
