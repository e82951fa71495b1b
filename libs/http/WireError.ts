/**
 * A refusal before an API puts it in its envelope: status, code, message, and facts that help the caller to succeed
 * next time; and the common refusals by name. A handler fails with a refusal; any other failure is a defect.
 */
import { Schema } from "effect"
import type { DecodingFaults } from "#base"

const texts = Schema.Record(Schema.String, Schema.String)

export class WireError extends Schema.TaggedError<WireError>()("WireError", {
  status: Schema.Int,
  code: Schema.String,
  message: Schema.String,
  /** Faults by field path: `turns[0].input`. */
  fields: Schema.optionalKey(texts),
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  docsUrl: Schema.optionalKey(Schema.String),
  /** Headers that belong to the refusal, such as Retry-After. */
  headers: Schema.optionalKey(texts)
}) {}

/** The same refusal with additional details and headers. */
export const amended = (
  { status, code, message, fields, details, docsUrl, headers }: WireError,
  more: { readonly details?: WireError["details"]; readonly headers?: WireError["headers"] }
): WireError => {
  const all = {
    fields,
    docsUrl,
    details: details === undefined ? more.details : { ...details, ...more.details },
    headers: headers === undefined ? more.headers : { ...headers, ...more.headers }
  }
  const present = Object.entries(all).filter(([, value]) => value !== undefined)
  return new WireError({ status, code, message, ...Object.fromEntries(present) })
}

/** How an API writes a refusal: as the JSON body. */
export type RenderError = (error: WireError, requestId: string) => unknown

/** Headers in which an API reports a refusal, beside its body. */
export type ErrorHeaders = (error: WireError) => Readonly<Record<string, string>>

/** The envelope of our own APIs. */
export const renderStandardError: RenderError = ({ code, message, fields, details, docsUrl }, requestId) => ({
  error: {
    code,
    message,
    ...(fields === undefined ? {} : { fields }),
    ...(details === undefined ? {} : { details }),
    ...(docsUrl === undefined ? {} : { docs_url: docsUrl })
  },
  request_id: requestId
})

const messageCharactersMax = 200

/**
 * The refusal of a value by its faults with their paths, such as `turns[0].input`, in words short enough for an answer.
 */
export const notDecoded = ({ listed, mayBeMore }: DecodingFaults, status: 400 | 422 = 400): WireError => {
  const fields = new Map<string, string>()
  for (const { path, message } of listed) {
    const name = nameOf(path)
    if (!fields.has(name)) fields.set(name, message.slice(0, messageCharactersMax))
  }
  const refused = validationFailed(Object.fromEntries(fields), status)
  return mayBeMore ? new WireError({ ...refused, message: `${refused.message}, and there may be more` }) : refused
}

const nameOf = (path: ReadonlyArray<PropertyKey>): string => {
  let name = ""
  for (const key of path) {
    if (typeof key === "number") name += `[${key}]`
    else name += name === "" ? String(key) : `.${String(key)}`
  }
  return name === "" ? "body" : name.slice(0, messageCharactersMax)
}

type Details = Readonly<Record<string, unknown>>

const refusal = (
  status: number,
  code: string,
  message: string,
  more: { details?: Details | undefined; headers?: Readonly<Record<string, string>> } = {}
) =>
  new WireError({
    status,
    code,
    message,
    ...(more.details === undefined ? {} : { details: more.details }),
    ...(more.headers === undefined ? {} : { headers: more.headers })
  })

// Rounded up, because a caller that returns too early is refused again.
const retryAfter = (seconds: number) => ({ "retry-after": String(Math.max(1, Math.ceil(seconds))) })

export const badRequest = (message: string, details?: Details) => refusal(400, "bad_request", message, { details })

/** `fields` holds every fault, by path. */
export const validationFailed = (fields: Readonly<Record<string, string>>, status: 400 | 422 = 400) => {
  const count = Object.keys(fields).length
  const message = count === 1 ? "1 field is not valid" : `${count} fields are not valid`
  return new WireError({ status, code: "validation_failed", message, fields })
}

export const unauthorized = (message = "a bearer token is required", challenge = "Bearer") =>
  refusal(401, "unauthorized", message, { headers: { "www-authenticate": challenge } })

export const forbidden = (message: string, details?: Details) => refusal(403, "forbidden", message, { details })

/** `scopes`: any one of them would have sufficed. */
export const insufficientScope = (scopes: ReadonlyArray<string>) =>
  refusal(403, "insufficient_scope", `this needs the scope ${scopes.join(" or ")}`, {
    details: { scopes },
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"` }
  })

/** `scopes`: those that the token has but its workspace does not allow. */
export const otherWorkspace = (workspace: string, scopes: ReadonlyArray<string>) =>
  refusal(
    403,
    "other_workspace",
    `${scopes.join(" or ")} reaches the whole fleet, which a token of the workspace ${workspace} may not`,
    { details: { scopes, workspace }, headers: { "www-authenticate": 'Bearer error="insufficient_scope"' } }
  )

export const notFound = (message: string, code = "not_found") => refusal(404, code, message)

export const methodNotAllowed = (allowed: ReadonlyArray<string>) =>
  refusal(405, "method_not_allowed", `use ${allowed.join(" or ")}`, { headers: { allow: allowed.join(", ") } })

export const requestTimeout = (message: string) => refusal(408, "request_timeout", message)

export const conflict = (message: string, code = "conflict") => refusal(409, code, message)

/** `part`: the form part that is too large; without it, the entire body is. */
export const payloadTooLarge = (bytesMax: number, part?: string) =>
  refusal(413, "payload_too_large", `${part ?? "the body"} is larger than ${bytesMax} bytes`, {
    details: { bytes_max: bytesMax, ...(part === undefined ? {} : { part }) }
  })

/** Too much of something other than bytes of content. */
export const tooMuch = (message: string, details: Details) => refusal(413, "payload_too_large", message, { details })

export const unsupportedMediaType = (supported: ReadonlyArray<string>) =>
  refusal(415, "unsupported_media_type", `the body must be ${supported.join(" or ")}`)

export const headersTooLarge = (bytesMax: number) =>
  refusal(431, "headers_too_large", `the headers are larger than ${bytesMax} bytes`)

/** `source` names the limit that refused. */
export const rateLimited = (
  retryAfterSeconds: number,
  source: string,
  headers: Readonly<Record<string, string>> = {}
) => {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds))
  return refusal(429, "rate_limited", `too many requests, try again in ${seconds} s`, {
    details: { source, retry_after_seconds: seconds },
    headers: { ...headers, ...retryAfter(seconds) }
  })
}

export const concurrencyLimitReached = (limit: number) =>
  refusal(429, "concurrency_limit_reached", `no more than ${limit} requests may run at once`, {
    details: { source: "concurrency", limit },
    headers: { ...retryAfter(1), "ratelimit-remaining-calls": "0" }
  })

export const internalError = () => refusal(500, "internal_error", "an internal error, it has been noted")

export const serviceUnavailable = (retryAfterSeconds: number, message = "not available just now") =>
  refusal(503, "service_unavailable", message, { headers: retryAfter(retryAfterSeconds) })
