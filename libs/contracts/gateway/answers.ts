/** The model gateway's own answers: the list of models, image jobs, and every error code with its status. */
import { Schema } from "effect"
import { Count } from "../primitives.ts"

/** US dollars for a million tokens, or for one call. */
const Price = Schema.Finite

export const ListedModel = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("model"),
  created: Count,
  owned_by: Schema.String,
  name: Schema.String,
  description: Schema.String,
  context_window: Count,
  max_output: Count,
  categories: Schema.Array(Schema.String),
  streaming: Schema.Boolean,
  billing_mode: Schema.Literals(["paid", "flat", "free"]),
  pricing: Schema.Union([Schema.Struct({ input: Price, output: Price }), Schema.Struct({ flat: Price })])
}).annotate({ identifier: "ListedModel" })
export interface ListedModel extends Schema.Schema.Type<typeof ListedModel> {}

/** `GET /v1/models`. */
export const ListedModels = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(ListedModel) }).annotate(
  {
    identifier: "ListedModels"
  }
)
export interface ListedModels extends Schema.Schema.Type<typeof ListedModels> {}

/** The place where a caller fetches an image that takes longer than the caller waits. Times are epoch seconds. */
export const ImageJob = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("image.generation.job"),
  status: Schema.Literals(["in_progress", "completed", "failed"]),
  model: Schema.String,
  created: Count,
  poll_url: Schema.String,
  data: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
}).annotate({ identifier: "ImageJob" })
export interface ImageJob extends Schema.Schema.Type<typeof ImageJob> {}

type ErrorType = "invalid_request_error" | "rate_limit_error" | "api_error" | "payment_required"

interface GatewayCodeEntry {
  readonly status: number
  readonly type: ErrorType
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
} as const satisfies Record<string, GatewayCodeEntry>

export type GatewayCode = keyof typeof gatewayCodes
