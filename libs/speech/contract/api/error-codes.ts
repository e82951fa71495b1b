/** Every refusal code of the speech API, its status, and when it is given; and how its routes are declared. */
import { Schema } from "effect"
import { endpointsFor } from "#base/http"
import { commonErrorCodes, describe, type ErrorCode, ErrorEnvelope } from "#base"

export const speechErrorCodes = {
  bad_request: {
    status: 400,
    when: "The request or its JSON cannot be read, or nothing that `Accept` names can be streamed."
  },
  validation_failed: commonErrorCodes.validation_failed,
  invalid_api_version: { status: 400, when: "`Service-Version` is not a date, or later than the newest version." },
  speech_marks_unsupported: { status: 400, when: "The model has no speech marks on a stream." },
  voice_not_real_time: {
    status: 400,
    when: "The voice takes longer to speak than to be heard, so it is spoken in whole answers alone."
  },
  unauthorized: commonErrorCodes.unauthorized,
  insufficient_scope: commonErrorCodes.insufficient_scope,
  forbidden: {
    status: 403,
    when: "The role, the workspace or the voice does not allow it, or it is over: the message says which."
  },
  too_many_voices: { status: 403, when: "The workspace has as many cloned voices as it may have; delete one first." },
  too_many_lexicons: { status: 403, when: "The workspace has as many lexicons as it may have; delete one first." },
  not_found: { status: 404, when: "There is nothing at this path, or it is not percent-encoded as it should be." },
  voice_not_found: { status: 404, when: "There is no such voice, or it belongs to another workspace." },
  lexicon_not_found: { status: 404, when: "The workspace has no such lexicon." },
  job_not_found: { status: 404, when: "The workspace has no such job, or it is older than its files are kept." },
  consent_challenge_not_found: {
    status: 404,
    when: "There is no such challenge, or it belongs to another workspace."
  },
  method_not_allowed: commonErrorCodes.method_not_allowed,
  request_timeout: commonErrorCodes.request_timeout,
  idempotency_conflict: commonErrorCodes.idempotency_conflict,
  chapter_not_spoken: { status: 409, when: "The files of the chapter are there once all of it is spoken." },
  consent_challenge_expired: { status: 409, when: "The phrase was to be read earlier; start another challenge." },
  consent_challenge_already_used: { status: 409, when: "Another create has named the challenge before." },
  precondition_failed: {
    status: 412,
    when: "`If-None-Match` names the `ETag` of the answer: nothing was spoken or counted.",
    headers: ["ETag"]
  },
  payload_too_large: {
    status: 413,
    when: "The input has too many characters, the body or one of its parts too many bytes, or the body too many elements and keys."
  },
  unsupported_media_type: { status: 415, when: "The body is not of the type it should be, or it is compressed." },
  consent_phrase_mismatch: { status: 422, when: "What is said in the consent recording is not the phrase." },
  consent_speaker_mismatch: { status: 422, when: "Who reads the phrase is not who speaks in the sample." },
  consent_recording_unusable: {
    status: 422,
    when:
      "The consent recording is no audio, too short, too long, silent or clipped; `details.reason` says which of " +
      "`not_audio` `damaged` `too_short` `too_long` `silent` `clipped` `too_costly`."
  },
  rate_limited: {
    status: 429,
    when: "Too many requests, or more to speak than can be spoken in time; come back after `Retry-After`.",
    headers: ["Retry-After"]
  },
  concurrency_limit_reached: {
    status: 429,
    when: "The workspace has as many answers running as it may have.",
    headers: ["Retry-After", "RateLimit-Remaining-Calls"]
  },
  too_many_jobs: {
    status: 429,
    when: "The workspace has as many unfinished jobs as it may have; come back when one has ended.",
    headers: ["Retry-After"]
  },
  headers_too_large: commonErrorCodes.headers_too_large,
  internal_error: commonErrorCodes.internal_error,
  upstream_failure: { status: 502, when: "The speech broke off and could not be taken up again." },
  service_unavailable: {
    status: 503,
    when: "Not available just now; come back after `Retry-After`.",
    headers: ["Retry-After"]
  },
  consent_verification_unavailable: {
    status: 503,
    when:
      "Consents cannot be verified just now; come back after `Retry-After`, with the same idempotency key and form " +
      "also with the same challenge.",
    headers: ["Retry-After"]
  }
} as const satisfies Record<string, ErrorCode>

const errorTypes = [
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "rate_limit_error",
  "api_error"
] as const

/** The kind of a refusal, as OpenAI's clients read it. */
export const speechErrorType = (status: number): (typeof errorTypes)[number] => {
  if (status === 401) return "authentication_error"
  if (status === 403) return "permission_error"
  if (status === 429) return "rate_limit_error"
  return status >= 500 ? "api_error" : "invalid_request_error"
}

/** The standard envelope with the fields of OpenAI's, so that clients of either API read every refusal. */
export const SpeechErrorEnvelope = Schema.Struct({
  ...ErrorEnvelope.fields,
  error: Schema.Struct({
    ...ErrorEnvelope.fields.error.fields,
    type: Schema.Literals(errorTypes).pipe(describe("The kind of refusal, by its status, as OpenAI names it.")),
    param: Schema.NullOr(Schema.String).pipe(
      describe("The first of the fields that are not valid, as OpenAI names one.")
    )
  })
}).annotate({ identifier: "ErrorEnvelope" })

/**
 * `missing`: the codes of a path that names one thing that does not exist.
 *
 * @internal
 */
export const speechEndpoints = endpointsFor({
  table: speechErrorCodes,
  always: [
    "invalid_api_version",
    "insufficient_scope",
    "unauthorized",
    "rate_limited",
    "internal_error",
    "service_unavailable"
  ],
  changing: ["bad_request", "validation_failed", "payload_too_large", "unsupported_media_type"],
  reading: "voices:read"
})
