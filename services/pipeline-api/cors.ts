/** What pages of other origins may send to the pipeline's API, and read of its answers, where they may call it. Pure. */
import type { CorsPolicy } from "#http"

export const pipelineCors = (origins: CorsPolicy["origins"]): CorsPolicy => ({
  origins,
  requestHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "traceparent", "X-Request-Id"],
  exposedHeaders: ["Retry-After", "WWW-Authenticate", "Idempotent-Replayed", "Location", "X-Request-Id"]
})
