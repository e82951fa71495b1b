/**
 * Reads the body of a request: never more than the limit, whatever length was announced; strict UTF-8; JSON of bounded
 * depth; and a schema, whose faults are reported all at once. The limit can depend on the body's content.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Result, type Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { boundedDecoder, parseJsonText, weightMaxOf } from "#base"
import {
  badRequest,
  notDecoded,
  payloadTooLarge,
  serviceUnavailable,
  tooMuch,
  unsupportedMediaType,
  type WireError
} from "../WireError.ts"
import type { RoomLease } from "./BodyRoom.ts"

interface BodyOptions {
  readonly bytesMax: number
}

interface JsonOptions extends BodyOptions {
  /** How deep arrays and objects can nest. */
  readonly depthMax?: number
  /** The status for a body that does not fit the schema. */
  readonly status?: 400 | 422
  /** A body without a Content-Type counts as JSON, because some clients send none. */
  readonly isTypeOptional?: boolean
  /** Null fields count as absent, because some clients send every field that they know. */
  readonly nullIsAbsent?: boolean
}

const depthMaxDefault = 32
const json = "application/json"
const utf8Strict = new TextDecoder("utf-8", { fatal: true })

/** The entire body, or 413. A compressed body is refused: a limit on its bytes would not limit its content. */
export const readBytes = ({ bytesMax }: BodyOptions) =>
  readBytesWhile({ bytesMax, bytesMaxPlain: bytesMax, mayBeLarger: () => false })

/** Fails for a compressed body, and for one whose announced length is too large, before it is sent. */
export const requireUnpacked = Effect.fnUntraced(function* (bytesMax: number) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return yield* unsupportedMediaType(["sent without a Content-Encoding"])
  }
  if (Number(headers["content-length"] ?? 0) > bytesMax) return yield* payloadTooLarge(bytesMax)
})

/** Fails unless the body has one of these media types; parameters do not matter. */
export const requireMediaType = Effect.fnUntraced(function* (...supported: ReadonlyArray<string>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (!supported.includes(type)) return yield* unsupportedMediaType(supported)
  return type
})

/** A JSON body, not yet decoded. */
export const readJsonValue = Effect.fnUntraced(function* (options: JsonOptions) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  if (options.isTypeOptional !== true || headers["content-type"] !== undefined) yield* requireMediaType(json)
  const text = yield* decodeText(yield* readBytes(options))
  if (text === "") return yield* badRequest("the body is empty, JSON is expected", { offset: 0 })
  return yield* Effect.fromResult(acceptedJson("body", text, options))
})

/** A text's JSON, within the allowed depth and the weight allowed for its size. */
const acceptedJson = (
  what: "body" | "message",
  text: string,
  { bytesMax, depthMax = depthMaxDefault }: JsonOptions
) => {
  const parsed = parseJsonText(text, { depthMax, weightMax: weightMaxOf(bytesMax) })
  return Result.mapError(parsed, ({ isTooLarge, offset, reason }) =>
    isTooLarge === true
      ? tooMuch(`the ${what} has ${reason}`, { offset })
      : badRequest(`the ${what} is not acceptable JSON: ${reason} at offset ${offset}`, { offset })
  )
}

/** A JSON body that fits the schema; keys unknown to the schema are dropped. */
export const readJson = <A, I>(schema: Schema.Codec<A, I>, options: JsonOptions) => {
  const decode = jsonDecoder(schema, options)
  return Effect.flatMap(readJsonValue(options), decode)
}

/** Decodes a JSON body that was read before. Fails with its faults. */
export const jsonDecoder = <A, I>(
  schema: Schema.Codec<A, I>,
  options: Pick<JsonOptions, "nullIsAbsent" | "status"> = {}
) => {
  const decode = decodeMessage(schema, options)
  return (value: unknown) => Effect.fromResult(decode(value))
}

/** The JSON of a message with a limit on its bytes. */
export const messageJson = (text: string, options: BodyOptions): Result.Result<unknown, WireError> =>
  acceptedJson("message", text, options)

/** Decodes a JSON message. A refusal lists its faults. */
export const decodeMessage = <A, I>(
  schema: Schema.Codec<A, I>,
  { nullIsAbsent = false, status }: Pick<JsonOptions, "nullIsAbsent" | "status"> = {}
) => {
  const decode = boundedDecoder(schema)
  return (value: unknown): Result.Result<A, WireError> =>
    Result.mapError(decode(nullIsAbsent ? withoutNulls(value) : value), (faults) => notDecoded(faults, status))
}

/** Array elements keep their places. The reader has already bounded the depth. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]))
}

const decodeText = (bytes: Uint8Array) =>
  Effect.try({
    try: () => utf8Strict.decode(bytes),
    catch: () => badRequest("the body is not UTF-8")
  })

/** How much of a body is read. */
export interface BodyLimits {
  readonly bytesMax: number
  readonly bytesMaxPlain: number
  /** Called once, with the first `bytesMaxPlain` bytes of a larger body. */
  readonly mayBeLarger: (head: Uint8Array) => boolean
}

interface ReadOptions extends BodyLimits {
  /** The memory that the request takes for its body; without it bodies are bounded only individually. */
  readonly room?: RoomLease
}

/**
 * The entire body, or 413, or 503 if there is no memory. Beyond a first limit it is read on only if the bytes so far
 * show that it can be larger.
 */
export const readBytesWhile = (options: ReadOptions) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const { bytesMax, room } = options
    const { headers } = request
    const announced = Number(headers["content-length"] ?? 0)
    if ((headers["content-encoding"] ?? "identity") !== "identity") {
      return Effect.fail(unsupportedMediaType(["sent without a Content-Encoding"]))
    }
    if (announced > bytesMax) return Effect.fail(payloadTooLarge(bytesMax))
    if (room !== undefined && !(room.fits(announced) && room.growTo(roomWith(0, announced)))) {
      return Effect.fail(noRoom())
    }
    const source = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    if (source.readableEnded) return Effect.succeed(new Uint8Array(0))
    if (source.destroyed) return Effect.fail(badRequest("the body broke off"))
    return takeParts(source, announced, options)
  })

/**
 * Takes a body's parts as node delivers them; after an early stop the rest is discarded. A stream of Effect's own takes
 * a scope, a pull and a watcher for each request, which outlive the collector's quick rounds: pauses of 10 ms instead
 * of 1 to 2.
 */
const takeParts = (
  source: IncomingMessage,
  announced: number,
  { bytesMax, bytesMaxPlain, mayBeLarger, room }: ReadOptions
) =>
  Effect.callback<Uint8Array, WireError>((resume) => {
    const parts: Array<Uint8Array> = []
    let bytes = 0
    let limit = Math.min(bytesMaxPlain, bytesMax)
    const end = (read: Effect.Effect<Uint8Array, WireError>) => {
      leave()
      resume(read)
    }
    const onData = (part: Uint8Array) => {
      parts.push(part)
      bytes += part.length
      const isLarger = bytes > limit && limit < bytesMax && mayBeLarger(Buffer.concat(parts))
      if (isLarger) limit = bytesMax
      const hasRoom = bytes > limit || room?.growTo(roomWith(bytes, announced)) !== false
      if (bytes <= limit && hasRoom) return
      source.resume()
      end(Effect.fail(hasRoom ? payloadTooLarge(limit) : noRoom()))
    }
    const onEnd = () => end(Effect.succeed(joined(parts, bytes)))
    const onBroken = () => end(Effect.fail(badRequest("the body broke off")))
    const leave = () => {
      source.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken)
    }
    source.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken)
    return Effect.sync(leave)
  })

// About what arrives at once.
const aheadBytes = 65_536

/** Little more than has arrived: callers that announce much and send nothing would hold all memory for a minute. */
const roomWith = (come: number, announced: number) => Math.min(Math.max(come, announced), come + aheadBytes)

const noRoom = () => serviceUnavailable(1, "too much is being read, try again")

/** Copies only if there is more than one part. */
const joined = (parts: ReadonlyArray<Uint8Array>, bytes: number): Uint8Array => {
  const [first] = parts
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts, bytes)
}
