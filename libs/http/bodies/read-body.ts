/**
 * Reads what a caller sends: never more than the limit, whatever it announced; strict UTF-8; JSON of bounded depth; and
 * a schema, whose faults are told all at once. The limit may depend on what the body turns out to hold.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Effect, Schema } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { badRequest, fieldsOf, payloadTooLarge, unsupportedMediaType, validationFailed } from "../WireError.ts"
import { jsonFault } from "./json-text.ts"

interface BodyOptions {
  readonly bytesMax: number
}

interface JsonOptions extends BodyOptions {
  /** Arrays and objects within each other. */
  readonly depthMax?: number
  /** What a body that does not fit the schema is answered with. */
  readonly status?: 400 | 422
  /** Fields that are null are taken as absent: what clients send that write out every field they know. */
  readonly nullIsAbsent?: boolean
}

const depthMaxDefault = 32
const json = "application/json"
const utf8Strict = new TextDecoder("utf-8", { fatal: true })

/** The whole body, or 413. It is not unpacked: a limit on what arrives would be none on what comes out. */
export const readBytes = Effect.fnUntraced(function* ({ bytesMax }: BodyOptions) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* requireUnpacked(bytesMax)
  const buffer = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(bytesMax)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? payloadTooLarge(bytesMax)
        : badRequest("the body broke off")
    )
  )
  return new Uint8Array(buffer)
})

/** Fails for a packed body, and at once for one that is announced as too large, before it is sent. */
export const requireUnpacked = Effect.fnUntraced(function* (bytesMax: number) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return yield* unsupportedMediaType(["sent without a Content-Encoding"])
  }
  if (Number(headers["content-length"] ?? 0) > bytesMax) return yield* payloadTooLarge(bytesMax)
})

/** Fails unless the body is of one of these media types; parameters do not matter. */
export const requireMediaType = Effect.fnUntraced(function* (...supported: ReadonlyArray<string>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (!supported.includes(type)) return yield* unsupportedMediaType(supported)
  return type
})

/** A JSON body, not yet looked at. */
export const readJsonValue = Effect.fnUntraced(function* (options: JsonOptions) {
  yield* requireMediaType(json)
  const text = yield* decodeText(yield* readBytes(options))
  if (text === "") return yield* badRequest("the body is empty, JSON is expected", { offset: 0 })
  const fault = jsonFault(text, options.depthMax ?? depthMaxDefault)
  if (fault !== undefined) {
    return yield* badRequest(`the body is not acceptable JSON: ${fault.reason} at offset ${fault.offset}`, {
      offset: fault.offset
    })
  }
  return JSON.parse(text) as unknown
})

/** A JSON body that fits the schema; keys it does not name are dropped. */
export const readJson = <A, I, RD>(schema: Schema.Codec<A, I, RD, unknown>, options: JsonOptions) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  return Effect.flatMap(readJsonValue(options), (value) =>
    Effect.mapError(decode(options.nullIsAbsent === true ? withoutNulls(value) : value), ({ issue }) =>
      validationFailed(fieldsOf(issue), options.status)
    )
  )
}

/** Elements of arrays keep their places. The depth is bounded by then. */
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

interface ReadWhileOptions {
  readonly bytesMax: number
  readonly bytesMaxPlain: number
  /** Asked once, of the first `bytesMaxPlain` bytes of a body that is larger. */
  readonly mayBeLarger: (head: Uint8Array) => boolean
}

/** The whole body, or 413: past a first limit it is read on only if what has come says that it may be larger. */
export const readBytesWhile = Effect.fnUntraced(function* (options: ReadWhileOptions) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { headers } = request
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return yield* unsupportedMediaType(["sent without a Content-Encoding"])
  }
  const { bytesMax, bytesMaxPlain } = options
  if (Number(headers["content-length"] ?? 0) > bytesMax) return yield* payloadTooLarge(bytesMax)
  const parts: Array<Uint8Array> = []
  let bytes = 0
  let limit = Math.min(bytesMaxPlain, bytesMax)
  const source = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
  yield* eachPart(
    source,
    () => badRequest("the body broke off"),
    (part) => {
      parts.push(part)
      bytes += part.length
      if (bytes > limit && limit < bytesMax) {
        if (!options.mayBeLarger(Buffer.concat(parts))) return payloadTooLarge(limit)
        limit = bytesMax
      }
      return bytes > limit ? payloadTooLarge(limit) : undefined
    }
  )
  return new Uint8Array(Buffer.concat(parts, bytes))
})

/** Why no more is wanted; undefined to go on. */
type OnPart<E> = (part: Uint8Array) => E | undefined

/**
 * Tells the parts of a body to a callback, as node hands them out; who stops early lets the rest run past. A stream of
 * Effect's own takes a scope, a pull and a watcher for each request, which outlive the collector's quick rounds: pauses
 * of 10 ms where there are 1 to 2. `brokenOff`: what a body that does not come to its end fails with.
 */
const eachPart = <E, B>(source: IncomingMessage, brokenOff: () => B, onPart: OnPart<E>) =>
  Effect.callback<void, E | B>((resume) => {
    if (source.readableEnded) return resume(Effect.void)
    if (source.destroyed) return resume(Effect.fail(brokenOff()))
    const onData = (part: Uint8Array) => {
      const refusal = onPart(part)
      if (refusal === undefined) return
      leave()
      source.resume()
      resume(Effect.fail(refusal))
    }
    const onEnd = () => {
      leave()
      resume(Effect.void)
    }
    const onBroken = () => {
      leave()
      resume(Effect.fail(brokenOff()))
    }
    const leave = () => {
      source.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken)
    }
    source.on("data", onData).once("end", onEnd).once("error", onBroken).once("close", onBroken)
    return Effect.sync(leave)
  })
