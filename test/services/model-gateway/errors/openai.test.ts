import { describe } from "@effect/vitest"
import { itIsTheCode, openAi, type Refusal } from "./upstream-refusals.ts"

/** Refusals of OpenAI, also from Azure. */
const refusals: ReadonlyArray<Refusal> = [
  [
    "OpenAI, value",
    400,
    openAi(
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "invalid_request_error",
      "unsupported_value",
      "temperature"
    ),
    "INVALID_PARAMETER",
    "temperature"
  ],
  [
    "OpenAI, parameter",
    400,
    openAi(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "invalid_request_error",
      "unsupported_parameter",
      "max_tokens"
    ),
    "INVALID_PARAMETER",
    "max_tokens"
  ],
  [
    "OpenAI, unknown parameter",
    400,
    openAi("Unknown parameter: 'foo'.", "invalid_request_error", "unknown_parameter", "foo"),
    "INVALID_PARAMETER",
    "foo"
  ],
  [
    "OpenAI, function name",
    400,
    openAi(
      "Invalid 'tools[0].function.name': string does not match pattern.",
      "invalid_request_error",
      "invalid_value",
      "tools[0].function.name"
    ),
    "INVALID_PARAMETER",
    "tools[0].function.name"
  ],
  [
    "OpenAI, schema",
    400,
    openAi(
      "Invalid schema for response_format 'x': schema must be a JSON Schema of 'type: \"object\"'.",
      "invalid_request_error",
      null,
      "response_format"
    ),
    "INVALID_PARAMETER",
    "response_format"
  ],
  [
    "OpenAI, context",
    400,
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      "invalid_request_error",
      "context_length_exceeded",
      "messages"
    ),
    "CONTEXT_LENGTH_EXCEEDED"
  ],
  [
    "OpenAI, tools",
    400,
    openAi(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
      "invalid_request_error",
      null,
      "messages.[3].role"
    ),
    "TOOL_ID_FORMAT_ERROR"
  ],
  [
    "OpenAI, message",
    400,
    openAi(
      "Invalid type for 'messages[0].content': expected one of a string or array of objects.",
      "invalid_request_error",
      "invalid_type",
      "messages[0].content"
    ),
    "INVALID_REQUEST"
  ],
  [
    "OpenAI, policy",
    400,
    openAi(
      "Your request was rejected as a result of our safety system.",
      "image_generation_user_error",
      "moderation_blocked"
    ),
    "CONTENT_FILTERED"
  ],
  [
    "OpenAI, key",
    401,
    openAi("Incorrect API key provided: sk-x.", "invalid_request_error", "invalid_api_key"),
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "OpenAI, quota",
    429,
    openAi(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      "insufficient_quota"
    ),
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "OpenAI, rate",
    429,
    openAi(
      "Rate limit reached for gpt-x in organization org-x on tokens per min (TPM).",
      "tokens",
      "rate_limit_exceeded"
    ),
    "RATE_LIMITED"
  ],
  [
    "OpenAI, model",
    404,
    openAi("The model `x` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"),
    "MODEL_UNAVAILABLE"
  ],
  [
    "OpenAI, error",
    500,
    openAi("The server had an error while processing your request.", "server_error"),
    "INTERNAL_ERROR"
  ],
  [
    "OpenAI, overloaded",
    503,
    openAi("The engine is currently overloaded, please try again later", "server_error"),
    "MODEL_UNAVAILABLE"
  ],
  [
    "OpenAI, image",
    400,
    openAi("Error while downloading https://x.example/a.png.", "invalid_request_error", "invalid_image_url"),
    "INVALID_IMAGE_URL"
  ],
  [
    "OpenAI, reasoning",
    400,
    openAi(
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      "invalid_request_error"
    ),
    "REASONING_FORMAT_ERROR"
  ],
  [
    "Azure, filter",
    400,
    {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        code: "content_filter",
        status: 400,
        innererror: { code: "ResponsibleAIPolicyViolation" }
      }
    },
    "CONTENT_FILTERED"
  ]
]

describe("a provider's refusal", () => {
  itIsTheCode(refusals)
})
