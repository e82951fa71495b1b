/** A provider's refusal as one of our codes. What only the caller can mend is 400 and never 500. Pure. */
import type { GatewayCode } from "#contracts"
import { type ClassifyRule, classifyRules } from "./classify-rules.ts"
import type { UpstreamError } from "./read-upstream-error.ts"

export interface Classified {
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

export const classifyUpstream = (error: UpstreamError): Classified => {
  const found = classifyRules.find((rule) => fits(rule, error))
  // A status below 400 with an error in it, or a failure without a name.
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

/** Another provider of the same model may do better. */
export const isWorthAnother = (code: GatewayCode): boolean =>
  code === "RATE_LIMITED" ||
  code === "MODEL_UNAVAILABLE" ||
  code === "INTERNAL_ERROR" ||
  code === "PROVIDER_CONFIG_ERROR" ||
  code === "TIMEOUT"
