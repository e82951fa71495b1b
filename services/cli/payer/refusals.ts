/**
 * A refusal of the payer in one shape that every dialect reads: OpenAI's clients read `error`, Anthropic's the entire
 * body. Pure.
 */
import { type RenderError, WireError } from "#http"

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error"
}

export const renderRefusal: RenderError = ({ status, code, message }, requestId) => ({
  type: "error",
  error: { type: types[status] ?? (status < 500 ? "invalid_request_error" : "api_error"), code, message, param: null },
  request_id: requestId
})

// Clients of both vendors obey it.
const notAgain = { "x-should-retry": "false" }

/** Nothing was signed. */
export const unpaid = (code: string, message: string) =>
  new WireError({ status: 402, code, message: `${message}; nothing was signed`, headers: notAgain })

export const gatewayAway = (gatewayUrl: string, reason: string) =>
  new WireError({
    status: 502,
    code: "gateway_away",
    message: `the gateway at ${gatewayUrl} does not answer: ${reason}`
  })

/** Asking again would pay again. */
export const lostAfterSignature = (gatewayUrl: string, reason: string) =>
  new WireError({
    status: 502,
    code: "payment_unknown",
    message: `the payment was signed, and the gateway at ${gatewayUrl} broke off: ${reason}; it counts as spent`,
    headers: notAgain
  })
