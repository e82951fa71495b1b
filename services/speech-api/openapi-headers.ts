/** The headers of the speech API, both ways, as OpenAPI writes them. Pure data. */
import type { JsonObject } from "#http"
import type { Answer } from "./openapi-operations.ts"
import { newestVersion } from "./version.ts"

const text = { type: "string" }
const whole = { type: "integer", minimum: 0 }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** What callers may send with every request. */
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

/** Of the operations that may be repeated. */
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

/** What even a refusal carries that was made before the route was known. */
export const leastHeaders = () => refsOf(["X-Request-Id"])

const refsOf = (names: ReadonlyArray<HeaderName>): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
