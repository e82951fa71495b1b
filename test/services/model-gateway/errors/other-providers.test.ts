import { describe } from "@effect/vitest"
import { itIsTheCode, openAi, type Refusal } from "./upstream-refusals.ts"

/** Refusals of other vendors, of aggregators and of servers for open models. */
const refusals: ReadonlyArray<Refusal> = [
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
    "a payment that is wanted, in other words",
    402,
    openAi("Pay first.", "unknown", "unknown"),
    "PROVIDER_CONFIG_ERROR"
  ],
  ["a payment that is wanted, without a word", 402, {}, "PROVIDER_CONFIG_ERROR"],
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
  ["Cohere", 401, { message: "invalid api token" }, "PROVIDER_CONFIG_ERROR"]
]

describe("a provider's refusal", () => {
  itIsTheCode(refusals)
})
