/**
 * The retry policy decides what follows from an attempt. Success is any 2xx. 410 means that the receiver wants no more
 * deliveries: this one is abandoned and the endpoint paused. Everything else, redirects included, is retried until
 * MaxAttempts, after 1, 2, 4 ... times InitialBackoffSeconds, or by the patient schedule; 429 and 503 can ask for
 * longer, never for less.
 */
import { Data } from "effect"
import { retryAfterMs } from "#egress"

/** The result of sending: a status, or why there was none. `class` groups results for metrics and the breaker. */
export type AttemptResult = Data.TaggedEnum<{
  Answered: { readonly status: number; readonly retryAfter: string | undefined }
  NotAnswered: { readonly error: string }
}>
export const AttemptResult = Data.taggedEnum<AttemptResult>()

export type Decision = Data.TaggedEnum<{
  Delivered: {}
  /** Send again, not before `dueAtMs`; `delayMs` is how long that is from now. */
  Retry: { readonly dueAtMs: number; readonly delayMs: number }
  /** No attempt is left. */
  GiveUp: { readonly reason: string }
  /** The receiver is gone for good: abandon the delivery and pause its endpoint. */
  Gone: {}
}>
export const Decision = Data.taggedEnum<Decision>()

export interface RetrySettings {
  /** The waits between attempts. After the last one there is one more attempt. */
  readonly waitsMs: ReadonlyArray<number>
  /** 0 to 1: the fraction of the delay that can be added at random. */
  readonly jitter: number
  readonly retryAfterMsMax: number
}

interface RetryKeys {
  readonly RetrySchedule: "exponential" | "patient"
  readonly MaxAttempts: number
  readonly InitialBackoffSeconds: number
  readonly Jitter: number
}

/** An endpoint's waits, and the jitter on them, by its configuration. */
export const retryWaits = (keys: RetryKeys): Pick<RetrySettings, "waitsMs" | "jitter"> => {
  if (keys.RetrySchedule === "patient") return { waitsMs: patientWaitsMs, jitter: Math.max(keys.Jitter, patientJitter) }
  const initialMs = keys.InitialBackoffSeconds * 1_000
  const waitsMs = Array.from({ length: keys.MaxAttempts - 1 }, (_, index) => initialMs * 2 ** index)
  return { waitsMs, jitter: keys.Jitter }
}

/** The longest wait that a retry can have. */
export const longestWaitMs = ({ waitsMs, jitter, retryAfterMsMax }: RetrySettings): number =>
  Math.max(retryAfterMsMax, ...waitsMs.map((waitMs) => waitMs * (1 + jitter)))

const minuteMs = 60_000
const hourMs = 60 * minuteMs

// About fifty-two hours: a receiver that breaks on a Friday evening is tried until Sunday night.
const patientWaitsMs = [5_000, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20].map((hours) => hours * hourMs)]
// Deliveries that failed together must not all return in the same second hours later.
const patientJitter = 0.2

export interface DecisionInput {
  /** Counts from 1. */
  readonly attempt: number
  readonly settings: RetrySettings
  readonly nowMs: number
  /** In [0, 1). */
  readonly random: number
}

export const decide = (result: AttemptResult, { attempt, settings, nowMs, random }: DecisionInput): Decision => {
  if (result._tag === "Answered" && isSuccess(result.status)) return Decision.Delivered()
  if (result._tag === "Answered" && result.status === 410) return Decision.Gone()
  const backoffMs = settings.waitsMs[attempt - 1]
  if (backoffMs === undefined) {
    return Decision.GiveUp({ reason: `no success in ${attempt} attempts, last: ${describe(result)}` })
  }
  const jitteredMs = backoffMs * (1 + settings.jitter * random)
  const delayMs = Math.round(Math.max(jitteredMs, askedMs(result, settings, nowMs)))
  return Decision.Retry({ dueAtMs: nowMs + delayMs, delayMs })
}

export const isSuccess = (status: number) => status >= 200 && status < 300

/** One short line for logs and the delivery log. */
export const describe = (result: AttemptResult) =>
  result._tag === "Answered" ? `status ${result.status}` : result.error

const askedMs = (result: AttemptResult, settings: RetrySettings, nowMs: number) => {
  if (result._tag !== "Answered" || (result.status !== 429 && result.status !== 503)) return 0
  return Math.min(retryAfterMs(result.retryAfter, nowMs) ?? 0, settings.retryAfterMsMax)
}
