/** Asks a verifier whether a payment is valid for a call, and for long enough. */
import { Clock, Effect, Option } from "effect"
import { type BusError, type Requests } from "#bus"
import type { PaymentRequirements, VerifyAnswer, VerifyRequest } from "#payments/contract"
import { subjects } from "#base"
import { sanitise } from "#egress"
import type { Configuration } from "#configuration"
import { codeOf, newTicket, statedEndMs, verifyAnswerCodec, verifyRequestCodec } from "#payments"
import type { PaymentFigures } from "../payment-figures.ts"
import type { OfferedPayment } from "../payment-method.ts"
import { neededMs, type PayableCall } from "../quote.ts"
import { exposureReached, type PaymentRefusal, unavailable } from "../replies.ts"

export type Verified = Extract<VerifyAnswer, { readonly _tag: "Verified" }>
type Unavailable = Extract<VerifyAnswer, { readonly _tag: "Unavailable" }>
export type RefusedPayment = Pick<
  Extract<VerifyAnswer, { readonly _tag: "Refused" }>,
  "code" | "reason" | "payer" | "detail" | "claimKey" | "holder"
>

export interface Asking {
  readonly figures: PaymentFigures
  readonly requests: Requests["Service"]
  /** This gateway's name in its claims. */
  readonly instance: string
}

/** A verifier's claim for the call. */
export const verify = Effect.fnUntraced(function* (
  { requests, instance, figures }: Asking,
  { call, payload, requirements, binding }: OfferedPayment
): Effect.fn.Return<VerifyAnswer, PaymentRefusal> {
  const ticket = newTicket()
  const { kind, model } = call
  const request = { payload, requirements, binding, kind, holder: instance, ticket, model }
  const asking = askVerifier(requests, request, figures.count("asked_again")).pipe(
    Effect.tapError((error) => Effect.logWarning("no verifier answered", error)),
    Effect.mapError(() =>
      unavailable(call.shape, "Payments cannot be verified just now; send the same payment again", 2)
    ),
    Effect.tapError(({ code }) => figures.count("refused", code))
  )
  return yield* figures.timed("verify", asking)
})

// One question to a chain is enough for most answers; a verifier's own deadline is shorter than the second wait.
const firstMs = 2_000
const secondMs = 10_000

/**
 * Asks a verifier, and asks again if the one that has the question does not answer: it may have died. The second
 * verifier takes over any claim that the first has made, because the question is the same; a later move of the first is
 * refused.
 */
const askVerifier = Effect.fnUntraced(function* (
  requests: Requests["Service"],
  request: VerifyRequest,
  onSilence: Effect.Effect<void>
): Effect.fn.Return<VerifyAnswer, BusError> {
  const ask = (isAgain: boolean) =>
    requests.ask(
      {
        subject: subjects.paymentsVerify,
        question: verifyRequestCodec,
        answer: verifyAnswerCodec,
        timeoutMs: secondMs,
        isAgain
      },
      request
    )
  const first = yield* Effect.timeoutOption(ask(false), firstMs)
  if (Option.isSome(first)) return first.value
  yield* onSilence
  return yield* ask(true)
})

/** The reply to a payment that no verifier can accept now. */
export const refuseUnverified = Effect.fnUntraced(function* (
  { count }: PaymentFigures,
  { shape }: PayableCall,
  answer: Unavailable
): Effect.fn.Return<never, PaymentRefusal> {
  if (answer.why === "exposure") {
    yield* count("refused", "PAYMENT_EXPOSURE_LIMIT")
    return yield* Effect.fail(exposureReached(shape, answer.retryAfterSeconds, answer.reason))
  }
  yield* count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE")
  // The reason may come from a chain's node or a facilitator; it must not identify which one.
  const reason = sanitise(answer.reason, { secrets: [], names: [] }) ?? "the reason is not known"
  const message = `The payment cannot be taken just now: ${reason}`
  return yield* Effect.fail(unavailable(shape, message, answer.retryAfterSeconds))
})

/** The refusal of a payment that ends too soon for a new call. */
export const endsTooSoon = Effect.fnUntraced(function* (
  settings: Pick<Configuration["Service"], "ModelGateway" | "Payments">,
  { call, payload, requirements }: OfferedPayment
) {
  const leftMs = (statedEndMs(payload) ?? Infinity) - (yield* Clock.currentTimeMillis)
  const wantedMs = neededMs(settings.ModelGateway, settings.Payments, call.kind)
  return leftMs < wantedMs ? tooShort(tooShortReason(requirements), leftMs, wantedMs) : undefined
})

const tooShortReason = ({ scheme }: PaymentRequirements) =>
  scheme === "upto" ? "permit2_deadline_expired" : "invalid_exact_evm_payload_authorization_valid_before"
const inSeconds = (ms: number) => `${Math.max(0, Math.floor(ms / 1_000))} s`
const tooShort = (reason: string, leftMs: number, neededMs: number): RefusedPayment => ({
  code: codeOf(reason),
  reason,
  payer: null,
  detail: `the authorization ends before the answer could be paid for: it is good for ${inSeconds(leftMs)}, and this call needs ${inSeconds(neededMs)}; sign a fresh one, nothing was charged`
})
