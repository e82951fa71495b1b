/** Why one provider has not answered: the fault for the caller, and whether another provider may do better. Pure but for the type. */
import { Schema } from "effect"
import { sanitise, type SanitiseOptions, type StreamError } from "#egress"
import { classifyUpstream, isWorthAnother } from "../errors/classify-upstream.ts"
import { fault, GatewayFault } from "../errors/GatewayFault.ts"
import { readUpstreamError } from "../errors/read-upstream-error.ts"

export class AttemptFailed extends Schema.TaggedError<AttemptFailed>()("AttemptFailed", {
  fault: GatewayFault,
  isWorthAnother: Schema.Boolean,
  /** The provider's failure and not the caller's. */
  isProviders: Schema.Boolean
}) {}

export interface AttemptContext {
  readonly hidden: SanitiseOptions
  /** Of the model: whose limit it is. */
  readonly family: string
}

const retryAfterSecondsMax = 3_600
const retryAfterSecondsDefault = 60

/** Seconds, or a date. */
const secondsOf = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  const text = retryAfter.trim()
  const seconds = /^\d{1,9}(?:\.\d{1,9})?$/u.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1_000
  return Number.isFinite(seconds) ? Math.min(retryAfterSecondsMax, Math.max(1, Math.ceil(seconds))) : undefined
}

export interface Refusal {
  readonly status: number
  readonly contentType: string
  readonly text: string
  readonly retryAfter: string | undefined
  readonly nowMs: number
}

export const refusedBy = ({ hidden, family }: AttemptContext, refusal: Refusal): AttemptFailed => {
  const error = readUpstreamError(refusal.status, refusal.contentType, refusal.text)
  const { code, param } = classifyUpstream(error)
  const wait = secondsOf(refusal.retryAfter, refusal.nowMs)
  const limited = code === "RATE_LIMITED" ? { retryAfterSeconds: wait ?? retryAfterSecondsDefault, source: family } : {}
  const isOurs = isWorthAnother(code)
  const debug = sanitise(error.message, hidden)
  return new AttemptFailed({
    fault: fault(code, {
      debug,
      ...limited,
      ...(code === "MODEL_UNAVAILABLE" && wait !== undefined ? { retryAfterSeconds: wait } : {}),
      ...(param === undefined || isOurs ? {} : { param: param.slice(0, 200) }),
      ...(code === "INVALID_PARAMETER" && debug !== undefined
        ? { message: `The model rejected a parameter: ${debug}` }
        : {})
    }),
    isWorthAnother: isOurs,
    isProviders: isOurs && code !== "RATE_LIMITED"
  })
}

/** `hasTimeLeft`: it failed so fast that asking another one is no second wait. */
export const brokenBy = ({ hidden }: AttemptContext, error: StreamError): AttemptFailed => {
  const debug = sanitise(error.message, hidden)
  const made = (code: "TIMEOUT" | "MODEL_UNAVAILABLE" | "INTERNAL_ERROR" | "PROVIDER_CONFIG_ERROR", isWorth: boolean) =>
    new AttemptFailed({ fault: fault(code, { debug }), isWorthAnother: isWorth, isProviders: true })
  switch (error._tag) {
    // The caller has waited as long as anybody may; a second provider would double that.
    case "DeadlineExceeded":
    case "Stalled":
      return made("TIMEOUT", false)
    case "Unreachable":
      return made("MODEL_UNAVAILABLE", true)
    case "ResponseTooLarge":
      return made("INTERNAL_ERROR", true)
    case "AddressRefused":
    case "InvalidUrl":
      return made("PROVIDER_CONFIG_ERROR", true)
  }
}

/** An answer that is none. */
export const garbled = ({ hidden }: AttemptContext, what: string): AttemptFailed =>
  new AttemptFailed({
    fault: fault("INTERNAL_ERROR", { debug: sanitise(what, hidden) }),
    isWorthAnother: true,
    isProviders: true
  })

/** A stream that stopped before it was whole. */
export const brokenOff = new AttemptFailed({
  fault: fault("MODEL_UNAVAILABLE", { message: "The model's answer broke off" }),
  isWorthAnother: true,
  isProviders: true
})
