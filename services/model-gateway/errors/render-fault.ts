/** A refusal in the shape of each route: OpenAI's envelope with its mirrors, Anthropic's, or that of responses. Pure. */
import { type GatewayCode, gatewayCodes } from "#contracts"
import type { GatewayFault, UnknownModel } from "./GatewayFault.ts"

/** Whose shapes a route speaks. */
export type Face = "chat" | "messages" | "responses" | "images"

const anthropicTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  402: "billing_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
  504: "timeout_error"
}

export const anthropicTypeOf = (status: number): string => anthropicTypes[status] ?? "api_error"

export const statusOf = (code: GatewayCode): number => gatewayCodes[code].status

export const faultBody = (face: Face, fault: GatewayFault): Readonly<Record<string, unknown>> => {
  const { code, message, param = null, debug, details, source, retryAfterSeconds } = fault
  const { status, type } = gatewayCodes[code]
  const limits = status === 429 ? { source: source ?? "gateway", retry_after_seconds: retryAfterSeconds ?? 1 } : {}
  if (face === "messages") {
    // Anthropic's envelope has no place for codes: those of payments stand in it all the same, for clients act on them.
    const error = { type: anthropicTypeOf(status), message, ...(code.startsWith("PAYMENT_") ? { code } : {}) }
    return { type: "error", error, ...limits }
  }
  if (face === "responses") return { error: { message, type, param, code }, ...limits }
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

/** The same words on every route. */
export const unknownModelBody = ({ model, suggestions }: UnknownModel) => {
  const hint = suggestions.length === 0 ? "" : ` Try one of: ${suggestions.join(", ")}.`
  return { error: `Unknown model: ${model}.${hint} Full list: GET /v1/models` }
}
