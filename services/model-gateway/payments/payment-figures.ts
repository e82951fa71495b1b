/** The figures counted about payments: how they ended, and how long their stages took. */
import { Effect } from "effect"
import type { PaymentPayload } from "#payments/contract"
import { type CounterOf, Metrics, timed } from "#runtime"
import { type PaymentRefused, type Quote, statedPayer, verificationFailed } from "#payments"
import { type PaymentOutcome, paymentOutcomes, paymentSeconds } from "../metrics.ts"
import type { PayableCall } from "./quote.ts"
import { type PaymentRefusal, refusalOf } from "./replies.ts"

export interface PaymentFigures {
  readonly counter: CounterOf<typeof paymentOutcomes>
  readonly count: (outcome: PaymentOutcome, code?: string) => Effect.Effect<void>
  readonly timed: <A, E>(stage: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const paymentFigures: Effect.Effect<PaymentFigures, never, Metrics> = Effect.map(Metrics, (metrics) => {
  const counter = metrics.counter(paymentOutcomes)
  const seconds = metrics.histogram(paymentSeconds)
  return {
    counter,
    count: (outcome, code = "") => Effect.sync(() => counter.inc({ outcome, code })),
    timed: (stage, work) => timed((took) => seconds.observe({ stage }, took), work)
  }
})

export interface Refusable {
  readonly call: Pick<PayableCall, "shape">
  readonly quote: Quote
  /** Undefined if it could not be parsed as one. */
  readonly payload?: PaymentPayload
}

/** Refuses a payment with a fresh quote, and counts it. */
export const refuse = (
  { count }: Pick<PaymentFigures, "count">,
  { call, quote, payload }: Refusable,
  { code, reason, payer, detail }: Pick<PaymentRefused, "code" | "reason" | "payer" | "detail">
): Effect.Effect<never, PaymentRefusal> => {
  const failure = { code, reason, payer: payer ?? statedPayer(payload), detail }
  return Effect.andThen(
    count("refused", code),
    Effect.fail(refusalOf(code, verificationFailed(quote, call.shape, failure)))
  )
}
