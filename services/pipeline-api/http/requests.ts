/**
 * The common steps of every handler: it reads the request, makes its command's id, and turns a refusal into a wire
 * error.
 */
import { hash, randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import type { CommandError } from "#actors"
import type { BusError } from "#bus"
import { type CommandEntity, Uuid } from "#contracts"
import {
  amended,
  type Answer,
  Caller,
  conflict,
  HttpCall,
  Idempotency,
  idempotencyKey,
  internalError,
  jsonFingerprint,
  notFound,
  serviceUnavailable,
  type WireError
} from "#http"
import { entityNames } from "#pipeline"
import { Configuration } from "#runtime"

/** Options for the routes of all groups. */
export const apiOptions = { bodyBytesMax: Effect.map(Configuration, ({ PipelineApi }) => PipelineApi.BodyBytesMax) }

const isUuid = Schema.is(Uuid)

/** The id in the path. A text that cannot be an id names nothing. */
export const pathId = (entity: CommandEntity) =>
  Effect.flatMap(HttpCall, ({ params }) => {
    const id = params["id"] ?? ""
    const isId = entity === "workitem" || entity === "release" ? isUuid(id) : id !== "" && id.length <= 256
    // A subject holds no half of a surrogate pair, and no token beyond this length.
    return isId && id.isWellFormed() && encodedLength(id) <= tokenCharactersMax
      ? Effect.succeed(isUuid(id) ? id.toLowerCase() : id)
      : Effect.fail(noSuch(entity))
  })

const tokenCharactersMax = 512
const encodedLength = (id: string) => Buffer.byteLength(id) * 3 - (id.match(/[A-Za-z0-9_-]/gu)?.length ?? 0) * 2

/** The same id for a request that is repeated with its key, so that it is carried out once. */
export const commandId = Effect.gen(function* () {
  const key = yield* idempotencyKey(undefined)
  if (key === undefined) return randomUUID()
  const { workspace } = yield* Caller
  const { method, route, params } = yield* HttpCall
  return uuidFrom(workspace, method, route, JSON.stringify(params), key)
})

/** The caller's name in pauses and resumptions. */
export const callerName = Effect.map(Caller, ({ workspace, tokenId }) => `${workspace}/${tokenId}`)

/**
 * Creates something once for each idempotency key: a repeated request gets the first one's answer. Even if that answer
 * was lost on the way, nothing is created twice, for the id is made from the key. `create` is given that id.
 */
export const createOnce = <Body, A extends Answer, R1, R2>(
  read: Effect.Effect<Body, WireError, R1>,
  create: (id: string, body: Body) => Effect.Effect<A, CommandError | WireError, R2>
) =>
  Effect.gen(function* () {
    const body = yield* read
    const key = yield* idempotencyKey(undefined)
    const { workspace } = yield* Caller
    const { route } = yield* HttpCall
    const id = key === undefined ? randomUUID() : uuidFrom(workspace, route, key)
    const request = { workspace, route: `POST ${route}`, key, fingerprint: jsonFingerprint(body) }
    return yield* (yield* Idempotency).run(request, refusing(create(id, body)))
  })

/** Turns every failure on the way to an actor into a wire error. */
export const refusing = <A, R>(work: Effect.Effect<A, CommandError | BusError | WireError, R>) =>
  Effect.catch(work, (error) =>
    error._tag === "WireError" ? Effect.fail(error) : Effect.flatMap(refusalOf(error), Effect.fail)
  )

// After a lost race, or with the broker away, a caller may retry at once; a full log takes an operator.
const soonSeconds = 1
const fullSeconds = 30

const refusalOf = (error: CommandError): Effect.Effect<WireError> => {
  switch (error._tag) {
    case "Refusal":
      return Effect.succeed(amended(conflict(error.reason), { details: { state: error.state, reason: error.reason } }))
    case "EntityNotFound":
      return Effect.succeed(noSuch(error.entity as keyof typeof entityNames))
    case "EntityBusy":
    case "PreconditionFailed":
      return Effect.succeed(serviceUnavailable(soonSeconds, "too many want to change it at once"))
    case "StreamFull":
      return Effect.succeed(serviceUnavailable(fullSeconds, "the log is full, nothing can be decided"))
    case "BusUnavailable":
    case "RevisionConflict":
      return Effect.succeed(serviceUnavailable(soonSeconds, "the log cannot be reached just now"))
    default:
      return Effect.as(Effect.logError("the broker refused what it should not have", error), internalError())
  }
}

export const noSuch = (entity: keyof typeof entityNames): WireError =>
  notFound(`no such ${entityNames[entity]}`, `${entityNames[entity].replaceAll(" ", "_")}_not_found`)

/**
 * A UUID in the shape of version 5, always the same for the same words, so that a repeated request does the same thing.
 */
const uuidFrom = (...words: ReadonlyArray<string>): string => {
  const hex = hash("sha256", JSON.stringify(words), "hex")
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32)
  ].join("-")
}
