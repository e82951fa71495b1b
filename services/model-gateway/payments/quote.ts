/**
 * A call that is sold: what its price and its payment depend on, what it costs on the networks of the kind that its base
 * path stands for, and how long its payment must be good for. Pure.
 */
import { Option, Result, Schema } from "effect"
import {
  type ChainFamily,
  chainFamilyOf,
  type PaymentNetwork,
  type Payments,
  type AnswerKind,
  ExactEvmPayload,
  type ModelGateway,
  type PaymentPayload
} from "#contracts"
import type { HttpCall } from "#http"
import {
  chargedInputTokens,
  flatPrice,
  inputTokensOf,
  modelResource,
  offerOf,
  type PaymentHeaders,
  type PromptSize,
  type Quote,
  type ReplyShape,
  tariffOf,
  tokenPrice
} from "#x402"
import type { RegisteredModel } from "../models/ModelRegistry.ts"
import type { ModelCall } from "../requests/read-call.ts"

/** All that a price and a payment depend on. */
export interface CallFacts {
  readonly path: string
  /** Clients sign the first offer, so each base path has one kind of chain. */
  readonly chain: ChainFamily
  readonly model: string
  readonly prices: {
    readonly inputMicroUsdPerMillionTokens: number
    readonly outputMicroUsdPerMillionTokens: number
    /** For each call or image, instead of tokens. */
    readonly flatMicroUsd: number | undefined
  }
  readonly prompt: PromptSize
  /** The longest answer, over all that were asked for. */
  readonly outputTokens: number
  /** Images, where those are sold. */
  readonly count: number
}

export interface PayableCall extends CallFacts {
  readonly method: "POST"
  /** As it came; the payment is bound to it. */
  readonly body: Uint8Array
  readonly kind: AnswerKind
  /** In which shape a refusal is written. */
  readonly shape: ReplyShape
  readonly payment: PaymentHeaders
  /** Of an image: who sends the payment again is told of this job. */
  readonly jobId?: string
}

/** Node joins the values of a repeated header; base64 has no commas of its own. */
const valuesOf = (call: HttpCall["Service"], name: string) =>
  Option.match(call.header(name), {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (value) => value.split(",").map((part) => part.trim())
  })

const paymentHeaders = (call: HttpCall["Service"]): PaymentHeaders => ({
  "payment-signature": valuesOf(call, "payment-signature"),
  "x-payment": valuesOf(call, "x-payment")
})

const pricesOf = ({ entry }: RegisteredModel): PayableCall["prices"] => ({
  inputMicroUsdPerMillionTokens: entry.InputMicroUsdPerMillionTokens,
  outputMicroUsdPerMillionTokens: entry.OutputMicroUsdPerMillionTokens,
  flatMicroUsd: entry.FlatMicroUsd
})

/** What any call says of its payment. */
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

/** Undefined where no network of that kind is configured, or none is offered. */
export const quoteCall = (
  section: Payments,
  /** How callers reach us. */
  origin: string,
  { chain, path, model, prices, prompt, outputTokens, count }: CallFacts,
  isOffered: (network: PaymentNetwork) => boolean = () => true
): Quote | undefined => {
  const tariff = tariffOf(section)
  const inputTokens = chargedInputTokens(inputTokensOf(prompt))
  const { flatMicroUsd } = prices
  const priceMicroUsd =
    flatMicroUsd === undefined
      ? tokenPrice(tariff, prices, { inputTokens, outputTokens })
      : flatPrice(tariff, flatMicroUsd, count)
  const tokens = flatMicroUsd === undefined ? { tokens: { input: inputTokens, output: outputTokens } } : {}
  const offered = section.Networks.filter((one) => chainFamilyOf(one.Network) === chain && isOffered(one))
  const [first, ...rest] = offered.map((network) => offerOf(network, priceMicroUsd, section.MaxTimeoutSeconds))
  if (first === undefined) return undefined
  return { resource: modelResource({ origin, path, model, ...tokens }), offers: [first, ...rest] }
}

/** Between the answer's end and the payment's: settling, and chains that are slow. */
const settleMarginMs = 30_000
/** Clients count from their own clocks, and lose time between signing and sending. */
const clientSlackMs = 60_000
/** A blockhash is good for some 60 s; clients take one that is up to half of that old. */
const solanaLifeMs = 30_000
/** As long as the verifier lets a Solana payment be at the most, counted from its check. */
const solanaWindowMs = 90_000

type Limits = Pick<ModelGateway, "FirstByteSeconds" | "StreamSeconds">

/**
 * How long from now a payment must be good for; never more than a fresh one is. A stream that its provider did not begin
 * in time is told so after FirstByteSeconds, and may be asked for once more with the same payment: that time is spared.
 * One that goes on for longer than its payment then is settled while it is given out.
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

const decodeEvm = Schema.decodeUnknownResult(ExactEvmPayload)

/** As the payer has written it; undefined where the payment does not say, or is none. */
export const validBeforeMsOf = (payload: PaymentPayload): number | undefined => {
  if (!payload.accepted.network.startsWith("eip155:")) return undefined
  const decoded = decodeEvm(payload.payload)
  return Result.isSuccess(decoded) ? Number(decoded.success.authorization.validBefore) * 1_000 : undefined
}

/** The last moment at which a payment is surely still to be had. */
export const collectByMs = (network: string, validBeforeMs: number): number =>
  network.startsWith("solana:") ? validBeforeMs - solanaWindowMs + solanaLifeMs : validBeforeMs - settleMarginMs
