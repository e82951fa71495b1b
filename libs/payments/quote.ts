/**
 * The price of a call, known before it is made: the estimated input, a share of the longest answer that is requested,
 * at least a minimum, and a flat fee. Under `exact` the quote is the price: nothing is refunded and nothing added
 * afterwards. Under `upto` the quote is the price of the longest answer, and actual use is charged. Integers
 * throughout, rounded up once at the end. Pure.
 */
import {
  channelScheme,
  inOneCase,
  isSameAddress,
  knownTokenOf,
  type PaymentChannels,
  type PaymentNetwork,
  type PaymentPayload,
  type PaymentRequirements,
  type PaymentSchemeName
} from "#payments/contract"
import { checksummed } from "./chains/evm/encoding.ts"
import { quoteExtra } from "./chains/families.ts"

/** The terms of every price; `outputShareMillionths` of the longest answer is charged. */
export interface Tariff {
  readonly flatFeeMicroUsd: bigint
  readonly priceMinMicroUsd: bigint
  readonly outputShareMillionths: bigint
}

/** The shares and dollars of the configuration's `Payments`. */
export const tariffOf = (section: {
  readonly FlatFeeUsd: number
  readonly PriceMinUsd: number
  readonly OutputShare: number
}): Tariff => ({
  flatFeeMicroUsd: microUsdOf(section.FlatFeeUsd),
  priceMinMicroUsd: microUsdOf(section.PriceMinUsd),
  outputShareMillionths: BigInt(Math.round(section.OutputShare * 1e6))
})

/** Millionths of a dollar for a million tokens; whole numbers. */
export interface TokenPrices {
  readonly inputMicroUsdPerMillionTokens: number
  readonly outputMicroUsdPerMillionTokens: number
}

export interface TokenUse {
  /** The result of `chargedInputTokens`. */
  readonly inputTokens: number
  /** The longest answer. */
  readonly outputTokens: number
}

const million = 1_000_000n

/** The price of a call by tokens, in millionths of a dollar. */
export const tokenPrice = (tariff: Tariff, prices: TokenPrices, use: TokenUse): bigint => {
  const input = BigInt(use.inputTokens) * BigInt(prices.inputMicroUsdPerMillionTokens) * million
  const output = BigInt(use.outputTokens) * BigInt(prices.outputMicroUsdPerMillionTokens) * tariff.outputShareMillionths
  return withFee(tariff, divideUp(input + output, million * million))
}

/** The same tariff for tokens that are counted and not estimated. */
export const meteredTariff = (tariff: Tariff): Tariff => ({ ...tariff, outputShareMillionths: million })

/** The price of a call that costs the same whatever its content: `count` images, or one call. */
export const flatPrice = (tariff: Tariff, microUsdEach: number, count = 1): bigint =>
  withFee(tariff, BigInt(microUsdEach) * BigInt(count))

const withFee = (tariff: Tariff, microUsd: bigint) =>
  (microUsd > tariff.priceMinMicroUsd ? microUsd : tariff.priceMinMicroUsd) + tariff.flatFeeMicroUsd

/** A price as requirements that a client can sign: one entry per network and scheme. Pure. */
export interface Offer {
  readonly requirements: PaymentRequirements
  /** The accounts of which a payment may name one, if payers sign who may settle. */
  readonly facilitators: ReadonlyArray<string>
  /** Dollars as a decimal text, equal to the amount: `0.025685`. */
  readonly priceUsd: string
  /** The network's common name: `base-sepolia`. */
  readonly plainNetwork: string
  readonly assetSymbol: string
}

interface OfferTerms {
  readonly maxTimeoutSeconds: number
  readonly scheme?: PaymentSchemeName
  /** Quotes name our settlers in turn. */
  readonly turn?: number
}

export const offerOf = (
  network: PaymentNetwork,
  priceMicroUsd: bigint,
  { maxTimeoutSeconds, scheme = "exact", turn = 0 }: OfferTerms
): Offer => {
  const amount = atomicAmount(priceMicroUsd, network.AssetDecimals)
  return {
    requirements: {
      scheme,
      network: network.Network,
      amount: amount.toString(),
      asset: network.Asset,
      payTo: network.PayTo,
      maxTimeoutSeconds,
      extra: quoteExtra(network, scheme, turn)
    },
    facilitators: scheme === "exact" ? [] : [...network.FacilitatorAddresses, ...network.RetiringAddresses],
    priceUsd: decimalAmount(amount, network.AssetDecimals),
    plainNetwork: network.PlainName ?? knownTokenOf(network.Network)?.plainName ?? network.Network,
    assetSymbol: network.AssetSymbol
  }
}

/** The requirements that a payment answers: an earlier quote may have named another of our settlers. */
export const requirementsFor = (
  { requirements, facilitators }: Pick<Offer, "requirements" | "facilitators">,
  { accepted }: PaymentPayload
): PaymentRequirements => {
  const facilitatorAddress = accepted.extra?.["facilitatorAddress"]
  if (typeof facilitatorAddress !== "string") return requirements
  const isOurs = facilitators.some((one) => isSameAddress(requirements.network, one, facilitatorAddress))
  return isOurs ? { ...requirements, extra: { ...requirements.extra, facilitatorAddress } } : requirements
}

/** The only account that may settle a payment, in canonical case; undefined if any may. */
export const facilitatorOf = ({ scheme, network, extra }: PaymentRequirements): string | undefined => {
  const address = extra?.["facilitatorAddress"]
  return scheme === "upto" && typeof address === "string" ? inOneCase(network, address) : undefined
}

/** The same price by channel: a voucher over it, from which the answer's cost is charged. */
export const channelOfferOf = (offer: Offer, channels: PaymentChannels): Offer => ({
  ...offer,
  facilitators: [],
  requirements: {
    ...offer.requirements,
    scheme: channelScheme,
    extra: {
      ...offer.requirements.extra,
      receiverAuthorizer: checksummed(channels.ReceiverAuthorizer),
      withdrawDelay: channels.WithdrawDelaySeconds,
      ...(channels.AssetTransferMethod === "permit2" ? { assetTransferMethod: channels.AssetTransferMethod } : {})
    }
  }
})

const microDecimals = 6

/** Dollars of the configuration as millionths, rounded up. */
export const microUsdOf = (usd: number): bigint => BigInt(Math.ceil(Number((usd * 1e6).toFixed(3))))

/** Millionths of a dollar in the asset's smallest unit, rounded up. */
export const atomicAmount = (microUsd: bigint, assetDecimals: number): bigint => {
  if (assetDecimals >= microDecimals) return microUsd * 10n ** BigInt(assetDecimals - microDecimals)
  return divideUp(microUsd, 10n ** BigInt(microDecimals - assetDecimals))
}

/** The reverse: an amount of the smallest unit in millionths of a dollar, rounded up. */
export const microUsdOfAmount = (amount: bigint, assetDecimals: number): number =>
  assetDecimals >= microDecimals
    ? Number(divideUp(amount, 10n ** BigInt(assetDecimals - microDecimals)))
    : Number(amount * 10n ** BigInt(microDecimals - assetDecimals))

/** An amount of the smallest unit as a decimal number of whole tokens: `0.025685`. */
export const decimalAmount = (atomic: bigint, assetDecimals: number): string => {
  const digits = atomic.toString().padStart(assetDecimals + 1, "0")
  const whole = digits.slice(0, digits.length - assetDecimals)
  return assetDecimals === 0 ? whole : `${whole}.${digits.slice(-assetDecimals)}`
}

/** For numbers that are not negative. */
const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** The measures of a request that a price counts, whatever its wire format. */
export interface PromptSize {
  /** UTF-8 bytes of the request as written to the model's provider, without the data of its pictures and files. */
  readonly textBytes: number
  readonly images: number
}

const bytesPerToken = 4
/** Between the usual counts for a small image (85) and a large one (1,105), nearer the latter. */
const tokensPerImage = 1_024
/** Below this all prompts cost the same. */
const tokensMin = 64
const stepsPerDoubling = 16

/**
 * The estimated tokens of a prompt, without the model's tokenizer: four bytes of UTF-8 a token, so that scripts of
 * three bytes a character, which tokenize at about one token each, are not sold at a quarter. The estimate is rounded
 * up to one of sixteen steps per doubling: a prompt that grows by a word keeps its price, and with it the authorization
 * that a client has signed ahead. The overcharge is a sixteenth at most. Pure.
 */
export const inputTokensOf = (size: PromptSize): number =>
  Math.ceil(size.textBytes / bytesPerToken) + size.images * tokensPerImage

/** The tokens charged: never fewer than `tokens`, and at most a sixteenth more from 64 on. */
export const chargedInputTokens = (tokens: number): number => {
  if (tokens <= tokensMin) return tokensMin
  const step = Math.max(1, 2 ** Math.floor(Math.log2(tokens)) / stepsPerDoubling)
  return Math.ceil(tokens / step) * step
}

/** Applies when a request does not specify a limit. */
const outputTokensDefault = 8_192

/** How many tokens an answer can have: the requested number, within the model's limit. Pure. */
export interface OutputTokens {
  /** Null if the request did not specify it. */
  readonly requested: number | null
  readonly effective: number
  /** The request asked for more than the model's limit. */
  readonly isCapped: boolean
}

/** `modelMax`: the model's longest answer. */
export const outputTokensOf = (requested: number | null, modelMax: number): OutputTokens => {
  const wanted = requested ?? Math.min(modelMax, outputTokensDefault)
  const effective = Math.max(1, Math.min(wanted, modelMax))
  return { requested, effective, isCapped: requested !== null && requested > modelMax }
}

/** The headers for a request that asked for too much; otherwise none. */
export const outputTokensHeaders = (tokens: OutputTokens): Readonly<Record<string, string>> =>
  tokens.isCapped
    ? {
        "x-max-tokens-capped": "true",
        "x-max-tokens-requested": String(tokens.requested),
        "x-max-tokens-effective": String(tokens.effective)
      }
    : {}
