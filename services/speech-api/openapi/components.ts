/**
 * The parts that the operations of the speech API share: error codes, headers and schemas, as OpenAPI writes them. Pure
 * data.
 */
import { audioFormats } from "#audio"
import {
  commonErrorCodes,
  type ErrorCode,
  ConsentChallenge,
  ConsentChallengeRequest,
  DialogueRequest,
  ErrorEnvelope,
  ModelList,
  SpeechChunkEvent,
  SpeechDoneEvent,
  SpeechErrorEvent,
  speechModels,
  SpeechRequest,
  SpeechResponse,
  StreamRequest,
  Voice,
  VoiceForm,
  VoiceList,
  VoicesQuery
} from "#contracts"
import { componentsOf, fieldsOf, type JsonObject, propertiesOf } from "#http"
import type { Answer } from "./operations.ts"
import { newestVersion } from "../routes/version.ts"

/** Every code that a refusal of this API may carry, its status, and when it is given. */
export const errorCodes = {
  bad_request: {
    status: 400,
    when: "The request or its JSON cannot be read, or nothing that `Accept` names can be streamed."
  },
  validation_failed: commonErrorCodes.validation_failed,
  invalid_api_version: { status: 400, when: "`Service-Version` is not a date, or later than the newest version." },
  speech_marks_unsupported: { status: 400, when: "The model has no speech marks on a stream." },
  unauthorized: commonErrorCodes.unauthorized,
  insufficient_scope: commonErrorCodes.insufficient_scope,
  forbidden: {
    status: 403,
    when: "The role, the workspace or the voice does not allow it, or it is over: the message says which."
  },
  too_many_voices: { status: 403, when: "The workspace has as many cloned voices as it may have; delete one first." },
  not_found: { status: 404, when: "There is nothing at this path, or it is not percent-encoded as it should be." },
  voice_not_found: { status: 404, when: "There is no such voice, or it belongs to another workspace." },
  consent_challenge_not_found: {
    status: 404,
    when: "There is no such challenge, or it belongs to another workspace."
  },
  method_not_allowed: commonErrorCodes.method_not_allowed,
  request_timeout: commonErrorCodes.request_timeout,
  idempotency_conflict: commonErrorCodes.idempotency_conflict,
  consent_challenge_expired: { status: 409, when: "The phrase was to be read earlier; start another challenge." },
  consent_challenge_already_used: { status: 409, when: "Another create has named the challenge before." },
  payload_too_large: {
    status: 413,
    when: "The input has too many characters, or the body or one of its parts too many bytes."
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
    when: "Too many requests, or more to speak than can be spoken in time; come back after `Retry-After`."
  },
  concurrency_limit_reached: { status: 429, when: "The workspace has as many answers running as it may have." },
  headers_too_large: commonErrorCodes.headers_too_large,
  internal_error: commonErrorCodes.internal_error,
  upstream_failure: { status: 502, when: "The speech broke off and could not be taken up again." },
  service_unavailable: { status: 503, when: "Not available just now; come back after `Retry-After`." },
  consent_verification_unavailable: {
    status: 503,
    when:
      "Consents cannot be verified just now; come back after `Retry-After`, with the same idempotency key and form " +
      "also with the same challenge."
  }
} as const satisfies Record<string, ErrorCode>

export type ErrorCodeName = keyof typeof errorCodes

export const errorCodeNames = Object.keys(errorCodes) as ReadonlyArray<ErrorCodeName>

const ofCallers = ["unauthorized", "rate_limited", "internal_error", "service_unavailable"] as const

/** The refusals of any route that asks for a token, before it has looked at anything else. */
export const commonCodes: ReadonlyArray<ErrorCodeName> = ["invalid_api_version", "insufficient_scope", ...ofCallers]

/** The further refusals of the routes that speak. */
export const speakingCodes: ReadonlyArray<ErrorCodeName> = [
  ...commonCodes,
  "bad_request",
  "validation_failed",
  "forbidden",
  "voice_not_found",
  "payload_too_large",
  "unsupported_media_type",
  "concurrency_limit_reached",
  "upstream_failure"
]

/** The further refusals of routes that may be repeated with an idempotency key. */
export const idempotentCodes: ReadonlyArray<ErrorCodeName> = [
  ...commonCodes,
  "bad_request",
  "validation_failed",
  "idempotency_conflict",
  "payload_too_large",
  "unsupported_media_type"
]

const text = { type: "string" }
const whole = { type: "integer", minimum: 0 }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** Headers that callers may send with every request. */
export const requestHeaders = {
  "Service-Version": {
    name: "Service-Version",
    in: "header",
    required: false,
    description: "The version you are pinned to, a date; the newest without it. Also read as `Speechify-Version`.",
    schema: { type: "string", format: "date", examples: [newestVersion] }
  },
  "X-Request-Id": {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description: "An id of yours, up to 128 visible ASCII characters, instead of one of ours.",
    schema: text
  }
}

/** Headers of the operations that may be repeated. */
export const idempotencyHeaders = {
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A key of yours, 1 to 255 characters: a repeated request gets the first one's answer, for 24 hours. What failed " +
      "with 429 or 5xx is done anew.",
    schema: { type: "string", minLength: 1, maxLength: 255 }
  }
}

export const headers = {
  "Service-Request-Id": header("The id of the request, for questions about it.", true),
  "Speechify-Request-Id": header("The same id.", true),
  "X-Request-Id": header("The same id.", true),
  "Server-Timing": header("What the time to the first byte went into, in milliseconds: `admit;dur=2.1, ...`.", true),
  "Service-Audio-Content-Type": header("The media type of the audio inside the events.", true),
  "Speechify-Audio-Content-Type": header("The same media type.", true),
  "Retry-After": header("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 }),
  "RateLimit-Remaining-Calls": header("Only when the concurrency is used up: 0.", false, {
    type: "integer",
    minimum: 0
  }),
  "WWW-Authenticate": header("What a token must have.", false),
  "RateLimit-Limit": header("How many there are in an hour; only where that window decided.", false, whole),
  "RateLimit-Remaining": header("How many of them are left.", false, whole),
  "RateLimit-Reset": header("Seconds until the next one is free.", false, whole),
  "Idempotent-Replayed": header("`true` when this is the answer to an earlier request with the same key.", false),
  Deprecation: header("Since when the flow that was used is deprecated (RFC 9745).", false),
  Sunset: header("From when on it is refused (RFC 8594).", false),
  Link: header("Where to read of it, and what comes after it.", false),
  Location: header("Where the new voice is.", true)
}
export type HeaderName = keyof typeof headers

const always: ReadonlyArray<HeaderName> = ["Service-Request-Id", "Speechify-Request-Id", "X-Request-Id"]

const ofStatus: Readonly<Record<number, ReadonlyArray<HeaderName>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After", "RateLimit-Remaining-Calls", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
  503: ["Retry-After"]
}

const ofAnswer = (answer: Answer | undefined): ReadonlyArray<HeaderName> => {
  switch (answer?._tag) {
    case "Audio":
      return ["Server-Timing"]
    case "Events":
      return ["Server-Timing", "Service-Audio-Content-Type", "Speechify-Audio-Content-Type"]
    case "Json":
      return [...(answer.isTimed ? (["Server-Timing"] as const) : []), ...(answer.headers ?? [])]
    default:
      return []
  }
}

/** The headers of an answer with that status, as references. */
export const headersOf = (status: number, answer?: Answer, isIdempotent = false): JsonObject =>
  refsOf([
    ...always,
    ...(ofStatus[status] ?? []),
    ...ofAnswer(answer),
    ...(isIdempotent ? (["Idempotent-Replayed"] as const) : [])
  ])

/** The headers of a refusal that was made before the route was known. */
export const leastHeaders = () => refsOf(["X-Request-Id"])

const refsOf = (names: ReadonlyArray<HeaderName>): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const schemas = {
  SpeechRequest,
  StreamRequest,
  DialogueRequest,
  ConsentChallengeRequest,
  VoiceForm,
  SpeechResponse,
  SpeechChunkEvent,
  SpeechDoneEvent,
  SpeechErrorEvent,
  ModelList,
  Voice,
  VoiceList,
  ConsentChallenge,
  ErrorEnvelope
}
export type SchemaName = keyof typeof schemas

export const voicesQuery = () => fieldsOf(VoicesQuery)

/** The schemas of requests and answers as JSON Schema, below `#/components/schemas/`. */
export const componentSchemas = (): Record<string, JsonObject> => {
  const found = componentsOf(schemas)
  for (const [name, isDialogue, isStream] of requests) {
    const fields = propertiesOf(found[name])
    fields["output_format"] = oneOf(fields["output_format"], formatNames(isStream))
    fields["model"] = oneOf(fields["model"], modelNames(isDialogue))
  }
  return found
}

const requests = [
  ["SpeechRequest", false, false],
  ["StreamRequest", false, true],
  ["DialogueRequest", true, false]
] as const

const formatNames = (isStream: boolean) =>
  audioFormats.filter(({ isStreamable }) => isStreamable || !isStream).map(({ name }) => name)

const modelNames = (isDialogue: boolean) =>
  speechModels.filter((model) => model.isDialogue === isDialogue).flatMap(({ id, aliases }) => [id, ...aliases])

/** The schema takes any name, so that a refusal can say what is wrong with it; the document lists the valid ones. */
const oneOf = (field: JsonObject | undefined, names: ReadonlyArray<string>): JsonObject => ({
  type: "string",
  enum: names,
  ...(field?.["description"] === undefined ? {} : { description: field["description"] })
})
