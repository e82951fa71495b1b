/** The headers of the speech API, both ways, and its OpenAPI document. Pure. */
import { refusalsOf } from "#contracts/http"
import { newestVersion, SpeechHttpApi } from "#contracts/speech-api"
import { type ApiParts, type JsonObject, openApiOf } from "#http"

export const speechOpenApi = (): JsonObject => openApiOf(SpeechHttpApi, speechParts)

const text = { type: "string" }
const whole = { type: "integer", minimum: 0 }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** Headers that callers may send. */
const requestHeaders = {
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
  },
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

const answerHeaders = {
  "Service-Request-Id": header("The id of the request, for questions about it.", true),
  "Speechify-Request-Id": header("The same id.", true),
  "X-Request-Id": header("The same id.", true),
  "Server-Timing": header("What the time to the first byte went into, in milliseconds: `admit;dur=2.1, ...`.", true),
  "Service-Audio-Content-Type": header("The media type of the audio inside the events.", true),
  "Speechify-Audio-Content-Type": header("The same media type.", true),
  "Retry-After": header("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 }),
  "RateLimit-Remaining-Calls": header("Only when the concurrency is used up: 0.", false, whole),
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
type HeaderName = keyof typeof answerHeaders

const ofStatus: Readonly<Record<number, ReadonlyArray<HeaderName>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After", "RateLimit-Remaining-Calls", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
  503: ["Retry-After"]
}

/** Beside the request's id, which every answer has. */
const ofSuccess: Readonly<Record<string, ReadonlyArray<HeaderName>>> = {
  createSpeech: ["Server-Timing"],
  createDialogue: ["Server-Timing"],
  streamSpeech: ["Server-Timing"],
  streamSpeechWithTimestamps: ["Server-Timing", "Service-Audio-Content-Type", "Speechify-Audio-Content-Type"],
  createConsentChallenge: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Idempotent-Replayed"],
  createVoice: ["Location", "Deprecation", "Sunset", "Link", "Idempotent-Replayed"]
}

const speechParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: (endpoint) => {
    if (endpoint.middlewares.size === 0) return []
    const isRepeatable = refusalsOf(endpoint).some(({ codes }) => codes.includes("idempotency_conflict"))
    return ["Service-Version", "X-Request-Id", ...(isRepeatable ? ["Idempotency-Key"] : [])]
  },
  givenWith: (status, endpoint) => {
    // A refusal that was made before the route was known has the listener's own header alone.
    if (endpoint === undefined) return ["X-Request-Id"]
    const ofRoute = status < 300 ? (ofSuccess[endpoint.identifier] ?? []) : []
    return ["Service-Request-Id", "Speechify-Request-Id", "X-Request-Id", ...(ofStatus[status] ?? []), ...ofRoute]
  }
}
