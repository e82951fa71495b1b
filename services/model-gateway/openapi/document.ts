/** The headers of the gateway's API, both ways, and its OpenAPI document. Pure. */
import { refusalsOf } from "#contracts/http"
import { GatewayHttpApi } from "#contracts/model-gateway"
import { type ApiParts, type JsonObject, openApiOf } from "#http"

export const gatewayOpenApi = (): JsonObject => openApiOf(GatewayHttpApi, gatewayParts)

const text = { type: "string" }
const seconds = { type: "integer", minimum: 1 }

const requestHeader = (name: string, description: string) => ({
  name,
  in: "header",
  required: false,
  description,
  schema: text
})

/** Headers that callers may send. */
const requestHeaders = {
  "PAYMENT-SIGNATURE": requestHeader(
    "PAYMENT-SIGNATURE",
    "The payment that was signed for the quote: JSON of x402, version 2, in base64. `X-PAYMENT` is the same."
  ),
  "anthropic-beta": requestHeader("anthropic-beta", "Goes on to a provider that speaks Anthropic's API."),
  "X-Request-Id": requestHeader(
    "X-Request-Id",
    "An id of yours, up to 128 visible ASCII characters, instead of one of ours."
  )
}

const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

const answerHeaders = {
  "X-Request-Id": header("The id of the request, for questions about it; also in `Request-Id`.", true),
  "X-Error-Code": header("The refusal's code. A quote and an unknown model have none.", false),
  "Retry-After": header("Seconds to wait before the next try.", false, seconds),
  "X-Should-Retry": header("`false`: send the very same request and payment again, and never a fresh payment.", false),
  "PAYMENT-REQUIRED": header("The quote: JSON of x402, version 2, in base64; also in `X-Payment-Required`.", true),
  "WWW-Authenticate": header('The quote once more, as `X402 requirements="…"`.', true),
  "PAYMENT-RESPONSE": header("The receipt of a paid answer, in base64; also in `X-PAYMENT-RESPONSE`.", false),
  "X-Payment-Receipt": header("The transaction that paid for the answer.", false),
  "X-Payment-Settled": header("`false`: the chain has not confirmed the payment yet.", false),
  "X-Free-Model": header("`true`: the answer costs nothing.", false),
  "X-Max-Tokens-Capped": header(
    "`true`: more output tokens were asked for than the model gives; `X-Max-Tokens-Requested`, `X-Max-Tokens-Effective`.",
    false
  ),
  "X-Image-Job": header("The id of the image's job.", false),
  Location: header("Where the image's job is.", true),
  "X-RateLimit-Source": header("The model family whose limit refused the call.", false),
  "X-RateLimit-Limit": header("How many calls the window allows, for a limit of addresses.", false),
  "X-RateLimit-Remaining": header("How many are left.", false),
  "X-RateLimit-Reset": header("When the window ends, in epoch milliseconds.", false)
}

const addressLimit = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const
const receipt = ["PAYMENT-RESPONSE", "X-Payment-Receipt", "X-Payment-Settled", "X-Free-Model"] as const

type HeadersOfStatus = Readonly<Record<number, ReadonlyArray<keyof typeof answerHeaders>>>

const ofEvery: HeadersOfStatus = { 429: ["Retry-After", ...addressLimit], 503: ["Retry-After"] }

/** Of calls, beside those of every endpoint. */
const ofCalls: HeadersOfStatus = {
  200: receipt,
  202: ["Location", "Retry-After"],
  402: ["PAYMENT-REQUIRED", "WWW-Authenticate", "X-Should-Retry"],
  409: ["X-Should-Retry"],
  429: ["X-RateLimit-Source"],
  503: ["X-Should-Retry"]
}

const gatewayParts: ApiParts = {
  envelope: "Error",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: ({ method, identifier }) => {
    if (method !== "POST") return ["X-Request-Id"]
    return ["PAYMENT-SIGNATURE", ...(identifier === "createMessage" ? ["anthropic-beta"] : []), "X-Request-Id"]
  },
  givenWith: (status, endpoint) => {
    const isCall = endpoint?.method === "POST"
    const ofAnswer = endpoint?.identifier === "createImage" ? "X-Image-Job" : "X-Max-Tokens-Capped"
    const refusals = endpoint === undefined ? [] : refusalsOf(endpoint)
    const hasCode = refusals.some((refusal) => refusal.status === status && refusal.codes.length > 0)
    return [
      "X-Request-Id",
      ...(hasCode ? ["X-Error-Code"] : []),
      ...(ofEvery[status] ?? []),
      ...(isCall ? (ofCalls[status] ?? []) : []),
      ...(isCall && status < 400 ? [ofAnswer] : [])
    ]
  }
}
