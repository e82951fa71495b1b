/** How an attempt is told in the delivery log and in metrics. Pure. */
import { isoTime, type Attempt, type Delivery } from "#contracts"
import type { EgressError, EgressResponse } from "#egress"
import { AttemptResult, type Decision, describe, isSuccess } from "./retry-policy.ts"

/** The receiver's words that are kept: enough to see an error message. */
const responseCharactersMax = 1_024
const errorCharactersMax = 500

const utf8 = new TextDecoder("utf-8", { fatal: false })

export const resultOf = (response: EgressResponse): AttemptResult =>
  AttemptResult.Answered({ status: response.status, retryAfter: response.headers["retry-after"] })

export const errorResult = (error: EgressError): AttemptResult =>
  AttemptResult.NotAnswered({ error: `${error._tag}: ${error.message}`.slice(0, errorCharactersMax) })

export type StatusClass = "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "unreachable" | "refused"

export const statusClass = (result: AttemptResult, error: EgressError | undefined): StatusClass => {
  if (result._tag === "Answered") {
    if (isSuccess(result.status)) return "2xx"
    if (result.status < 400) return "3xx"
    return result.status < 500 ? "4xx" : "5xx"
  }
  if (error?._tag === "DeadlineExceeded") return "timeout"
  return error?._tag === "Unreachable" ? "unreachable" : "refused"
}

/** `redact`: a receiver that fails may repeat the secret that it shares with us. */
export const attemptRecord = (
  delivery: Delivery,
  endpointName: string,
  attempt: {
    readonly startedAtMs: number
    readonly durationMs: number
    readonly result: AttemptResult
    readonly body: Uint8Array
    readonly decision: Decision
  },
  redact: (text: string) => string
): Attempt => ({
  deliveryId: delivery.deliveryId,
  endpoint: endpointName,
  event: delivery.event,
  sequence: delivery.sequence,
  attempt: delivery.attempt,
  startedAt: isoTime(attempt.startedAtMs),
  durationMs: Math.round(attempt.durationMs),
  outcome: outcomeOf(attempt.decision, attempt.result),
  status: attempt.result._tag === "Answered" ? attempt.result.status : null,
  error: attempt.result._tag === "NotAnswered" ? describe(attempt.result) : null,
  responseBody: isQuiet(attempt.result) ? "" : redact(utf8.decode(attempt.body)).slice(0, responseCharactersMax),
  nextAttemptAt: attempt.decision._tag === "Retry" ? isoTime(attempt.decision.dueAtMs) : null
})

// A success is not worth its body: thousands a second would only say "ok".
const isQuiet = (result: AttemptResult) => result._tag === "Answered" && isSuccess(result.status)

const outcomeOf = (decision: Decision, result: AttemptResult): Attempt["outcome"] => {
  if (decision._tag === "Delivered") return "delivered"
  if (decision._tag === "Gone") return "gone"
  return result._tag === "NotAnswered" && result.error.startsWith("AddressRefused") ? "refused" : "failed"
}
