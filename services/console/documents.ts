/**
 * The documentation of the operators' API: its OpenAPI document with the headers of requests and responses, and its
 * reference as a page. Pure.
 */
import { consoleErrorCodes, ConsoleHttpApi } from "#console/api"
import {
  answerHeader,
  apiDocuments,
  type ApiParts,
  idempotencyKeyHeader,
  replayed,
  requestIdHeader,
  requestIdOfAnswer,
  retryAfter
} from "#http"

export const consoleDocuments = apiDocuments(() => ({
  api: ConsoleHttpApi,
  parts: consoleParts,
  product: "console",
  title: "The operators' API",
  introduction: [
    "Calls carry `Authorization: Bearer <token>`; `./starling token make --role viewer` makes a token. A viewer reads, a " +
      "member also sends again, an admin also decides for the whole fleet, an owner also makes and revokes tokens. The " +
      "examples take the token from `$TOKEN`, and the address from `$CONSOLE`.",
    "Every act names a `reason`, and is written down in `AUDIT` with who did it, before it is done. Bodies of events and " +
      "answers of receivers are shown to tokens with the scope `payloads:read`; to others these fields are null. Secrets " +
      "are shown to nobody."
  ],
  errorCodes: consoleErrorCodes,
  address: "$CONSOLE"
}))

const answerHeaders = {
  "X-Request-Id": requestIdOfAnswer,
  "Retry-After": retryAfter,
  "Idempotent-Replayed": replayed,
  "WWW-Authenticate": answerHeader("What a token must have.", true)
}

/** Routes that send the same deliveries for the same key, once. */
const resends: ReadonlyArray<string> = ["resendDelivery", "resendDeliveries", "resendAbandoned", "resendAllAbandoned"]

const consoleParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: {
    ...requestIdHeader,
    ...idempotencyKeyHeader(
      "what was sent with it is not sent again for 24 hours, and the answer is the first one's. A refusal frees it."
    )
  },
  answers: answerHeaders,
  takenBy: ({ middlewares, identifier }) => {
    if (middlewares.size === 0) return []
    return resends.includes(identifier) ? ["X-Request-Id", "Idempotency-Key"] : ["X-Request-Id"]
  },
  headersWith: (status, endpoint) => [
    "X-Request-Id",
    ...(status === 200 && resends.includes(endpoint?.identifier ?? "") ? ["Idempotent-Replayed"] : [])
  ]
}

export { keptMetrics } from "./metrics.ts"
