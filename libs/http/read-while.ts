/**
 * A body whose limit depends on what it holds: past a first limit it is read on only if what has come says
 * that it may be larger. Nothing over the limit in force is kept.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { eachPart } from "./read-parts.ts"
import { badRequest, payloadTooLarge, unsupportedMediaType } from "./wire-errors.ts"

export interface ReadWhileOptions {
  readonly bytesMax: number
  readonly bytesMaxPlain: number
  /** Asked once, of the first `bytesMaxPlain` bytes of a body that is larger. */
  readonly mayBeLarger: (head: Uint8Array) => boolean
}

/** The whole body, or 413. */
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
