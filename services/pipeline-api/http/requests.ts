/** What the handlers read of a request: its body, its id in the path, and the command's id that goes with it. */
import { randomUUID } from "node:crypto"
import { Effect, Option, Schema } from "effect"
import { type CommandEntity, Uuid } from "#contracts"
import { Caller, HttpCall, idempotencyKey, readJson } from "#http"
import { Configuration } from "#runtime"
import { uuidFrom } from "../ids.ts"
import { noSuch } from "./refusals.ts"

export const readBody = <A, I>(schema: Schema.Codec<A, I>) =>
  Effect.flatMap(Configuration, ({ PipelineApi }) => readJson(schema, { bytesMax: PipelineApi.BodyBytesMax }))

/** A request without a body is one of `{}`. */
export const readBodyIfAny = <A, I>(schema: Schema.Codec<A, I>, otherwise: A) =>
  Effect.flatMap(HttpCall, ({ header }) => {
    const length = Option.getOrElse(header("content-length"), () => "0")
    const isEmpty = length === "0" && Option.isNone(header("transfer-encoding"))
    return isEmpty ? Effect.succeed(otherwise) : readBody(schema)
  })

const isUuid = Schema.is(Uuid)

/** The id in the path. What cannot be one belongs to nothing. */
export const pathId = (entity: CommandEntity) =>
  Effect.flatMap(HttpCall, ({ params }) => {
    const id = params["id"] ?? ""
    const isId = entity === "workitem" || entity === "release" ? isUuid(id) : id !== "" && id.length <= 256
    // A subject holds no half of a surrogate pair, and no longer token.
    return isId && id.isWellFormed() && encodedLength(id) <= tokenCharactersMax
      ? Effect.succeed(isUuid(id) ? id.toLowerCase() : id)
      : Effect.fail(noSuch(entity))
  })

const tokenCharactersMax = 512
const encodedLength = (id: string) => Buffer.byteLength(id) * 3 - (id.match(/[A-Za-z0-9_-]/gu)?.length ?? 0) * 2

/** The same for a request that is repeated with its key, so that it is carried out once. */
export const commandId = Effect.gen(function* () {
  const key = yield* idempotencyKey(undefined)
  if (key === undefined) return randomUUID()
  const { workspace } = yield* Caller
  const { method, route, params } = yield* HttpCall
  return uuidFrom(workspace, method, route, JSON.stringify(params), key)
})

/** Who it was, as pauses and resumptions name people. */
export const callerName = Effect.map(Caller, ({ workspace, tokenId }) => `${workspace}/${tokenId}`)
