/**
 * Which of our codes a provider's refusal is, by what it looks like. The first row that fits decides, so rows
 * that name a cause stand before rows that only know a status. Data.
 */
import type { GatewayCode } from "#contracts"

export interface ClassifyRule {
  readonly code: GatewayCode
  readonly statuses?: ReadonlyArray<number>
  /** Types and codes of providers, in lower case. */
  readonly kinds?: ReadonlyArray<string>
  /** Of the message; read only from statuses below 500. */
  readonly words?: RegExp
}

export const classifyRules: ReadonlyArray<ClassifyRule> = [
  {
    code: "CONTENT_FILTERED",
    kinds: [
      "content_filter",
      "content_policy_violation",
      "responsibleaipolicyviolation",
      "moderation_blocked",
      "data_inspection_failed",
      "safety"
    ],
    words:
      /content (?:filter|policy|management policy|moderation)|safety (?:filter|system|settings)|\bflagged\b|usage guidelines|blocked by content|(?:prohibited|inappropriate|sensitive) content/iu
  },
  {
    code: "PROVIDER_CONFIG_ERROR",
    statuses: [401, 402, 403],
    kinds: [
      "insufficient_quota",
      "invalid_api_key",
      "authentication_error",
      "permission_error",
      "permission_denied",
      "billing_error",
      "unauthenticated",
      "billing_not_active",
      "accessdeniedexception",
      "unrecognizedclientexception"
    ],
    words:
      /api[ _-]?key|credit balance|insufficient (?:balance|quota|credits?|funds)|exceeded your current quota|billing|unauthori[sz]ed|security token|(?:account|organization)[^.]{0,40}(?:deactivated|suspended|disabled|verified)/iu
  },
  {
    code: "CONTEXT_LENGTH_EXCEEDED",
    kinds: ["context_length_exceeded", "context_window_exceeded"],
    words:
      /context (?:length|window|size)|prompt is too long|input (?:is too long|token count)|(?:prompt|input|messages?)[^.]{0,40}too (?:long|many tokens)|reduce the length of the (?:messages|prompt|input)|exceeds? the (?:maximum|model)[^.]{0,30}tokens|`?max_tokens`? exceed context/iu
  },
  {
    code: "TOOL_ID_FORMAT_ERROR",
    words:
      /tool_call_ids?|tool_use_id|`?tool_use`? ids?|tool_use\.id|tool_result|tool call id|tool_calls?'? must be followed|function response parts|preceding message with 'tool_calls'/iu
  },
  {
    code: "REASONING_FORMAT_ERROR",
    words:
      /reasoning_content|redacted_thinking|`?thinking`? blocks?|thought_?signature|encrypted_content|reasoning' (?:item|was provided without)|reasoning item/iu
  },
  {
    code: "INVALID_IMAGE_URL",
    kinds: ["invalid_image_url", "image_url_unreachable"],
    words: /(?:download|fetch|retriev|access|load)\w*[^.]{0,60}(?:image|picture|file|url)|invalid image url/iu
  },
  { code: "REQUEST_TOO_LARGE", statuses: [413], kinds: ["request_too_large"] },
  {
    code: "RATE_LIMITED",
    statuses: [429],
    kinds: [
      "rate_limit_error",
      "rate_limit_exceeded",
      "resource_exhausted",
      "throttlingexception",
      "engine_overloaded_error"
    ]
  },
  {
    code: "MODEL_UNAVAILABLE",
    statuses: [404, 410, 502, 503, 520, 521, 522, 523, 529, 530],
    kinds: [
      "model_not_found",
      "overloaded_error",
      "overloaded",
      "not_found_error",
      "unavailable",
      "serviceunavailableexception",
      "modelnotreadyexception",
      "model_decommissioned"
    ],
    words:
      /model[^.]{0,80}(?:not found|not exist|does not exist|not available|is not supported|unavailable|decommissioned|deprecated|overloaded|is loading)|\boverloaded\b|no (?:available|healthy|allowed) (?:channel|provider|endpoint|upstream)/iu
  },
  { code: "TIMEOUT", statuses: [408, 504, 524], kinds: ["timeout_error", "timeout", "deadline_exceeded"] },
  {
    code: "INVALID_PARAMETER",
    kinds: [
      "unsupported_value",
      "unsupported_parameter",
      "invalid_value",
      "unknown_parameter",
      "extra_forbidden",
      "invalid_type",
      "integer_below_min_value",
      "integer_above_max_value",
      "decimal_above_max_value",
      "decimal_below_min_value"
    ],
    words:
      /unsupported|(?:unknown|unrecogni[sz]ed|invalid|unexpected|unpermitted) (?:parameter|argument|value|field|keyword|property|name)|extra (?:inputs|fields)|not (?:supported|permitted|allowed)|does not support|must be (?:between|less|greater|at (?:most|least)|one of|a |an |>|<|in )|out of range|less than or equal|greater than or equal|\bmax_(?:completion_|output_)?tokens\b|\btemperature\b|\btop_[pk]\b|_penalty\b|\btool_choice\b|\bresponse_format\b|json_?schema|\blogprobs\b|function name/iu
  },
  { code: "INVALID_REQUEST", statuses: [400, 405, 406, 409, 411, 412, 414, 415, 417, 422, 424, 426, 428, 451] }
]
