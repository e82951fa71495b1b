import { assert, describe, it } from "@effect/vitest"
import { classifyUpstream } from "../../../services/model-gateway/errors/classify-upstream.ts"
import { readUpstreamError } from "../../../services/model-gateway/errors/read-upstream-error.ts"

const openAi = (message: string, type: string, code: string | null = null, param: string | null = null) => ({
  error: { message, type, param, code }
})
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } })

/** What vendors answer with, and which of our codes that is. */
const table: ReadonlyArray<readonly [string, number, unknown, string, string?]> = [
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
  ],
  [
    "Anthropic, context",
    400,
    anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "CONTEXT_LENGTH_EXCEEDED"
  ],
  [
    "Anthropic, max_tokens",
    400,
    anthropic(
      "invalid_request_error",
      "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens for claude-x"
    ),
    "INVALID_PARAMETER",
    "max_tokens"
  ],
  [
    "Anthropic, temperature",
    400,
    anthropic("invalid_request_error", "temperature: range: 0..1"),
    "INVALID_PARAMETER",
    "temperature"
  ],
  [
    "Anthropic, extra",
    400,
    anthropic("invalid_request_error", "frequency_penalty: Extra inputs are not permitted"),
    "INVALID_PARAMETER",
    "frequency_penalty"
  ],
  [
    "Anthropic, tools",
    400,
    anthropic(
      "invalid_request_error",
      "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
    ),
    "TOOL_ID_FORMAT_ERROR"
  ],
  [
    "Anthropic, thinking",
    400,
    anthropic(
      "invalid_request_error",
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."
    ),
    "REASONING_FORMAT_ERROR"
  ],
  [
    "Anthropic, roles",
    400,
    anthropic("invalid_request_error", 'messages: roles must alternate between "user" and "assistant"'),
    "INVALID_REQUEST"
  ],
  [
    "Anthropic, credit",
    400,
    anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "PROVIDER_CONFIG_ERROR"
  ],
  ["Anthropic, key", 401, anthropic("authentication_error", "invalid x-api-key"), "PROVIDER_CONFIG_ERROR"],
  ["Anthropic, size", 413, anthropic("request_too_large", "Request exceeds the maximum size"), "REQUEST_TOO_LARGE"],
  [
    "Anthropic, rate",
    429,
    anthropic("rate_limit_error", "This request would exceed your organization's rate limit"),
    "RATE_LIMITED"
  ],
  ["Anthropic, overloaded", 529, anthropic("overloaded_error", "Overloaded"), "MODEL_UNAVAILABLE"],
  [
    "Anthropic, filter",
    400,
    anthropic("invalid_request_error", "Output blocked by content filtering policy"),
    "CONTENT_FILTERED"
  ],
  [
    "Gemini, key",
    400,
    [{ error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } }],
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "Gemini, exhausted",
    429,
    [
      { error: { code: 429, message: "Resource has been exhausted (e.g. check quota).", status: "RESOURCE_EXHAUSTED" } }
    ],
    "RATE_LIMITED"
  ],
  [
    "Gemini, context",
    400,
    {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT"
      }
    },
    "CONTEXT_LENGTH_EXCEEDED"
  ],
  [
    "Gemini, overloaded",
    503,
    { error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" } },
    "MODEL_UNAVAILABLE"
  ],
  [
    "vLLM, context",
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      type: "BadRequestError",
      param: null,
      code: 400
    },
    "CONTEXT_LENGTH_EXCEEDED"
  ],
  [
    "vLLM, missing",
    404,
    { object: "error", message: "The model `x` does not exist.", type: "NotFoundError", param: null, code: 404 },
    "MODEL_UNAVAILABLE"
  ],
  [
    "FastAPI",
    422,
    { detail: [{ type: "extra_forbidden", loc: ["body", "logit_bias"], msg: "Extra inputs are not permitted" }] },
    "INVALID_PARAMETER",
    "logit_bias"
  ],
  ["FastAPI, plain", 403, { detail: "Not authenticated" }, "PROVIDER_CONFIG_ERROR"],
  [
    "Mistral, order",
    400,
    {
      object: "error",
      message: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
      type: "invalid_request_message_order",
      code: "3230"
    },
    "INVALID_REQUEST"
  ],
  [
    "Groq, size",
    413,
    openAi(
      "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000",
      "tokens",
      "rate_limit_exceeded"
    ),
    "REQUEST_TOO_LARGE"
  ],
  [
    "xAI, key",
    400,
    { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***ey." },
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "xAI, guidelines",
    403,
    { code: "The caller does not have permission", error: "Content violates usage guidelines." },
    "CONTENT_FILTERED"
  ],
  [
    "DeepSeek, balance",
    402,
    openAi("Insufficient Balance", "unknown_error", "invalid_request_error"),
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "DeepSeek, reasoning",
    400,
    openAi("The `reasoning_content` in the thinking mode must be passed back to the API.", "invalid_request_error"),
    "REASONING_FORMAT_ERROR"
  ],
  [
    "Bedrock, throttled",
    400,
    { __type: "ThrottlingException", message: "Too many requests, please wait before trying again." },
    "RATE_LIMITED"
  ],
  [
    "Bedrock, token",
    403,
    { message: "The security token included in the request is invalid." },
    "PROVIDER_CONFIG_ERROR"
  ],
  [
    "OpenRouter, moderation",
    403,
    { error: { code: 403, message: "Input was flagged", metadata: { reasons: ["violence"] } } },
    "CONTENT_FILTERED"
  ],
  [
    "OpenRouter, inner",
    502,
    { error: { code: 502, message: "Provider returned error", metadata: { raw: "boom" } } },
    "MODEL_UNAVAILABLE"
  ],
  [
    "OpenRouter, nobody",
    404,
    { error: { code: 404, message: "No allowed providers are available for the selected model." } },
    "MODEL_UNAVAILABLE"
  ],
  [
    "Qwen, inspection",
    400,
    {
      error: {
        code: "data_inspection_failed",
        message: "Input data may contain inappropriate content.",
        type: "data_inspection_failed"
      }
    },
    "CONTENT_FILTERED"
  ],
  ["Cohere", 401, { message: "invalid api token" }, "PROVIDER_CONFIG_ERROR"],
  ["proxy, page", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "MODEL_UNAVAILABLE"],
  ["proxy, timeout", 504, "<html><title>504 Gateway Time-out</title></html>", "TIMEOUT"],
  ["Cloudflare, timeout", 524, "error code: 524", "TIMEOUT"],
  [
    "a parameter as 500",
    500,
    openAi("Unknown parameter: 'foo'.", "invalid_request_error", "unknown_parameter", "foo"),
    "INVALID_PARAMETER",
    "foo"
  ],
  ["an empty 400", 400, "", "INVALID_REQUEST"],
  ["an empty 418", 418, "", "INVALID_REQUEST"],
  ["an empty 500", 500, "", "INTERNAL_ERROR"],
  ["JSON that is no object", 400, "17", "INVALID_REQUEST"]
]

describe("a provider's refusal", () => {
  it.each(table.map((row) => ({ vendor: row[0], row })))("is the code that a caller can act on: $vendor", ({ row }) => {
    const [, status, body, code, param] = row
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const classified = classifyUpstream(
      readUpstreamError(status, text.startsWith("<") ? "text/html" : "application/json", text)
    )
    assert.strictEqual(classified.code, code)
    if (param !== undefined) assert.strictEqual(classified.param, param)
  })

  it("of status 4xx is never our internal error, whatever it says", () => {
    for (let status = 400; status < 500; status++) {
      for (const text of ["", "{}", "null", '{"error":"x"}', "<html>", "[]"]) {
        assert.notStrictEqual(
          classifyUpstream(readUpstreamError(status, "", text)).code,
          "INTERNAL_ERROR",
          `${status} ${text}`
        )
      }
    }
  })
})
