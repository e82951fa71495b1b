/**
 * A provider's refusal in any shape: an object or a text under `error`, a bare message, a list around it, a validator's
 * `detail`, or a page of HTML; and the code that it becomes. Pure.
 */
import { Result } from "effect"
import { isRecord, type JsonObject, textAt } from "../translate/json.ts"
import type { GatewayCode } from "#gateway/api"

interface UpstreamError {
  readonly status: number
  readonly message: string
  /** The machine-readable part: the type and the code, in lower case. */
  readonly kinds: ReadonlyArray<string>
  readonly param: string | undefined
}

const parse = (text: string): unknown => Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))

const titleOf = (html: string) => /<title>([^<]{0,200})/iu.exec(html)?.[1]?.trim() ?? "a page of HTML"

/** FastAPI and pydantic: `{"detail":[{"type":..,"loc":["body","x"],"msg":..}]}`. */
const fromDetail = (detail: unknown) => {
  if (typeof detail === "string") return { message: detail }
  const [first] = Array.isArray(detail) ? detail.filter(isRecord) : []
  if (first === undefined) return undefined
  const location = Array.isArray(first["loc"]) ? first["loc"].filter((step) => step !== "body") : []
  return { message: textAt(first, "msg") ?? "", type: textAt(first, "type"), param: location.join(".") || undefined }
}

const kindOf = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? [String(value).slice(0, kindUnitsMax).toLowerCase()] : []

const fromObject = (body: JsonObject): Omit<UpstreamError, "status"> => {
  const { error } = body
  const inner = isRecord(error) ? error : {}
  const deeper = isRecord(inner["innererror"]) ? inner["innererror"] : {}
  const detail = fromDetail(body["detail"])
  // OpenRouter puts the message of the provider behind it here.
  const metadata = isRecord(inner["metadata"]) ? inner["metadata"] : {}
  const message =
    textAt(inner, "message") ??
    (typeof error === "string" ? error : undefined) ??
    textAt(body, "message") ??
    textAt(body, "Message") ??
    detail?.message ??
    ""
  const raw = textAt(metadata, "raw")
  return {
    message: raw === undefined ? message : `${message}: ${raw}`,
    kinds: [
      inner["type"],
      inner["code"],
      inner["status"],
      deeper["code"],
      body["type"],
      body["code"],
      body["__type"],
      detail?.type
    ].flatMap(kindOf),
    param: textAt(inner, "param") ?? textAt(body, "param") ?? detail?.param
  }
}

// The largest refusal that is read; a longer one is no longer JSON, but its beginning still shows what it is.
const refusalUnitsMax = 65_536
// Providers name the cause first. Many then repeat the request, which can be of any length.
const messageUnitsMax = 2_000
const kindUnitsMax = 100
const paramUnitsMax = 200

/** These bounds limit what each rule below reads of a provider's text, so that none takes longer than a millisecond. */
export const readUpstreamError = (status: number, contentType: string, answer: string): UpstreamError => {
  const text = answer.slice(0, refusalUnitsMax)
  const parsed = parse(text)
  const body = Array.isArray(parsed) ? (parsed as ReadonlyArray<unknown>)[0] : parsed
  if (isRecord(body)) {
    const { message, kinds, param } = fromObject(body)
    return { status, message: message.slice(0, messageUnitsMax), kinds, param: param?.slice(0, paramUnitsMax) }
  }
  const isHtml = contentType.includes("html") || /^\s*<(?:!doctype|html)/iu.test(text)
  return { status, message: isHtml ? titleOf(text) : text.slice(0, messageUnitsMax), kinds: [], param: undefined }
}

interface Classified {
  readonly code: GatewayCode
  /** The field of the request that the provider named. */
  readonly param: string | undefined
}

const fits = ({ statuses, kinds, words }: ClassifyRule, error: UpstreamError) =>
  statuses?.includes(error.status) === true ||
  kinds?.some((kind) => error.kinds.includes(kind)) === true ||
  (words !== undefined && error.status < 500 && words.test(error.message))

const ofHistory = /^(?:messages?|input|contents?|prompt)\b/u
const anthropicPath = /^([a-z_][a-z0-9_]{0,63}(?:\.[a-z0-9_]{1,64}){0,8}): /iu
const quotedName = /['"`]([a-z][a-z0-9_]{1,63}(?:\.[a-z0-9_]{1,64}){0,8})['"`]/u
const wellKnownName =
  /\b(temperature|top_p|top_k|max_tokens|max_completion_tokens|frequency_penalty|presence_penalty|tool_choice|response_format|logprobs|stop|seed|tools)\b/u

const paramOf = ({ param, message }: UpstreamError) =>
  param ?? anthropicPath.exec(message)?.[1] ?? quotedName.exec(message)?.[1] ?? wellKnownName.exec(message)?.[1]

/** A provider's refusal as one of our codes. A fault that only the caller can fix is 400 and never 500. */
export const classifyUpstream = (error: UpstreamError): Classified => {
  const found = classifyRules.find((rule) => fits(rule, error))
  // A status below 400 with an error in it, or an unnamed failure.
  const code = found?.code ?? (error.status >= 400 && error.status < 500 ? "INVALID_REQUEST" : "INTERNAL_ERROR")
  if (code !== "INVALID_PARAMETER" && code !== "INVALID_REQUEST") return { code, param: error.param }
  const param = paramOf(error)
  if (code === "INVALID_PARAMETER") {
    return { code: param !== undefined && ofHistory.test(param) ? "INVALID_REQUEST" : code, param }
  }
  return {
    code: error.param !== undefined && !ofHistory.test(error.param) ? "INVALID_PARAMETER" : code,
    param: error.param
  }
}

/** Another provider of the same model may succeed. */
export const isWorthAnother = (code: GatewayCode): boolean =>
  code === "RATE_LIMITED" ||
  code === "MODEL_UNAVAILABLE" ||
  code === "INTERNAL_ERROR" ||
  code === "PROVIDER_CONFIG_ERROR" ||
  code === "TIMEOUT"

/**
 * The rule from a provider's refusal to one of our codes. The first matching row decides, so rows that name a cause
 * come before rows that only know a status. Data.
 */
interface ClassifyRule {
  readonly code: GatewayCode
  readonly statuses?: ReadonlyArray<number>
  /** Types and codes of providers, in lower case. */
  readonly kinds?: ReadonlyArray<string>
  /** Matches the message; read only from statuses below 500. */
  readonly words?: RegExp
}

const classifyRules: ReadonlyArray<ClassifyRule> = [
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
    code: "REASONING_FORMAT_ERROR",
    words:
      /reasoning_content|redacted_thinking|`?thinking`? blocks?|thought_?signature|encrypted_content|reasoning' (?:item|was provided without)|reasoning item/iu
  },
  {
    code: "TOOL_ID_FORMAT_ERROR",
    words:
      /tool_call_ids?|tool_use_id|`?tool_use`? ids?|tool_use\.id|tool_result|tool call id|tool_calls?'? must be followed|function response parts|preceding message with 'tool_calls'/iu
  },
  {
    code: "INVALID_IMAGE_URL",
    kinds: ["invalid_image_url", "image_url_unreachable"],
    words: /(?:download|fetch|retriev|access|load)[^.]{0,72}(?:image|picture|file|url)|invalid image url/iu
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
