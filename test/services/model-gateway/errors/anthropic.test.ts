import { describe } from "@effect/vitest"
import { itIsTheCode, type Refusal } from "./upstream-refusals.ts"

const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } })

const refusals: ReadonlyArray<Refusal> = [
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
    "Anthropic, thinking before calls",
    400,
    anthropic(
      "invalid_request_error",
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`."
    ),
    "REASONING_FORMAT_ERROR"
  ],
  [
    "Anthropic, a seal that is none",
    400,
    anthropic("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
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
  ]
]

describe("a provider's refusal", () => {
  itIsTheCode(refusals)
})
