/** Every refusal code of the pipeline's API, its status, and when it is given; and the usual sets of codes. */
import { commonErrorCodes, type ErrorCode } from "../../http/refusals.ts"
import { refusalsFrom } from "../../http/declaration.ts"

export const pipelineErrorCodes = {
  bad_request: { status: 400, when: "The request or its JSON cannot be read." },
  validation_failed: commonErrorCodes.validation_failed,
  unauthorized: commonErrorCodes.unauthorized,
  insufficient_scope: commonErrorCodes.insufficient_scope,
  not_found: { status: 404, when: "There is nothing at this path." },
  work_item_not_found: { status: 404, when: "There is no such work item, or none any more." },
  suggestion_not_found: { status: 404, when: "There is no such suggestion, or its work item is gone." },
  release_not_found: { status: 404, when: "There is no such release, or none any more." },
  project_not_found: { status: 404, when: "There is no such project." },
  agent_not_found: { status: 404, when: "The configuration names agents, and not this one." },
  method_not_allowed: commonErrorCodes.method_not_allowed,
  request_timeout: commonErrorCodes.request_timeout,
  conflict: {
    status: 409,
    when: "The state does not allow it: `details.state` is that state, `details.reason` why. Asking again changes nothing."
  },
  idempotency_conflict: commonErrorCodes.idempotency_conflict,
  payload_too_large: { status: 413, when: "The body has too many bytes." },
  unsupported_media_type: { status: 415, when: "The body is not JSON, or it is compressed." },
  rate_limited: { status: 429, when: "Too many wrong tokens from this address; come back after `Retry-After`." },
  headers_too_large: commonErrorCodes.headers_too_large,
  internal_error: commonErrorCodes.internal_error,
  service_unavailable: {
    status: 503,
    when: "Too many want to change the same thing, or the log is full or away; come back after `Retry-After`."
  }
} as const satisfies Record<string, ErrorCode>

export const refusals = refusalsFrom(pipelineErrorCodes)

/** The codes of every route that needs a token. */
export const readCodes = [
  "unauthorized",
  "insufficient_scope",
  "rate_limited",
  "internal_error",
  "service_unavailable"
] as const
export const listCodes = [...readCodes, "validation_failed"] as const
/** The codes of routes that change something. */
export const writeCodes = [
  ...listCodes,
  "bad_request",
  "conflict",
  "payload_too_large",
  "unsupported_media_type"
] as const
