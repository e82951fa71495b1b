/**
 * Every refusal of the gateway's API: its codes and its shapes. A route in a vendor's dialect refuses in that vendor's
 * shape; every other route refuses in OpenAI's envelope with mirrors of its message and its code.
 */
import { Schema } from "effect"
import { codesByStatus, refusalShape } from "#base/http"
import { describe, type ErrorCode } from "#base"
import { type PaymentCode, PaymentRequirements, x402Version } from "#payments/contract"

const errorTypes = ["invalid_request_error", "payment_required", "rate_limit_error", "api_error"] as const

interface GatewayCodeEntry {
  readonly status: number
  readonly type: (typeof errorTypes)[number]
  readonly message: string
}

const wrong = (message: string): GatewayCodeEntry => ({ status: 400, type: "invalid_request_error", message })
const payment = (message: string): GatewayCodeEntry => ({ status: 402, type: "payment_required", message })
const busy = (message: string): GatewayCodeEntry => ({ status: 429, type: "rate_limit_error", message })
const ours = (status: number, message: string): GatewayCodeEntry => ({ status, type: "api_error", message })

/** Every code, with its status, its type in OpenAI's envelope and its usual message. */
export const gatewayCodes = {
  INVALID_JSON: wrong("The body is not valid JSON"),
  INVALID_REQUEST_BODY: wrong("Invalid request body"),
  EMPTY_CONVERSATION: wrong("The conversation holds no message but those of the system; add at least one"),
  INVALID_PARAMETER: wrong("The model does not accept a parameter of the request"),
  CONTEXT_LENGTH_EXCEEDED: wrong("The prompt does not fit into the model's context window"),
  INVALID_IMAGE_URL: wrong("A picture or document is at no plain http(s) or data address, or could not be fetched"),
  REQUEST_TOO_LARGE: wrong("The body is too large"),
  CONTENT_FILTERED: wrong("A safety filter of the model's provider has blocked the request"),
  STREAM_UNSUPPORTED: wrong("This model does not stream; send the request without stream"),
  REASONING_FORMAT_ERROR: wrong("The reasoning in the message history is not as the model needs it"),
  TOOL_ID_FORMAT_ERROR: wrong("The tool calls and tool results of the message history do not belong together"),
  INVALID_REQUEST: wrong("The request is not one that the model can answer"),
  PAYMENT_INVALID: payment("The payment is not valid"),
  PAYMENT_UNFUNDED: payment("The payment would not go through"),
  PAYMENT_BLOCKHASH_STALE: payment("The payment is bound to a blockhash that has expired"),
  PAYMENT_REPLAY: payment("The payment has been used before"),
  PERMIT2_ALLOWANCE_REQUIRED: {
    status: 412,
    type: "payment_required",
    message: "The payer has not approved Permit2 for the token, which a payment by upto needs once"
  },
  RATE_LIMITED: busy("The model's capacity is used up"),
  PAYMENT_EXPOSURE_LIMIT: busy(
    "The payer's other calls take up its balance, or all that it may have unpaid; nothing was charged. Send the same payment again once they have ended"
  ),
  FREE_TIER_RATE_LIMITED: busy("Too many free requests from this address"),
  STREAM_FAILED: busy("The free model has no capacity for this stream"),
  FREE_MODEL_FAILED: busy("The free model has no capacity"),
  MODEL_UNAVAILABLE: ours(503, "The model is not available just now"),
  PROVIDER_CONFIG_ERROR: ours(503, "The model cannot be reached with our credentials just now"),
  PAYMENT_IDENTIFIER_TAKEN: {
    status: 409,
    type: "invalid_request_error",
    message: "This payment-identifier was used with another payment or request; nothing was charged for this one"
  },
  PAYMENT_VERIFICATION_UNAVAILABLE: ours(503, "Payments cannot be verified just now; send the same payment again"),
  TIMEOUT: ours(504, "The model did not answer in time"),
  INTERNAL_ERROR: ours(500, "An unexpected error")
} as const satisfies Record<string, GatewayCodeEntry> & Record<PaymentCode, GatewayCodeEntry>

export type GatewayCode = keyof typeof gatewayCodes

const ofRequest = (status: number, when: string) => ({ status, type: "invalid_request_error", when })

/** Codes of the listener, for requests that reach no route. */
const listenerCodes = {
  BAD_REQUEST: ofRequest(400, "This is not HTTP."),
  NOT_FOUND: ofRequest(404, "There is nothing at this path, or no such image job any more."),
  METHOD_NOT_ALLOWED: ofRequest(405, "The path is known, the method is not; `Allow` names those that are."),
  REQUEST_TIMEOUT: ofRequest(408, "The request did not arrive in time."),
  HEADERS_TOO_LARGE: ofRequest(431, "The headers are larger than 16 kB."),
  SERVICE_UNAVAILABLE: { status: 503, type: "api_error", when: "The gateway is ending." }
} as const satisfies Record<string, ErrorCode>

type ApiCode = GatewayCode | keyof typeof listenerCodes

const callCodes = Object.keys(gatewayCodes) as ReadonlyArray<GatewayCode>
const ofPayments: ReadonlySet<number> = new Set([402, 412])
const paymentCodes = callCodes.filter((code) => ofPayments.has(gatewayCodes[code].status))

/** Every code of the API, with its status, its type and its usual message. */
export const gatewayErrorCodes: Readonly<Record<ApiCode, ErrorCode>> = {
  ...(Object.fromEntries(
    callCodes.map((code) => {
      const { status, type, message } = gatewayCodes[code]
      return [code, { status, type, when: `${message}.` }]
    })
  ) as Record<GatewayCode, ErrorCode>),
  ...listenerCodes
}

const ErrorType = Schema.Literals(errorTypes)
const Param = Schema.NullOr(Schema.String).pipe(describe("The field of the request that is wrong."))

const limits = {
  source: Schema.optionalKey(Schema.String).pipe(describe("With 429: the model family whose limit refused the call.")),
  retry_after_seconds: Schema.optionalKey(Schema.Int).pipe(describe("With 429."))
}

const chatError = <Code extends string>(codes: ReadonlyArray<Code>) =>
  Schema.Struct({
    error: Schema.Struct({ message: Schema.String, type: ErrorType, code: Schema.Literals(codes), param: Param }),
    message: Schema.String.pipe(describe("The same as `error.message`.")),
    code: Schema.String.pipe(describe("The same as `error.code`.")),
    debug: Schema.optionalKey(Schema.String).pipe(describe("The provider's own message, without its secrets.")),
    details: Schema.optionalKey(
      Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String }))
    ).pipe(describe("With `INVALID_REQUEST_BODY`: every fault and its place.")),
    ...limits
  })

const messagesError = <Code extends string>(codes: ReadonlyArray<Code>) =>
  Schema.Struct({
    type: Schema.Literal("error"),
    error: Schema.Struct({
      type: Schema.String.pipe(describe("The type that Anthropic's API gives with the status.")),
      message: Schema.String,
      code: Schema.optionalKey(Schema.Literals(codes)).pipe(
        describe("Codes of payments alone; every code stands in `X-Error-Code`.")
      )
    }),
    ...limits
  })

const responsesError = <Code extends string>(codes: ReadonlyArray<Code>) =>
  Schema.Struct({
    error: Schema.Struct({ message: Schema.String, type: ErrorType, param: Param, code: Schema.Literals(codes) }),
    ...limits
  })

const paymentFailure = <Code extends string>(codes: ReadonlyArray<Code>) =>
  Schema.Struct({
    error: Schema.String,
    code: Schema.Literals(codes),
    message: Schema.String.pipe(describe("What to do about it.")),
    debug: Schema.optionalKey(Schema.String).pipe(describe("The reason.")),
    payer: Schema.optionalKey(Schema.String)
  })

const PlainError = Schema.Struct({ error: Schema.String })

const quote = {
  x402Version: Schema.Literal(x402Version),
  accepts: Schema.Array(PaymentRequirements.annotate({ identifier: "PaymentRequirements" })).pipe(
    describe("The ways to pay, as in the header `PAYMENT-REQUIRED`. Clients sign the first.")
  ),
  message: Schema.String,
  price: Schema.Struct({ amount: Schema.String, currency: Schema.String }),
  paymentInfo: Schema.Struct({ network: Schema.String, asset: Schema.String, x402Version: Schema.Int }),
  extensions: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    describe("Those of `PAYMENT-REQUIRED`, and `bazaar`: what the route takes and gives, with examples.")
  )
}
const PaymentQuote = Schema.Struct({ ...quote, error: Schema.String })
const MessagesPaymentQuote = Schema.Struct({
  ...quote,
  type: Schema.Literal("error"),
  error: Schema.Struct({ type: Schema.String, message: Schema.String })
})
const ResponsesPaymentQuote = Schema.Struct({
  ...quote,
  error: Schema.Struct({ message: Schema.String, type: ErrorType, param: Schema.Null, code: Schema.Null })
})

const everyCode = Object.keys(gatewayErrorCodes) as ReadonlyArray<ApiCode>

/** The shapes with any code, which the documents list. */
export const errorShapes = [
  chatError(everyCode).annotate({
    identifier: "Error",
    description: "OpenAI's envelope with mirrors; `/v1/messages` and `/v1/responses` answer in their vendor's shape."
  }),
  messagesError(everyCode).annotate({ identifier: "MessagesError" }),
  responsesError(everyCode).annotate({ identifier: "ResponsesError" }),
  PlainError.annotate({ identifier: "PlainError", description: "An error without a code." }),
  PaymentQuote.annotate({ identifier: "PaymentQuote" }),
  MessagesPaymentQuote.annotate({ identifier: "MessagesPaymentQuote" }),
  ResponsesPaymentQuote.annotate({ identifier: "ResponsesPaymentQuote" }),
  paymentFailure(paymentCodes).annotate({ identifier: "PaymentFailure" })
]

const errorCode = ["error", "code"]

/** Refusals with these codes in the gateway's own envelope. */
export const refusals = <Code extends ApiCode>(...codes: ReadonlyArray<Code>) =>
  codesByStatus(gatewayErrorCodes, codes).map((refusal) =>
    refusalShape(chatError(refusal.codes), { ...refusal, envelope: "Error", codeAt: errorCode })
  )

/** A refusal in plain words, without a code. */
export const plainRefusal = (status: number, description: string) =>
  refusalShape(PlainError, { status, description, envelope: "PlainError" })

interface CallDialect<Shape extends Schema.Top, Quote extends Schema.Top, Failure extends Schema.Top> {
  readonly error: (codes: ReadonlyArray<ApiCode>) => Shape
  readonly quote: Quote
  /** Why a payment was not accepted. */
  readonly failure: (codes: ReadonlyArray<GatewayCode>) => Failure
  /** The identifiers of these shapes. */
  readonly names: { readonly error: string; readonly quote: string; readonly failure: string }
  readonly failureCodeAt: ReadonlyArray<string>
}

/** The refusals of a call to a model: an error, the price of an unpaid call, or why its payment was not accepted. */
const callRefusals = <Shape extends Schema.Top, Quote extends Schema.Top, Failure extends Schema.Top>({
  error,
  quote: unpaid,
  failure,
  names,
  failureCodeAt
}: CallDialect<Shape, Quote, Failure>): ReadonlyArray<
  Shape["Rebuild"] | Quote["Rebuild"] | Failure["Rebuild"] | typeof PlainError
> =>
  codesByStatus(gatewayErrorCodes, callCodes).flatMap((refusal) => {
    if (refusal.status === 402) {
      const description = "The price, where the call brings no payment."
      return [
        refusalShape(unpaid, { status: 402, description, envelope: names.quote }),
        refusalShape(failure(paymentCodes), { ...refusal, envelope: names.failure, codeAt: failureCodeAt })
      ]
    }
    if (refusal.status === 412) {
      return [refusalShape(failure(paymentCodes), { ...refusal, envelope: names.failure, codeAt: failureCodeAt })]
    }
    const shape = refusalShape(error(refusal.codes), { ...refusal, envelope: names.error, codeAt: errorCode })
    const unknownModel = "For an unknown model, ids that are near it."
    return refusal.status === 400 ? [shape, plainRefusal(400, unknownModel)] : [shape]
  })

export const chatRefusals = callRefusals({
  error: chatError,
  quote: PaymentQuote,
  failure: paymentFailure,
  names: { error: "Error", quote: "PaymentQuote", failure: "PaymentFailure" },
  failureCodeAt: ["code"]
})

export const messagesRefusals = callRefusals({
  error: messagesError,
  quote: MessagesPaymentQuote,
  failure: messagesError,
  names: { error: "MessagesError", quote: "MessagesPaymentQuote", failure: "MessagesError" },
  failureCodeAt: errorCode
})

export const responsesRefusals = callRefusals({
  error: responsesError,
  quote: ResponsesPaymentQuote,
  failure: responsesError,
  names: { error: "ResponsesError", quote: "ResponsesPaymentQuote", failure: "ResponsesError" },
  failureCodeAt: errorCode
})
