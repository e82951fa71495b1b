/**
 * A call as sold: the facts that determine its price and its payment, its price on each network of its base path by
 * each scheme there, and how long its payment must be valid. Pure.
 */
import { Option } from "effect"
import {
  type ChainFamily,
  chainFamilyOf,
  type PaymentNetwork,
  type Payments,
  type AnswerKind
} from "#payments/contract"
import type { ModelGateway } from "#gateway/contract"
import type { HttpCall } from "#http"
import {
  channelOfferOf,
  chargedInputTokens,
  flatPrice,
  inputTokensOf,
  meteredTariff,
  modelResource,
  type Offer,
  offerOf,
  type PaymentHeaders,
  type PromptSize,
  type Quote,
  type ReplyShape,
  type Tariff,
  tariffOf,
  tokenPrice
} from "#payments"
import type { RegisteredModel } from "../models/ModelRegistry.ts"
import type { ModelCall } from "../requests/read-call.ts"

/** Everything that a price and a payment depend on. */
export interface CallFacts {
  readonly path: string
  /** Clients sign the first offer, so each base path offers one family of chains. */
  readonly chain: ChainFamily
  readonly model: string
  readonly prices: {
    readonly inputMicroUsdPerMillionTokens: number
    readonly outputMicroUsdPerMillionTokens: number
    /** Microdollars per call or image, instead of a price by tokens. */
    readonly flatMicroUsd: number | undefined
  }
  readonly prompt: PromptSize
  /** The longest answer, summed over all answers. */
  readonly outputTokens: number
  /** The number of images, if the call is for images. */
  readonly count: number
}

export interface PayableCall extends CallFacts {
  readonly method: "POST"
  /** The body as received; the payment is bound to these bytes. */
  readonly body: Uint8Array
  readonly kind: AnswerKind
  /** The shape of a refusal. */
  readonly shape: ReplyShape
  readonly payment: PaymentHeaders
  /** The image job that a caller is given when it sends the payment again. */
  readonly jobId?: string
}

/** Node joins the values of a repeated header with commas. */
const valuesOf = (call: HttpCall["Service"], name: string) => Option.toArray(call.header(name))

export const paymentHeaders = (call: HttpCall["Service"]): PaymentHeaders => ({
  "payment-signature": valuesOf(call, "payment-signature"),
  "x-payment": valuesOf(call, "x-payment")
})

export const pricesOf = ({ entry }: RegisteredModel): PayableCall["prices"] => ({
  inputMicroUsdPerMillionTokens: entry.InputMicroUsdPerMillionTokens,
  outputMicroUsdPerMillionTokens: entry.OutputMicroUsdPerMillionTokens,
  flatMicroUsd: entry.FlatMicroUsd
})

/** The price of a token count, which is the same for any number of tokens; undefined if it is free. */
export const countPricesOf = (model: RegisteredModel): PayableCall["prices"] | undefined => {
  const flatMicroUsd = model.entry.CountMicroUsd
  return flatMicroUsd === undefined ? undefined : { ...pricesOf(model), flatMicroUsd }
}

/** The facts that any call provides for its payment. */
export const payableParts = (http: HttpCall["Service"], model: RegisteredModel) => ({
  method: "POST" as const,
  path: http.route,
  chain: http.route.startsWith("/solana/") ? ("solana" as const) : ("evm" as const),
  model: model.entry.Id,
  prices: pricesOf(model),
  payment: paymentHeaders(http)
})

export const payable = (call: ModelCall, http: HttpCall["Service"]): PayableCall => ({
  ...payableParts(http, call.model),
  prompt: call.prompt,
  outputTokens: call.outputTokens.effective * call.answers,
  count: 1,
  body: call.bytes,
  kind: call.isStreamed ? "stream" : "whole",
  shape: call.dialect
})

interface QuoteTerms {
  readonly payments: Payments
  /** The address at which callers reach this gateway. */
  readonly origin: string
  readonly isOffered: (network: PaymentNetwork) => boolean
  /** Quotes name our settlers in turn. */
  readonly turn?: number
}

const tariffs = new WeakMap<Payments, ReturnType<typeof tariffOf>>()

/** Computed once: the configuration does not change. */
const knownTariffOf = (payments: Payments) => {
  const tariff = tariffs.get(payments) ?? tariffOf(payments)
  tariffs.set(payments, tariff)
  return tariff
}

/** Undefined if no network of the call's family is configured or offered. */
export const quoteCall = (
  { chain, path, model, prices, prompt, outputTokens, count }: CallFacts,
  { payments, origin, isOffered, turn = 0 }: QuoteTerms
): Quote | undefined => {
  const tariff = knownTariffOf(payments)
  const inputTokens = chargedInputTokens(inputTokensOf(prompt))
  const { flatMicroUsd } = prices
  const priceBy = (by: Tariff) =>
    flatMicroUsd === undefined
      ? tokenPrice(by, prices, { inputTokens, outputTokens })
      : flatPrice(by, flatMicroUsd, count)
  // Under upto the quote is the price of the longest answer, which is the maximum charge.
  const priceMicroUsd = { exact: priceBy(tariff), upto: priceBy(meteredTariff(tariff)) }
  const tokens = flatMicroUsd === undefined ? { tokens: { input: inputTokens, output: outputTokens } } : {}
  const offered = payments.Networks.filter((one) => chainFamilyOf(one.Network) === chain && isOffered(one))
  const maxTimeoutSeconds = payments.MaxTimeoutSeconds
  const offers = offered.flatMap((network) =>
    network.Schemes.map((scheme) => offerOf(network, priceMicroUsd[scheme], { maxTimeoutSeconds, scheme, turn }))
  )
  const [first, ...rest] = [...offers, ...channelOffersOf(payments, offered, priceMicroUsd.upto)]
  if (first === undefined) return undefined
  return { resource: modelResource({ origin, path, model, ...tokens }), offers: [first, ...rest] }
}

/** Payments by channel come last: clients without channel support take the first offer. */
const channelOffersOf = (
  { Channels, MaxTimeoutSeconds }: Pick<Payments, "Channels" | "MaxTimeoutSeconds">,
  networks: ReadonlyArray<PaymentNetwork>,
  priceMicroUsd: bigint
): ReadonlyArray<Offer> =>
  networks.flatMap((network) => {
    const channels = Channels.find(({ Network }) => Network === network.Network)
    const offer = offerOf(network, priceMicroUsd, { maxTimeoutSeconds: MaxTimeoutSeconds })
    return channels === undefined ? [] : [channelOfferOf(offer, channels)]
  })

/** The accepted channels, for a refund: nothing is charged. Undefined if there are none. */
export const refundQuote = (path: string, { payments, origin, isOffered }: QuoteTerms): Quote | undefined => {
  const [first, ...rest] = channelOffersOf(payments, payments.Networks.filter(isOffered), 0n)
  if (first === undefined) return undefined
  const url = `${origin.replace(/(?<!\/)\/+$/u, "")}${path}`
  return { resource: { url, description: "Refund of a payment channel" }, offers: [first, ...rest] }
}

/** Time between the answer's end and the payment's: for the settlement, and for slow chains. */
const settleMarginMs = 30_000
/** Clients use their own clocks, and lose time between signing and sending. */
const clientSlackMs = 60_000

type Limits = Pick<ModelGateway, "FirstByteSeconds" | "StreamSeconds">

/**
 * How long from now a payment must be valid; never longer than a fresh one is. A stream whose provider does not begin
 * in time fails after FirstByteSeconds, and its caller can send the same payment once more: that time is reserved. A
 * stream that outlives its payment is settled while it is being sent.
 */
export const neededMs = (
  limits: Limits,
  { MaxTimeoutSeconds }: Pick<Payments, "MaxTimeoutSeconds">,
  kind: AnswerKind
) => {
  const freshMs = Math.max(0, MaxTimeoutSeconds * 1_000 - clientSlackMs)
  const firstByteMs = limits.FirstByteSeconds * 1_000
  const wholeMs = Math.min(firstByteMs + settleMarginMs, freshMs)
  if (kind === "whole") return wholeMs
  return Math.max(wholeMs, Math.min(limits.StreamSeconds * 1_000 + settleMarginMs, freshMs - firstByteMs))
}
