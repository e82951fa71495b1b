/**
 * The reason why a call is refused, before a route has put it in its own shape. The codes are grouped by what a caller
 * does next: read the code, choose another model, or pay.
 */
import { Schema } from "effect"
import { type ModelEntry, modelKinds } from "#gateway/contract"
import { type GatewayCode, gatewayCodes } from "#gateway/api"

const Detail = Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String })

export class GatewayFault extends Schema.TaggedError<GatewayFault>()("GatewayFault", {
  code: Schema.Literals(Object.keys(gatewayCodes) as ReadonlyArray<GatewayCode>),
  message: Schema.String,
  /** The field of the request that is wrong. */
  param: Schema.optionalKey(Schema.String),
  /** The provider's own message, without anything that callers must not see. */
  debug: Schema.optionalKey(Schema.String),
  details: Schema.optionalKey(Schema.Array(Detail)),
  /** The model family whose limit refused the call. */
  source: Schema.optionalKey(Schema.String),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}) {}

export class UnknownModel extends Schema.TaggedError<UnknownModel>()("UnknownModel", {
  model: Schema.String,
  suggestions: Schema.Array(Schema.String),
  /** Its kind, if it is served by another route. */
  kind: Schema.optionalKey(Schema.Literals(modelKinds)),
  /** Set if the path itself names it. */
  status: Schema.optionalKey(Schema.Literal(404))
}) {}

/** The facts that a fault can have, besides its code; undefined ones are omitted. */
interface FaultFacts {
  readonly message?: string | undefined
  readonly param?: string | undefined
  readonly debug?: string | undefined
  readonly details?: GatewayFault["details"]
  readonly source?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly headers?: GatewayFault["headers"]
}

/** The fault with its code's usual words, or with the given ones. */
export const fault = (code: GatewayCode, more: FaultFacts = {}): GatewayFault => {
  const { message, ...rest } = more
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return new GatewayFault({ code, message: message ?? gatewayCodes[code].message, ...given })
}

/** The route family whose error shape is used. */
export type ErrorDialect = "chat" | "messages" | "responses" | "images" | "embeddings"

const anthropicTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  402: "billing_error",
  404: "not_found_error",
  // An identifier that is taken stays taken; `x-should-retry` states whether to try again.
  409: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
  504: "timeout_error"
}

export const statusOf = (code: GatewayCode): number => gatewayCodes[code].status

/** A fault in the shape of its route: OpenAI's envelope with its mirrors, Anthropic's, or that of responses. Pure. */
export const faultBody = (dialect: ErrorDialect, fault: GatewayFault): Readonly<Record<string, unknown>> => {
  const { code, message, param = null, debug, details, source, retryAfterSeconds } = fault
  const { status, type } = gatewayCodes[code]
  const limits = status === 429 ? { source: source ?? "gateway", retry_after_seconds: retryAfterSeconds ?? 1 } : {}
  if (dialect === "messages") {
    // Anthropic's envelope has no field for codes. Payment codes are included all the same, because clients act on
    // them.
    const error = {
      type: anthropicTypes[status] ?? "api_error",
      message,
      ...(code.startsWith("PAYMENT_") ? { code } : {})
    }
    return { type: "error", error, ...limits }
  }
  if (dialect === "responses") return { error: { message, type, param, code }, ...limits }
  return {
    error: { message, type, code, param },
    message,
    code,
    ...(debug === undefined ? {} : { debug }),
    ...(details === undefined ? {} : { details }),
    ...limits
  }
}

export const faultHeaders = ({ code, headers, source, retryAfterSeconds }: GatewayFault) => ({
  "cache-control": "no-store",
  "x-error-code": code,
  ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  ...(code === "RATE_LIMITED" && source !== undefined ? { "x-ratelimit-source": source } : {}),
  ...headers
})

const servedBy: Readonly<Record<ModelEntry["Kind"], string>> = {
  chat: "a chat model, for POST /v1/chat/completions, /v1/messages and /v1/responses",
  image: "an image model, for POST /v1/images/generations",
  embedding: "an embedding model, for POST /v1/embeddings"
}

/** The same words on every route. */
export const unknownModelBody = ({ model, suggestions, kind }: UnknownModel) => {
  const unknown = kind === undefined ? model : `${model} is ${servedBy[kind]}`
  const hint = suggestions.length === 0 ? "" : ` Try one of: ${suggestions.join(", ")}.`
  return { error: `Unknown model: ${unknown}.${hint} Full list: GET /v1/models` }
}
