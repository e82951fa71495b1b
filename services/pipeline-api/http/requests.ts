/**
 * The common steps of every handler: reading the request, deriving its command's id, and turning a refusal into a wire
 * error. Also paged lists: a cursor is the key after which the next page starts, in an order that no change of an entry
 * affects.
 */
import { hash, randomUUID } from "node:crypto"
import { Effect, Option, type Result, Schema } from "effect"
import { type CommandError, type ViewRow, Views } from "#actors"
import type { BusError } from "#bus"
import type { CommandEntity } from "#pipeline/contract"
import { pageSizeDefault, pageSizeMax, Uuid } from "#base"
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
  validationFailed,
  type WireError
} from "#http"
import { entityNames } from "#pipeline"
import { Configuration } from "#configuration"

/** Options for the routes of all groups. */
export const apiOptions = { bodyBytesMax: Effect.map(Configuration, ({ PipelineApi }) => PipelineApi.BodyBytesMax) }

const isUuid = Schema.is(Uuid)

/** The id in the path. A text that cannot be an id refers to nothing. */
export const pathId = (entity: CommandEntity) =>
  Effect.flatMap(HttpCall, ({ params }) => {
    const id = params["id"] ?? ""
    const isId = entity === "workitem" || entity === "release" ? isUuid(id) : id !== "" && id.length <= 256
    // A subject cannot hold half of a surrogate pair, or a token beyond this length.
    return isId && id.isWellFormed() && encodedLength(id) <= tokenCharactersMax
      ? Effect.succeed(isUuid(id) ? id.toLowerCase() : id)
      : Effect.fail(noSuch(entity))
  })

const tokenCharactersMax = 512
const encodedLength = (id: string) => Buffer.byteLength(id) * 3 - (id.match(/[A-Za-z0-9_-]/gu)?.length ?? 0) * 2

/** The same id for a request repeated with its key, so that it is carried out once. */
export const commandId = Effect.gen(function* () {
  const key = yield* idempotencyKey(undefined)
  if (key === undefined) return randomUUID()
  const { workspace } = yield* Caller
  const { method, route, params } = yield* HttpCall
  return uuidFrom(workspace, method, route, JSON.stringify(params), key)
})

/** What was created; fails with the fields that were wrong. */
export const validated = <A>(created: Result.Result<A, Readonly<Record<string, string>>>) =>
  Effect.mapError(Effect.fromResult(created), validationFailed)

/** The caller's name in pauses and resumptions. */
export const callerName = Effect.map(Caller, ({ workspace, tokenId }) => `${workspace}/${tokenId}`)

/**
 * Creates something once per idempotency key: a repeated request gets the first one's answer. Even if that answer was
 * lost on the way, nothing is created twice, because the id is derived from the key. `create` is given that id.
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
    // An optional field can also be null, with the same meaning.
    const fingerprint = jsonFingerprint(body, { nullIsAbsent: true })
    const request = { workspace, route: `POST ${route}`, key, fingerprint }
    return yield* (yield* Idempotency).run(request, refusing(create(id, body)))
  })

/** Turns every failure on the way to an actor into a wire error. */
export const refusing = <A, R>(work: Effect.Effect<A, CommandError | BusError | WireError, R>) =>
  Effect.catch(work, (error) =>
    error._tag === "WireError" ? Effect.fail(error) : Effect.flatMap(refusalOf(error), Effect.fail)
  )

// After a lost race, or with the broker away, a caller can retry at once; a full log needs an operator.
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
    case "BusNotFound":
    case "BusRefused":
      return Effect.as(Effect.logError("the broker refused what it should not have", error), internalError())
    default:
      return Effect.succeed(serviceUnavailable(soonSeconds, "the log cannot be reached just now"))
  }
}

export const noSuch = (entity: keyof typeof entityNames): WireError =>
  notFound(`no such ${entityNames[entity]}`, `${entityNames[entity].replaceAll(" ", "_")}_not_found`)

/**
 * A UUID in the format of version 5, always the same for the same words, so that a repeated request does the same
 * thing.
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

interface PageRequest {
  readonly limit?: string
  readonly cursor?: string
}

export interface PageCursor {
  readonly after: string | undefined
  readonly limit: number
}

export const placeOf = ({ limit, cursor }: PageRequest): Effect.Effect<PageCursor, WireError> => {
  const count = limit === undefined ? pageSizeDefault : Number(limit)
  const after = cursor === undefined ? Option.some(undefined) : readCursor(cursor)
  const faults = {
    ...(count < 1 || count > pageSizeMax ? { limit: `must be from 1 to ${pageSizeMax}` } : {}),
    ...(Option.isNone(after) ? { cursor: "is not the nextCursor of a page" } : {})
  }
  return Option.isNone(after) || Object.keys(faults).length > 0
    ? Effect.fail(validationFailed(faults))
    : Effect.succeed({ after: after.value, limit: count })
}

const cursorVersion = "1:"

export const cursorOf = (key: string): string => Buffer.from(`${cursorVersion}${key}`).toString("base64url")

const readCursor = (cursor: string): Option.Option<string | undefined> => {
  const text = Buffer.from(cursor, "base64url").toString()
  return text.startsWith(cursorVersion) && cursorOf(text.slice(cursorVersion.length)) === cursor
    ? Option.some(text.slice(cursorVersion.length))
    : Option.none()
}

/** `entries` must be in the order of their keys. */
export const pageOf = <A>(entries: ReadonlyArray<A>, keyOf: (entry: A) => string, { after, limit }: PageCursor) => {
  const rest = after === undefined ? entries : entries.filter((entry) => keyOf(entry) > after)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || rest.length <= limit ? null : cursorOf(keyOf(last)) }
}

// Times of this millennium have thirteen digits; the longest possible have sixteen.
const timeDigits = 16

/** The order of the views: by creation, oldest first. */
export const rowKey = ({ createdAtMs, id }: Pick<ViewRow, "createdAtMs" | "id">): string =>
  `${String(createdAtMs).padStart(timeDigits, "0")}:${id}`

/** The freshness reported by every list. */
export const freshness = Effect.map(Views, (views) => views.freshness())
