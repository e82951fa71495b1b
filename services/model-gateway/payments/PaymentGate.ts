/**
 * The payment gate quotes a call, reads its payment, matches it with the quote, and takes it by its scheme's method.
 * Every 402 has a fresh quote. Nothing is charged before an answer is made. A payment that cannot be checked now is
 * answered with 503, so that it can be sent again. Calls to free models never reach it.
 */
import { createHash, hash } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { channelScheme, type PaymentNetwork, type PaymentRequirements } from "#payments/contract"
import { Configuration } from "#configuration"
import { inSpan } from "#runtime"
import {
  bringsPayment,
  claimOptionsOf,
  Claims,
  matchOffer,
  openChains,
  paymentIdentifier,
  type PaymentRefused,
  type Quote,
  readPayment,
  requirementsFor,
  Settlements,
  TokenWatch
} from "#payments"
import { bazaarTexts } from "../discovery.ts"
import { gatewayOrigin } from "../origin.ts"
import { paymentOutcomes } from "../metrics.ts"
import { ChannelPayments } from "./channels/ChannelPayments.ts"
import type { RefundedChannel } from "./channels/refund.ts"
import { ClaimPayments } from "./claims/ClaimPayments.ts"
import { CallNames } from "./CallNames.ts"
import { PaidAnswers } from "./PaidAnswers.ts"
import { PaidJobs } from "./PaidJobs.ts"
import type { PaidCall } from "./paid-call.ts"
import { PaidCalls } from "./PaidCalls.ts"
import { paymentFigures, refuse } from "./payment-figures.ts"
import type { OfferedPayment } from "./payment-method.ts"
import { type PayableCall, quoteCall, refundQuote } from "./quote.ts"
import { type PaymentRefusal, quoteWriter, unavailable } from "./replies.ts"

export class PaymentGate extends Context.Service<
  PaymentGate,
  {
    /** Fails with a quote if the call has no payment. */
    readonly pay: (call: PayableCall) => Effect.Effect<PaidCall, PaymentRefusal>
    /** Refunds what a channel was not charged; undefined if no channels are accepted. */
    readonly refund: (call: RefundCall) => Effect.Effect<RefundedChannel | undefined, PaymentRefusal>
  }
>()("starling/model-gateway/PaymentGate") {}

interface RefundCall {
  readonly path: string
  readonly payment: PayableCall["payment"]
}

/** Takes a payment by the method of its scheme. */
type Take = (offered: OfferedPayment) => Effect.Effect<PaidCall, PaymentRefusal>
type Schemes = Readonly<Record<PaymentRequirements["scheme"], Take>>

// Hashing a short text in one go takes half the time; a long one is not copied for that.
const hashedAtOnceMax = 16_384

/** The request's hash. */
const bindingOf = ({ method, path, body }: Pick<PayableCall, "method" | "path" | "body">): string => {
  const head = `${method} ${path}\n`
  return body.length > hashedAtOnceMax
    ? createHash("sha256").update(head).update(body).digest("hex")
    : hash("sha256", Buffer.concat([Buffer.from(head), body]), "hex")
}

const make = Effect.gen(function* () {
  const { ModelGateway, Payments: payments } = yield* Configuration
  const calls = yield* PaidCalls
  const byClaims = yield* ClaimPayments
  const byChannels = yield* ChannelPayments
  const byClaim: Take = (offered) => calls.pay(byClaims, offered)
  const byChannel: Take = (offered) => calls.pay(byChannels, offered)
  const take: Schemes = { exact: byClaim, upto: byClaim, [channelScheme]: byChannel }
  const { stopped } = yield* TokenWatch
  const originNow = yield* gatewayOrigin
  const figures = yield* paymentFigures
  for (const outcome of paymentOutcomes.values.outcome) figures.counter.inc({ outcome, code: "" }, 0)
  const writeQuote = quoteWriter(bazaarTexts(ModelGateway.Bazaar))
  const isOffered = ({ Network }: PaymentNetwork) => stopped(Network) === undefined
  const terms = () => ({ payments, origin: originNow(), isOffered })
  // Counts the quotes, which name our settlers in turn; the paid call of a quote has no turn of its own.
  let turn = 0

  const pay = (call: PayableCall): Effect.Effect<PaidCall, PaymentRefusal> =>
    Effect.suspend(() => {
      const isUnpaid = !bringsPayment(call.payment)
      if (isUnpaid) turn = (turn + 1) % turnsMax
      const quote = quoteCall(call, { ...terms(), turn })
      if (quote === undefined) return Effect.fail(unavailable(call.shape, "No such chain is taken here just now", 60))
      if (!isUnpaid) return payOffered(call, quote)
      figures.counter.inc({ outcome: "quoted", code: "" })
      return Effect.fail(writeQuote(quote, call.shape))
    })

  const payOffered = Effect.fnUntraced(function* (call: PayableCall, quote: Quote) {
    const refused = (error: PaymentRefused) => refuse(figures, { call, quote }, error)
    const payload = yield* Effect.catch(Effect.fromResult(readPayment(call.payment)), refused)
    if (payload === null) return yield* Effect.fail(writeQuote(quote, call.shape))
    const offers = quote.offers.map((offer) => requirementsFor(offer, payload))
    const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
    const identifier = yield* Effect.catch(Effect.fromResult(paymentIdentifier(payload)), refused)
    const offered = { call, quote, payload, requirements, identifier, binding: bindingOf(call) }
    return yield* take[requirements.scheme](offered)
  }, inSpan("PaymentGate.pay"))

  const refund = Effect.fn("PaymentGate.refund")(function* ({ path, payment }: RefundCall) {
    const quote = refundQuote(path, terms())
    if (quote === undefined) return undefined
    const prices = { inputMicroUsdPerMillionTokens: 0, outputMicroUsdPerMillionTokens: 0, flatMicroUsd: undefined }
    const prompt = { textBytes: 0, images: 0 }
    const call = { shape: "chat", kind: "whole", model: "", prices, prompt, count: 0 } as const
    const refused = (error: PaymentRefused) => refuse(figures, { call, quote }, error)
    const payload = yield* Effect.catch(Effect.fromResult(readPayment(payment)), refused)
    if (payload === null) return yield* Effect.fail(writeQuote(quote, call.shape))
    const offers = quote.offers.map(({ requirements }) => requirements)
    const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
    return yield* byChannels.refund({ call, quote, payload, requirements })
  })
  return PaymentGate.of({ pay, refund })
})

// Bounded, so that it stays an integer.
const turnsMax = 1_000_000

// Other payees, and callers that pay nothing, are still served.
const tokens = Layer.unwrap(
  Effect.gen(function* () {
    const { Payments } = yield* Configuration
    return TokenWatch.layer(yield* openChains(Payments), { isNeeded: false })
  })
)

const configuredClaims = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments)))
)

const configuredSettlements = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Settlements.layer(Payments.LeaseSeconds * 1_000))
)

const openGate = Layer.effect(PaymentGate, make).pipe(
  Layer.provide(Layer.mergeAll(PaidCalls.layer, ClaimPayments.layer, ChannelPayments.layer)),
  Layer.provide(Layer.mergeAll(PaidAnswers.layer, PaidJobs.layer, CallNames.layer, configuredSettlements)),
  Layer.provide(Layer.mergeAll(configuredClaims, tokens))
)

/** Sells only if payments are configured. Needs the bus, the egress and the runtime. */
export const configuredPaymentGate = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => (Payments.Networks.length === 0 ? closedGate : openGate))
)

const message = "Payments are not set up here; only free models are served"
const retryAfterSeconds = 60

/** The gate without configured payments: without a way to be paid, paid models are not served. */
const closedGate = Layer.succeed(PaymentGate, {
  pay: ({ shape }) => Effect.fail(unavailable(shape, message, retryAfterSeconds)),
  refund: () => Effect.undefined
})
