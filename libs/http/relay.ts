/**
 * A call forwarded to another server, and its answer as it arrives. Headers of a single connection are not forwarded,
 * nor are cookies in either direction, nor what a browser says about its page. An answer never counts as a page of
 * ours.
 */
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Answer, type Bytes, logBreak } from "./answers.ts"
import { readBytes } from "./bodies/read-body.ts"
import { HttpCall } from "./HttpCall.ts"
import type { Method } from "./listener/routes.ts"

type Headers = Readonly<Record<string, string>>

export interface RelayedCall {
  readonly method: Method
  /** What follows the prefix, as written: path and query. */
  readonly target: string
  readonly headers: Headers
  readonly body: Uint8Array | null
}

interface RelayOptions {
  /** The part of the path that is ours, without a trailing slash. */
  readonly prefix: string
  readonly bodyBytesMax: number
  /** More headers that are not forwarded, in lower case. */
  readonly headersLeft?: ReadonlyArray<string>
}

const ofConnection = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length"]
const ofRequest = [...ofConnection, "host", "cookie", "authorization", "origin", "referer", "accept-encoding", "expect"]
const ofAnswer = [...ofConnection, "set-cookie", "content-security-policy"]
const prefixesLeft = ["proxy-", "sec-", "x-forwarded-", "access-control-"]

const without = (headers: Readonly<Record<string, string | undefined>>, names: ReadonlyArray<string>): Headers => {
  // A sender can declare more headers to be per connection.
  const named = (headers["connection"] ?? "").split(",").map((name) => name.trim().toLowerCase())
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !names.includes(entry[0]) &&
      !named.includes(entry[0]) &&
      !prefixesLeft.some((prefix) => entry[0].startsWith(prefix))
  )
  return Object.fromEntries(kept)
}

/** The call with its entire body. */
export const relayedCall = Effect.fnUntraced(function* ({ prefix, bodyBytesMax, headersLeft = [] }: RelayOptions) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { requestId } = yield* HttpCall
  const method = request.method === "HEAD" ? "GET" : (request.method as Method)
  const body = method === "GET" ? null : yield* readBytes({ bytesMax: bodyBytesMax })
  const call: RelayedCall = {
    method,
    target: request.url.slice(prefix.length),
    headers: { ...without(request.headers, [...ofRequest, ...headersLeft]), "x-request-id": requestId },
    body: body === null || body.length === 0 ? null : body
  }
  return call
})

/** Undefined for a path that escapes the base. Pure. */
export const urlBelow = (base: string, target: string): string | undefined => {
  const root = new URL(base)
  const above = root.pathname.replace(/\/$/u, "")
  const made = `${root.origin}${above}${target}`
  if (!target.startsWith("/") || !URL.canParse(made)) return undefined
  const { origin, pathname, href } = new URL(made)
  return origin === root.origin && pathname.startsWith(`${above}/`) ? href : undefined
}

// Opened by its address, an answer is not a page: a picture that somebody uploaded may contain a script.
const noPage = {
  "content-security-policy": "default-src 'none'; sandbox allow-downloads",
  "x-content-type-options": "nosniff"
}

interface RelayedAnswer<E> {
  readonly status: number
  readonly headers: Headers
  readonly body: Stream.Stream<Bytes, E>
}

/** Its head goes out at once, and each piece as it arrives. */
export const relayedAnswer = <E>({ status, headers, body }: RelayedAnswer<E>): Answer => {
  const { "content-type": contentType, ...rest } = without(headers, ofAnswer)
  const bytes = Number(headers["content-length"] ?? Number.NaN)
  const all = { ...rest, ...noPage }
  if (status === 204 || status === 304) return HttpServerResponse.empty({ status, headers: all })
  return HttpServerResponse.stream(Stream.tapCause(body, logBreak), {
    status,
    headers: all,
    contentType: contentType ?? "application/octet-stream",
    contentLength: Number.isSafeInteger(bytes) ? bytes : undefined
  })
}
