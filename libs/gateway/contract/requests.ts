/**
 * The requests of the gateway's callers, as far as the gateway reads them. It checks these shapes; the provider's list
 * of keys decides what else goes to a model. Field names are those on the wire.
 */
import { Schema } from "effect"
import { Count, describe } from "#base"

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const Flag = optional(Schema.Boolean)
const Tokens = optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
const Part = Schema.Struct({ type: Schema.String })
const Content = Schema.Union([Schema.String, Schema.Array(Part)])
const Model = Schema.String.check(Schema.isBetweenLength(1, 256)).pipe(
  describe("`<provider>/<model>`, from `GET /v1/models`.")
)
const Open = Schema.Record(Schema.String, Schema.Unknown)
const Tools = optional(Schema.Array(Open).check(Schema.isMaxLength(512)))
const messagesMax = 10_000
/** More than any provider accepts. */
const Stops = Schema.Array(Schema.String).check(Schema.isMaxLength(64))

const sampling = {
  stream: Flag,
  temperature: optional(Schema.Finite),
  top_p: optional(Schema.Finite),
  tools: Tools
}

const ToolCall = Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  type: optional(Schema.String),
  function: Schema.optionalKey(Open)
})

const ChatMessage = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool", "function"]),
  content: optional(Content),
  tool_calls: optional(Schema.Array(ToolCall))
})

/** `POST /v1/chat/completions`. */
export const ChatRequest = Schema.Struct({
  model: Model,
  messages: Schema.Array(ChatMessage).check(Schema.isMaxLength(messagesMax)),
  ...sampling,
  max_tokens: Tokens,
  max_completion_tokens: Tokens,
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 128 }))),
  stop: optional(Schema.Union([Schema.String, Stops])),
  stream_options: optional(Open)
}).annotate({ identifier: "ChatRequest" })
export interface ChatRequest extends Schema.Schema.Type<typeof ChatRequest> {}

const AnthropicMessage = Schema.Struct({
  role: Schema.Literals(["user", "assistant", "system"]),
  content: Content
})

/** `POST /v1/messages`. */
export const MessagesRequest = Schema.Struct({
  model: Model,
  messages: Schema.Array(AnthropicMessage).check(Schema.isMaxLength(messagesMax)),
  ...sampling,
  max_tokens: Tokens,
  system: optional(Content),
  stop_sequences: optional(Stops)
}).annotate({ identifier: "MessagesRequest" })
export interface MessagesRequest extends Schema.Schema.Type<typeof MessagesRequest> {}

/** An item of `input`: a message, a call of a function, or the result of such a call. */
const InputItem = Schema.Struct({
  type: optional(Schema.String),
  role: optional(Schema.Literals(["user", "assistant", "system", "developer"])),
  content: optional(Content)
})

const hasInput = (request: { readonly input?: unknown; readonly instructions?: unknown }) =>
  (request.input ?? request.instructions ?? null) !== null || {
    path: ["input"],
    issue: "input or instructions is required"
  }

/** `POST /v1/responses`. The gateway stores nothing between calls, so it refuses parameters that need a memory. */
export const ResponsesRequest = Schema.Struct({
  model: Model,
  input: optional(Schema.Union([Schema.String, Schema.Array(InputItem).check(Schema.isMaxLength(messagesMax))])),
  instructions: optional(Schema.String),
  ...sampling,
  max_output_tokens: Tokens,
  store: Flag,
  background: Flag
})
  .check(Schema.makeFilter(hasInput))
  .annotate({ identifier: "ResponsesRequest" })
export interface ResponsesRequest extends Schema.Schema.Type<typeof ResponsesRequest> {}

/** `POST /v1/images/generations`. */
export const ImagesRequest = Schema.Struct({
  model: Model,
  prompt: Schema.String.check(Schema.isBetweenLength(1, 32_000)),
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))),
  size: optional(Schema.String.check(Schema.isMaxLength(32))),
  quality: optional(Schema.String.check(Schema.isMaxLength(32))),
  stream: Flag
}).annotate({ identifier: "ImagesRequest" })
export interface ImagesRequest extends Schema.Schema.Type<typeof ImagesRequest> {}

/** How many texts one call for embeddings can have; OpenAI's limit. */
export const embeddingInputsMax = 2_048
const SomeTokens = Schema.Array(Count).check(Schema.isMinLength(1))
const someInputs = Schema.isBetweenLength(1, embeddingInputsMax)

/** `POST /v1/embeddings`. */
export const EmbeddingsRequest = Schema.Struct({
  model: Model,
  input: Schema.Union([
    Schema.NonEmptyString,
    Schema.Array(Schema.NonEmptyString).check(someInputs),
    SomeTokens,
    Schema.Array(SomeTokens).check(someInputs)
  ]).pipe(describe("A text, the ids of its tokens, or up to 2,048 of either.")),
  dimensions: Tokens,
  encoding_format: optional(Schema.Literals(["float", "base64"])),
  user: optional(Schema.String.check(Schema.isMaxLength(256)))
}).annotate({ identifier: "EmbeddingsRequest" })
export interface EmbeddingsRequest extends Schema.Schema.Type<typeof EmbeddingsRequest> {}

/**
 * Parameters for which a provider charges in addition to its tokens, or with which a caller selects a more expensive
 * service. A quote cannot price them, so a model accepts only those that its configuration names.
 */
export const costlyParameters = [
  // Faster or in another region, at a higher price.
  "service_tier",
  "speed",
  "inference_geo",
  // Outputs other than text.
  "modalities",
  "audio",
  // Wrong predictions are billed as output.
  "prediction",
  // More answers than the caller gets.
  "best_of",
  "candidate_count",
  // The provider runs a search, and bills both the search and its results as input.
  "web_search_options",
  "web_search",
  "search_parameters",
  "enable_search",
  "plugins",
  "connectors",
  "data_sources",
  "mcp_servers",
  "container",
  // The provider builds the prompt, or the grammar of an answer, from these: their bytes do not show what they cost.
  "chat_template",
  "chat_template_kwargs",
  "documents",
  "mm_processor_kwargs",
  "media_io_kwargs",
  "guided_json",
  "guided_regex",
  "guided_choice",
  "guided_grammar",
  "structured_outputs",
  // The models that a router tries instead.
  "models",
  "fallbacks",
  "route",
  "provider",
  "preset"
] as const
export type CostlyParameter = (typeof costlyParameters)[number]

/** One of these parameters, or a tool that the provider runs itself: `tools.web_search`, whatever its version. */
export const ExtraParameter = Schema.Union([
  Schema.Literals(costlyParameters),
  Schema.String.check(Schema.isPattern(/^tools\.[a-z][a-z0-9_]{0,63}$/u))
])
