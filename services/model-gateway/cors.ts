/** What pages of other origins may send to the gateway, and read of its answers. Wallets live in browsers. Pure. */
import type { CorsPolicy } from "#http"
import { exposedHeaders } from "#x402"

export const gatewayCors = (origins: CorsPolicy["origins"]): CorsPolicy => ({
  origins,
  requestHeaders: [
    "PAYMENT-SIGNATURE",
    "X-PAYMENT",
    "Content-Type",
    "Accept",
    "Authorization",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "traceparent",
    "X-Request-Id",
    // The client libraries of x402 send it with what they pay for, although it is a header of answers.
    "Access-Control-Expose-Headers"
  ],
  // The official libraries of both API families.
  requestHeaderPrefixes: ["x-stainless-", "openai-"],
  exposedHeaders: [
    exposedHeaders,
    "X-Payment-Settle-Error-Class",
    "Retry-After",
    "Location",
    "X-Image-Job",
    "X-Should-Retry",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Source",
    "X-Free-Model",
    "X-Max-Tokens-Capped",
    "X-Max-Tokens-Requested",
    "X-Max-Tokens-Effective",
    "Request-Id",
    "X-Request-Id"
  ]
})
