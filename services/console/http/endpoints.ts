/** Webhook endpoints over HTTP. */
import { Effect } from "effect"
import type { BusError } from "#bus"
import { type AuditAction, findEvent } from "#contracts"
import {
  type ChangeEndpoint,
  type CreateEndpoint,
  EndpointsGroup,
  type OfRevision,
  type RotateSecrets,
  type TestEndpoint
} from "#contracts/console"
import { Caller, emptyAnswer, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import {
  type EndpointFailure,
  EndpointStates,
  overlapMsDefault,
  sendTest,
  type ShownEndpoint,
  WebhookEndpoints
} from "#webhooks"
import { AuditLog } from "../AuditLog.ts"
import {
  answering,
  endpointOfCall,
  endpointView,
  endpointViews,
  foundToChange,
  knownEndpoints,
  nameOfCall,
  ofRunTime,
  refuseConfigured,
  wholeView
} from "./endpoint-views.ts"
import { apiOptions, cursorText, entryPlaceOf, type PageRequest, refusing } from "./requests.ts"

type At = WebhookEndpoints["Service"]

const anyName = /^.+$/su

const listed = Effect.fnUntraced(function* (query: PageRequest) {
  const { limit, from = "" } = yield* entryPlaceOf(query, anyName)
  const rest = [...(yield* knownEndpoints).values()]
    .filter(({ name }) => name > from)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const items = yield* endpointViews(rest.slice(0, limit))
  const last = items.at(-1)
  const isWhole = last === undefined || rest.length <= limit
  return jsonAnswer({ items, nextCursor: isWhole ? null : cursorText(last.name) })
})

const create = Effect.fnUntraced(function* ({ reason, ...creation }: typeof CreateEndpoint.Type) {
  const name = creation.settings["Name"]
  yield* refuseConfigured(name)
  const { by } = yield* written("endpoint-create", typeof name === "string" ? name : "", reason)
  return jsonAnswer(yield* viewOf((at) => at.create({ ...creation, by })), { status: 201 })
})

const change = Effect.fnUntraced(function* ({ reason, revision, settings: changes }: typeof ChangeEndpoint.Type) {
  const name = yield* foundToChange
  const { by } = yield* written("endpoint-change", name, reason)
  return jsonAnswer(yield* viewOf((at) => at.change({ name, revision, changes, by })))
})

const rotate = Effect.fnUntraced(function* ({ reason, overlapSeconds, ...secrets }: typeof RotateSecrets.Type) {
  const name = yield* foundToChange
  const { by } = yield* written("endpoint-rotate", name, reason)
  const overlapMs = overlapSeconds === undefined ? overlapMsDefault : overlapSeconds * 1_000
  return jsonAnswer(yield* viewOf((at) => at.rotate({ ...secrets, name, overlapMs, by })))
})

const remove = Effect.fnUntraced(function* ({ reason, revision }: typeof OfRevision.Type) {
  const name = yield* nameOfCall
  yield* refuseConfigured(name)
  const at = yield* WebhookEndpoints
  // Whoever lost the answer asks again while it leaves: that is no second act, and waits as the first one did.
  const isThere = yield* answering(
    at.get(name).pipe(
      Effect.as(true),
      Effect.catchTag("NoSuchEndpoint", () => Effect.succeed(false))
    )
  )
  const { by } = isThere ? yield* written("endpoint-remove", name, reason) : { by: (yield* Caller).tokenId }
  const wasThere = yield* answering(at.remove({ name, revision, by }))
  return wasThere ? emptyAnswer() : yield* notFound("there is no such endpoint")
})

/** Enables or disables the endpoint of the call. */
const switching = (action: AuditAction, of: (at: At) => At["disable"]) =>
  Effect.fnUntraced(function* ({ reason, revision }: typeof OfRevision.Type) {
    const name = yield* foundToChange
    const { by } = yield* written(action, name, reason)
    return jsonAnswer(yield* viewOf((at) => of(at)({ name, revision, by })))
  })

const pause = Effect.fnUntraced(function* ({ reason }: Because) {
  const endpoint = yield* endpointOfCall
  const { by } = yield* written("endpoint-pause", endpoint.name, reason)
  yield* refusing((yield* EndpointStates).pause(endpoint.id, endpoint.name, { by, reason }))
  return jsonAnswer(yield* endpointView(endpoint))
})

const resume = Effect.fnUntraced(function* ({ reason }: Because) {
  const endpoint = yield* endpointOfCall
  yield* written("endpoint-resume", endpoint.name, reason)
  yield* refusing((yield* EndpointStates).resume(endpoint.id, endpoint.name))
  return jsonAnswer(yield* endpointView(endpoint))
})

const testEventDefault = "work_item.merged"

const test = Effect.fnUntraced(function* ({ reason, event = testEventDefault }: typeof TestEndpoint.Type) {
  if (findEvent(event) === undefined) return yield* validationFailed({ event: "is not in the catalogue" })
  const { id, name } = yield* endpointOfCall
  yield* written("endpoint-test", name, reason)
  return jsonAnswer({ deliveryId: yield* refusing(sendTest(id, event)) })
})

interface Because {
  readonly reason: string
}

const written = Effect.fnUntraced(function* (action: AuditAction, target: string, reason: string) {
  yield* (yield* AuditLog).write({ action, target, reason })
  return { by: (yield* Caller).tokenId }
})

/** Makes a change, and shows what came of it. */
const viewOf = (act: (at: At) => Effect.Effect<ShownEndpoint, EndpointFailure | BusError>) =>
  Effect.flatMap(answering(Effect.flatMap(WebhookEndpoints, act)), (shown) => endpointView(ofRunTime(shown)))

export const endpointsRoutes = routesOf(
  EndpointsGroup,
  {
    listEndpoints: ({ query }) => Effect.flatMap(query, listed),
    getEndpoint: () => Effect.map(Effect.flatMap(endpointOfCall, wholeView), (view) => jsonAnswer(view)),
    createEndpoint: ({ body }) => Effect.flatMap(body, create),
    changeEndpoint: ({ body }) => Effect.flatMap(body, change),
    rotateEndpoint: ({ body }) => Effect.flatMap(body, rotate),
    removeEndpoint: ({ body }) => Effect.flatMap(body, remove),
    enableEndpoint: ({ body }) =>
      Effect.flatMap(
        body,
        switching("endpoint-enable", (at) => at.enable)
      ),
    disableEndpoint: ({ body }) =>
      Effect.flatMap(
        body,
        switching("endpoint-disable", (at) => at.disable)
      ),
    pauseEndpoint: ({ body }) => Effect.flatMap(body, pause),
    resumeEndpoint: ({ body }) => Effect.flatMap(body, resume),
    testEndpoint: ({ body }) => Effect.flatMap(body, test)
  },
  apiOptions
)
