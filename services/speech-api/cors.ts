/** What pages of other origins may send to the speech API, and read of its answers, where they may call it. Pure. */
import type { CorsPolicy } from "#http"

export interface SpeechCors {
  readonly origins: CorsPolicy["origins"]
  /** Our own headers go by each of these names. */
  readonly headerPrefixes: ReadonlyArray<string>
}

export const speechCors = ({ origins, headerPrefixes }: SpeechCors): CorsPolicy => ({
  origins,
  requestHeaders: [
    "Authorization",
    "Content-Type",
    "Accept",
    "Idempotency-Key",
    "traceparent",
    "X-Request-Id",
    ...headerPrefixes.map((prefix) => `${prefix}-Version`)
  ],
  requestHeaderPrefixes: ["x-fern-"],
  exposedHeaders: [
    "Retry-After",
    "WWW-Authenticate",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "RateLimit-Remaining-Calls",
    "Idempotent-Replayed",
    "Deprecation",
    "Sunset",
    "Link",
    "Location",
    "Server-Timing",
    "X-Request-Id",
    ...headerPrefixes.flatMap((prefix) => [`${prefix}-Request-Id`, `${prefix}-Audio-Content-Type`])
  ]
})
