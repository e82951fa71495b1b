/**
 * The payment gate quotes a call, reads its payment, matches it with the quote, and takes it by its scheme's method.
 * Every 402 has a fresh quote. Nothing is charged before an answer is made. A payment that cannot be checked now is
 * answered with 503, so that it can be sent again. Calls to free models never reach it.
 */
import { createHash, hash } from "node:crypto"
import { Context, Effect, Layer, Result } from "effect"
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
import { CallNames, PaidAnswers, PaidJobs } from "./kept-calls.ts"
import type { PaidCall } from "./paid-call.ts"
import { PaidCalls } from "./PaidCalls.ts"
import { type PaymentFigures, paymentFigures, refuse } from "./payment-figures.ts"
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

type Take = (offered: OfferedPayment) => Effect.Effect<PaidCall, PaymentRefusal>

interface Parts {
  readonly settings: Pick<Configuration["Service"], "ModelGateway" | "Payments">
  /** Takes a payment by the method of its scheme. */
  readonly take: Readonly<Record<PaymentRequirements["scheme"], Take>>
  readonly refundChannel: ChannelPayments["Service"]["refund"]
  readonly figures: PaymentFigures
  /** The address at which callers reach this gateway. */
  readonly origin: () => string
  readonly isOffered: (network: PaymentNetwork) => boolean
  /** Counts the quotes, which name our settlers in turn; the paid call of a quote has no turn of its own. */
  readonly nextTurn: (isUnpaid: boolean) => number
  readonly writeQuote: ReturnType<typeof quoteWriter>
}

const quoteOf = ({ settings, isOffered, nextTurn, origin }: Parts, call: PayableCall, isUnpaid: boolean) =>
  quoteCall(call, { payments: settings.Payments, origin: origin(), isOffered, turn: nextTurn(isUnpaid) })

const pay = (parts: Parts, call: PayableCall): Effect.Effect<PaidCall, PaymentRefusal> =>
  Effect.suspend(() => {
    const isUnpaid = !bringsPayment(call.payment)
    const quote = quoteOf(parts, call, isUnpaid)
    if (quote === undefined) return Effect.fail(unavailable(call.shape, "No such chain is taken here just now", 60))
    if (isUnpaid) {
      parts.figures.counter.inc({ outcome: "quoted", code: "" })
      return Effect.fail(parts.writeQuote(quote, call.shape))
    }
    const read = readPayment(call.payment)
    if (Result.isFailure(read)) return refuse(parts.figures, { call, quote }, read.failure)
    if (read.success === null) return Effect.fail(parts.writeQuote(quote, call.shape))
    return payOffered(parts, { call, quote, payload: read.success })
  })

const payOffered = Effect.fnUntraced(function* (
  parts: Parts,
  given: Pick<OfferedPayment, "call" | "quote" | "payload">
): Effect.fn.Return<PaidCall, PaymentRefusal> {
  const offered = yield* readOffered(parts, given)
  return yield* parts.take[offered.requirements.scheme](offered)
}, inSpan("PaymentGate.pay"))

const readOffered = Effect.fnUntraced(function* (
  { figures }: Parts,
  { call, quote, payload }: Pick<OfferedPayment, "call" | "quote" | "payload">
): Effect.fn.Return<OfferedPayment, PaymentRefusal> {
  const refused = (error: PaymentRefused) => refuse(figures, { call, quote }, error)
  const offers = quote.offers.map((offer) => requirementsFor(offer, payload))
  const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
  const identifier = yield* Effect.catch(Effect.fromResult(paymentIdentifier(payload)), refused)
  return { call, quote, payload, requirements, identifier, binding: bindingOf(call) }
})

// Hashing a short text in one go takes half the time; a long one is not copied for that.
const hashedAtOnceMax = 16_384

/** The request's hash. */
const bindingOf = ({ method, path, body }: Pick<PayableCall, "method" | "path" | "body">): string => {
  const head = `${method} ${path}\n`
  return body.length > hashedAtOnceMax
    ? createHash("sha256").update(head).update(body).digest("hex")
    : hash("sha256", Buffer.concat([Buffer.from(head), body]), "hex")
}

const refund = Effect.fn("PaymentGate.refund")(function* (
  parts: Parts,
  { path, payment }: RefundCall
): Effect.fn.Return<RefundedChannel | undefined, PaymentRefusal> {
  const { settings, isOffered } = parts
  const quote = refundQuote(path, { payments: settings.Payments, origin: parts.origin(), isOffered })
  if (quote === undefined) return undefined
  const prices = { inputMicroUsdPerMillionTokens: 0, outputMicroUsdPerMillionTokens: 0, flatMicroUsd: undefined }
  const prompt = { textBytes: 0, images: 0 }
  const call = { shape: "chat", kind: "whole", model: "", prices, prompt, count: 0 } as const
  const refused = (error: PaymentRefused) => refuse(parts.figures, { call, quote }, error)
  const payload = yield* Effect.catch(Effect.fromResult(readPayment(payment)), refused)
  if (payload === null) return yield* Effect.fail(parts.writeQuote(quote, call.shape))
  const offers = quote.offers.map(({ requirements }) => requirements)
  const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
  return yield* parts.refundChannel({ call, quote, payload, requirements })
})

const make = Effect.gen(function* () {
  const settings = yield* Configuration
  const { stopped } = yield* TokenWatch
  const figures = yield* paymentFigures
  for (const outcome of paymentOutcomes.values.outcome) figures.counter.inc({ outcome, code: "" }, 0)
  const calls = yield* PaidCalls
  const byClaims = yield* ClaimPayments
  const byChannels = yield* ChannelPayments
  const byClaim: Take = (offered) => calls.pay(byClaims, offered)
  let turn = 0
  const parts: Parts = {
    settings,
    take: { exact: byClaim, upto: byClaim, [channelScheme]: (offered) => calls.pay(byChannels, offered) },
    refundChannel: byChannels.refund,
    figures,
    origin: yield* gatewayOrigin,
    isOffered: ({ Network }) => stopped(Network) === undefined,
    // Bounded, so that it stays an integer.
    nextTurn: (isUnpaid) => (turn = isUnpaid ? (turn + 1) % turnsMax : turn),
    writeQuote: quoteWriter(bazaarTexts(settings.ModelGateway.Bazaar))
  }
  return PaymentGate.of({
    pay: (call) => pay(parts, call),
    refund: (call) => refund(parts, call)
  })
})

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
