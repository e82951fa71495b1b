/**
 * The gateway's complete API: every route with its shapes and refusals. Server, documents and clients follow it. Each
 * route exists below every base path. A request's fields beyond its shape go to the model if its provider's list of
 * keys includes them.
 */
import { Context, Effect, Schema } from "effect"
import { HttpApi, HttpApiClient, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { HttpClient, HttpClientRequest } from "effect/http"
import { descriptionGroup, endpoint } from "#base/http"
import type { PaymentPayload } from "#payments/contract"
import { Count } from "#base"
import { ChatRequest, EmbeddingsRequest, ImagesRequest, MessagesRequest, ResponsesRequest } from "../requests.ts"
import { chatRefusals, errorShapes, messagesRefusals, plainRefusal, refusals, responsesRefusals } from "./refusals.ts"

export { type GatewayCode, gatewayCodes, gatewayErrorCodes } from "./refusals.ts"

/** US dollars per million tokens, or per call. */
const Price = Schema.Finite

export const ListedModel = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("model"),
  created: Count,
  owned_by: Schema.String,
  // In the form that Anthropic's clients expect of a model. Absent from gateways of the earlier release.
  type: Schema.optionalKey(Schema.Literal("model")),
  display_name: Schema.optionalKey(Schema.String),
  created_at: Schema.optionalKey(Schema.String),
  name: Schema.String,
  description: Schema.String,
  context_window: Count,
  max_output: Count,
  categories: Schema.Array(Schema.String),
  streaming: Schema.Boolean,
  billing_mode: Schema.Literals(["paid", "flat", "free"]),
  /** `count`: the price of each count of tokens, which is free without it. */
  pricing: Schema.Union([
    Schema.Struct({ input: Price, output: Price, count: Schema.optionalKey(Price) }),
    Schema.Struct({ flat: Price, count: Schema.optionalKey(Price) })
  ])
}).annotate({ identifier: "ListedModel" })
export interface ListedModel extends Schema.Schema.Type<typeof ListedModel> {}

/** `GET /v1/models`. */
const ListedModels = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(ListedModel),
  // Always false, as Anthropic's clients expect of a single page; absent from gateways of the earlier release.
  has_more: Schema.optionalKey(Schema.Literal(false)),
  first_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  last_id: Schema.optionalKey(Schema.NullOr(Schema.String))
}).annotate({ identifier: "ListedModels" })

/** Where a caller fetches an image that takes longer than the caller waits. Times are epoch seconds. */
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

/** `POST /v1/messages/count_tokens`. */
const TokenCount = Schema.Struct({ input_tokens: Count }).annotate({ identifier: "TokenCount" })

/**
 * A vendor's answer: the fields that are always present, whoever serves the model. The rest is as the model's provider
 * returns it.
 */
const answerOf = (description: string, properties: Readonly<Record<string, object>>) =>
  Schema.Record(Schema.String, Schema.Unknown).annotate({
    description,
    documentedAs: { type: "object", properties, required: Object.keys(properties), additionalProperties: {} }
  })

const text = { type: "string" }
const parts = { type: "array", items: { type: "object", additionalProperties: true } }

const ChatAnswer = answerOf("a chat completion as OpenAI's API gives it", { model: text, choices: parts })
const MessagesAnswer = answerOf("a message as Anthropic's API gives it", { model: text, content: parts })
const ResponsesAnswer = answerOf("a response as OpenAI's API gives it", {
  id: text,
  object: { ...text, enum: ["response"] },
  status: text,
  model: text,
  output: parts
})
const EmbeddingsAnswer = answerOf("a list of embeddings as OpenAI's API gives it", { model: text, data: parts })
const ImagesAnswer = answerOf("images as OpenAI's API gives them", { data: parts })

/** A vendor's answer or, with `stream: true`, its events. */
const answersOf = (whole: typeof ChatAnswer) =>
  [
    whole,
    Schema.String.annotate({ description: "its events, for `stream: true`" }).pipe(
      HttpApiSchema.asText({ contentType: "text/event-stream" })
    )
  ] as const

const get = endpoint("GET")
const post = endpoint("POST")

const messages = [{ role: "user", content: "Why is the sky blue?" }]
const answer = "Blue light scatters most."

export const CallsGroup = HttpApiGroup.make("calls", { topLevel: true }).add(
  post("createChatCompletion", "/v1/chat/completions", {
    payload: ChatRequest,
    success: answersOf(ChatAnswer),
    error: chatRefusals,
    summary: "Complete a chat",
    description: "Answers a chat in OpenAI's shape; the other parameters of its API go on to the model.",
    example: { model: "demo/echo", messages },
    answerExample: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_790_000_000,
      model: "demo/echo",
      choices: [{ index: 0, message: { role: "assistant", content: answer }, finish_reason: "stop" }],
      usage: { prompt_tokens: 14, completion_tokens: 5, total_tokens: 19 }
    }
  }),
  post("createMessage", "/v1/messages", {
    payload: MessagesRequest,
    success: answersOf(MessagesAnswer),
    error: messagesRefusals,
    summary: "Answer a conversation",
    description: "Answers a conversation in Anthropic's shape, whoever serves the model.",
    example: { model: "demo/echo", max_tokens: 256, messages },
    answerExample: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "demo/echo",
      content: [{ type: "text", text: answer }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 14, output_tokens: 5 }
    }
  }),
  post("countTokens", "/v1/messages/count_tokens", {
    payload: MessagesRequest,
    success: TokenCount,
    error: messagesRefusals,
    summary: "Count the tokens of a conversation",
    description:
      "The tokens of a conversation in Anthropic's shape, for free unless the model has a price for it. `X-Token-Count` says whether a provider counted them or they are the estimate of a quote.",
    example: { model: "demo/echo", messages },
    answerExample: { input_tokens: 14 }
  }),
  post("createResponse", "/v1/responses", {
    payload: ResponsesRequest,
    success: answersOf(ResponsesAnswer),
    error: responsesRefusals,
    summary: "Create a response",
    description:
      "Answers in the shape of OpenAI's responses. Nothing is stored between calls: `previous_response_id` is refused, and a " +
      "response, its `input_items` and its cancellation are 404 by its id.",
    example: { model: "demo/echo", input: "Why is the sky blue?" },
    answerExample: {
      id: "resp_1",
      object: "response",
      created_at: 1_790_000_000,
      status: "completed",
      model: "demo/echo",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: answer }] }],
      usage: { input_tokens: 14, output_tokens: 5, total_tokens: 19 }
    }
  })
)

export const ImagesGroup = HttpApiGroup.make("images", { topLevel: true }).add(
  post("createImage", "/v1/images/generations", {
    payload: ImagesRequest,
    success: [ImagesAnswer, ImageJob.pipe(HttpApiSchema.status(202))],
    error: chatRefusals,
    summary: "Make images",
    description: "Makes images. 202 with a job when they take longer than a caller waits.",
    example: { model: "demo/picture", prompt: "A gate in the rain" },
    answerExample: { created: 1_790_000_000, data: [{ url: "https://example.com/picture.png" }] }
  }),
  get("getImageJob", "/v1/images/jobs/:id", {
    success: ImageJob,
    error: refusals("NOT_FOUND", "MODEL_UNAVAILABLE", "INTERNAL_ERROR"),
    summary: "Fetch an image job",
    description: "An image job of the last day. Whoever knows its id may fetch it; nobody can guess it."
  })
)

export const EmbeddingsGroup = HttpApiGroup.make("embeddings", { topLevel: true }).add(
  post("createEmbedding", "/v1/embeddings", {
    payload: EmbeddingsRequest,
    success: EmbeddingsAnswer,
    error: chatRefusals,
    summary: "Embed texts",
    description:
      "Turns texts, or tokens, into vectors. They come as lists of numbers, or with `encoding_format: base64` as bytes of 32-bit floats; other usual parameters go on to the model.",
    example: { model: "demo/embedding", input: ["Why is the sky blue?", "A gate in the rain"] },
    answerExample: {
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [0.25, -0.5] },
        { object: "embedding", index: 1, embedding: [-0.125, 0.75] }
      ],
      model: "demo/embedding",
      usage: { prompt_tokens: 12, total_tokens: 12 }
    }
  })
)

/** What was returned to a payer from its channel, in the token's smallest unit. */
const RefundedChannel = Schema.Struct({
  network: Schema.String,
  amount: Schema.String,
  transaction: Schema.NullOr(Schema.String)
}).annotate({ identifier: "RefundedChannel" })

export const ChannelsGroup = HttpApiGroup.make("channels", { topLevel: true }).add(
  get("refundChannel", "/v1/channels", {
    success: RefundedChannel,
    error: [
      ...refusals("NOT_FOUND", "INTERNAL_ERROR"),
      plainRefusal(402, "The channels that are taken here, or why this one gives nothing back."),
      plainRefusal(429, "A call of the channel is in work; come back after `Retry-After`."),
      plainRefusal(503, "The chain cannot be asked just now; come back after `Retry-After`.")
    ],
    summary: "Refund a payment channel",
    description:
      "With a refund of the scheme `batch-settlement` as its payment, claims what was charged of the channel and gives the rest back. Without one, 402 with the channels that are taken."
  })
)

const error = [
  plainRefusal(429, "More lists for this address than an hour has; come back after `Retry-After`."),
  plainRefusal(503, "Nobody can count this address's lists just now; come back after `Retry-After`."),
  ...refusals("INTERNAL_ERROR")
]

export const ModelsGroup = HttpApiGroup.make("models", { topLevel: true }).add(
  get("listModels", "/v1/models", {
    success: ListedModels,
    error,
    summary: "List models",
    description: "The models and their prices."
  }),
  get("getModel", "/v1/models/:model", {
    success: ListedModel,
    error: [...error, plainRefusal(404, "There is no such model; ids that are near it.")],
    summary: "Fetch a model",
    description: "One model by its id. The slash of the id may also be left as it is."
  })
)

/** What agents look for first: what is sold and how to pay for it. */
export const DiscoveryGroup = HttpApiGroup.make("discovery", { topLevel: true }).add(
  get("getDiscovery", "/.well-known/x402", {
    success: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "what is sold" }),
    error: refusals("INTERNAL_ERROR"),
    summary: "What is sold",
    description:
      "Each paid route with its shapes in x402's extension `bazaar`, the models, and the ways to pay. Amounts are those of the shortest call of the cheapest model; a call's 402 has its price. With `If-None-Match` of the `ETag` it answers 304."
  }),
  get("getLlmsText", "/llms.txt", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain" })),
    error: refusals("INTERNAL_ERROR"),
    summary: "For language models",
    description: "What is sold, how to pay, and where the documents are."
  })
)

/** The paths before each route: two equivalent ones, and one whose quotes are for Solana. */
export const gatewayBases = ["", "/api", "/solana/api"] as const
type GatewayBase = (typeof gatewayBases)[number]

export const GatewayHttpApi = HttpApi.make("models")
  .add(
    CallsGroup,
    ImagesGroup,
    EmbeddingsGroup,
    ModelsGroup,
    ChannelsGroup,
    DiscoveryGroup,
    descriptionGroup(refusals("INTERNAL_ERROR"))
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling models",
      version: "1.0.0",
      description:
        "Models paid for by the call with x402. `/api/v1` and `/v1` are the same; `/solana/api/v1` quotes for Solana.",
      servers: gatewayBases.map((base) => ({ url: base === "" ? "/" : base }))
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, errorShapes))

/** The payment sent with a call. Without one the client sends none. */
export const Payment = Context.Reference<PaymentPayload | undefined>("starling/gateway/Payment", {
  defaultValue: () => undefined
})

interface ClientOptions {
  readonly url: string
  readonly base?: GatewayBase
}

/** A typed client of the API. A refusal fails with its body. Needs an `HttpClient`. */
export const gatewayClient = ({ url, base = "" }: ClientOptions) =>
  HttpApiClient.make(GatewayHttpApi, {
    baseUrl: `${url}${base}`,
    transformClient: HttpClient.mapRequestEffect((request) => Effect.map(Payment, (payment) => paid(request, payment)))
  })

const toBase64 = Schema.encodeSync(Schema.StringFromBase64)

const paid = (request: HttpClientRequest.HttpClientRequest, payment: PaymentPayload | undefined) =>
  payment === undefined
    ? request
    : HttpClientRequest.setHeader(request, "payment-signature", toBase64(JSON.stringify(payment)))
