/** Refusals of providers: for each reason the status, and the words in both vendors' shapes. Data. */

export interface Failure {
  readonly status: number
  readonly message: string
  /** In OpenAI's shape. */
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  /** In Anthropic's shape. */
  readonly anthropicType: string
  readonly anthropicStatus?: number
  readonly anthropicMessage?: string
  readonly retryAfterSeconds?: number
}

const refusal = (message: string, more: Partial<Failure> = {}): Failure => ({
  status: 400,
  message,
  type: "invalid_request_error",
  code: null,
  param: null,
  anthropicType: "invalid_request_error",
  ...more
})

export const failures = {
  "rate-limit": refusal("Rate limit reached for requests per minute (RPM): Limit 500, Used 500, Requested 1.", {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    anthropicType: "rate_limit_error",
    retryAfterSeconds: 7
  }),
  quota: refusal("You exceeded your current quota, please check your plan and billing details.", {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    anthropicStatus: 400,
    anthropicMessage: "Your credit balance is too low to access the API. Please go to Plans & Billing."
  }),
  credential: refusal(
    "Incorrect API key provided: sk-proj-abcdefghijklmnop1234. You can find your API key at https://platform.example.com/account/api-keys.",
    { status: 401, code: "invalid_api_key", anthropicType: "authentication_error" }
  ),
  forbidden: refusal("Your organization must be verified to use this model.", {
    status: 403,
    type: "permission_error",
    anthropicType: "permission_error"
  }),
  balance: refusal("Insufficient Balance", {
    status: 402,
    type: "unknown_error",
    code: "invalid_request_error",
    anthropicType: "billing_error"
  }),
  "model-missing": refusal("The model `echo-1` does not exist or you do not have access to it.", {
    status: 404,
    code: "model_not_found",
    anthropicType: "not_found_error"
  }),
  overloaded: refusal("The engine is currently overloaded, please try again later.", {
    status: 503,
    type: "server_error",
    code: "overloaded",
    anthropicType: "overloaded_error",
    anthropicStatus: 529
  }),
  "context-length": refusal(
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    {
      code: "context_length_exceeded",
      param: "messages",
      anthropicMessage: "prompt is too long: 9001 tokens > 8192 maximum"
    }
  ),
  "content-filter": refusal(
    "The response was filtered due to the prompt triggering the content management policy. Please modify your prompt and retry.",
    { code: "content_filter", param: "prompt", anthropicMessage: "Output blocked by content filtering policy" }
  ),
  "tool-id": refusal(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    {
      param: "messages.[1].role",
      anthropicMessage: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
    }
  ),
  reasoning: refusal("The `reasoning_content` in the thinking mode must be passed back to the API.", {
    anthropicMessage:
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."
  }),
  "message-order": refusal(
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    {
      type: "invalid_request_message_order",
      code: "3230",
      anthropicMessage: 'messages: roles must alternate between "user" and "assistant"'
    }
  ),
  "too-large": refusal("Request exceeds the maximum size", {
    status: 413,
    type: "request_too_large",
    anthropicType: "request_too_large"
  }),
  "image-url": refusal("Error while downloading https://pictures.example.com/a.png.", {
    code: "invalid_image_url",
    param: "url",
    anthropicMessage: "Unable to download the file. Please verify the URL and try again."
  }),
  "server-error": refusal("The server had an error while processing your request. Sorry about that!", {
    status: 500,
    type: "server_error",
    anthropicType: "api_error"
  }),
  "gateway-timeout": refusal("upstream request timeout", {
    status: 504,
    type: "server_error",
    anthropicType: "timeout_error"
  })
} as const satisfies Record<string, Failure>

export type FailureName = keyof typeof failures
export const failureNames = Object.keys(failures) as ReadonlyArray<FailureName>

const byStatus: Readonly<Record<number, FailureName>> = {
  401: "credential",
  402: "balance",
  403: "forbidden",
  404: "model-missing",
  413: "too-large",
  429: "rate-limit",
  500: "server-error",
  503: "overloaded",
  504: "gateway-timeout",
  529: "overloaded"
}

/** A provider's message for a bare status. */
export const failureOfStatus = (status: number): Failure => {
  const name = byStatus[status]
  const known: Failure = name === undefined ? refusal(`the request ended with status ${status}`) : failures[name]
  return { ...known, status, anthropicStatus: status, type: status >= 500 ? "server_error" : known.type }
}

export const rejection = (parameter: string): Failure =>
  refusal(`Unsupported value: '${parameter}' does not support this value with this model.`, {
    code: "unsupported_value",
    param: parameter,
    anthropicMessage: `${parameter}: this value is not supported by this model`
  })
