/**
 * Every 402: the quote for a caller that has not paid, and the reason why a payment was not accepted. Each has a fresh
 * quote in its headers, because clients sign their next attempt from it; a refusal also has its code in its header and
 * body. Bodies have the three shapes of the routes: OpenAI's chat (and images), Anthropic's messages, OpenAI's
 * responses. Pure.
 */
import {
  channelScheme,
  type PaymentCode,
  type PaymentRequirements,
  type ResourceInfo,
  type SettleResponse,
  x402Version
} from "#payments/contract"
import { sanitise } from "#egress"
import type { Channel } from "./channels/channel.ts"
import { explained, reason } from "./errors.ts"
import type { Offer } from "./quote.ts"
import { approvalDeclaration, identifierDeclaration, identifierWithoutSchema } from "./payment-header.ts"

export type ReplyShape = "chat" | "messages" | "responses"

export interface PaymentReply {
  readonly status: 402 | 412
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
}

/** Why a payment was not accepted. `detail` is shown as `debug`, without anything that callers must not see. */
export interface PaymentFailure {
  readonly code: PaymentCode
  readonly reason: string
  readonly payer: string | null
  readonly detail?: string | undefined
}

const message = "This endpoint requires x402 payment"

/** The extension `bazaar` of a quote's route as members of JSON: `"bazaar":{...}`, or nothing. */
export interface BazaarText {
  readonly body: string
  /** Short, because it is part of `PAYMENT-REQUIRED`, and clients repeat it with their payments. */
  readonly header: string
}

/** The answer to a call without a payment. */
export const paymentRequired = (
  quote: Quote,
  shape: ReplyShape,
  bazaar: BazaarText = { body: "", header: "" }
): PaymentReply => {
  const { accepts, extensions, ...headers } = quoteText(quote, "Payment Required", bazaar.header)
  const [{ priceUsd, plainNetwork, assetSymbol }] = quote.offers
  const price = JSON.stringify({ amount: priceUsd, currency: "USD" })
  const info = JSON.stringify({ network: plainNetwork, asset: assetSymbol, x402Version })
  const mirror = `"x402Version":${x402Version},"accepts":${accepts}`
  const suffix = bazaar.body === "" ? "" : `,"extensions":{${joined(extensions, bazaar.body)}}`
  const rest = `"message":${JSON.stringify(message)},"price":${price},"paymentInfo":${info}${suffix}`
  const body = {
    chat: () => `{${mirror},"error":"Payment Required",${rest}}`,
    messages: () => `{"type":"error","error":${JSON.stringify(messagesError(message))},${mirror},${rest}}`,
    responses: () => `{${mirror},"error":${JSON.stringify(responsesError(message))},${rest}}`
  }[shape]()
  return { status: 402, headers: quoteHeaders(headers), body }
}

/** The answer to a payment that cannot be accepted; nothing was sent to the chain. */
export const verificationFailed = (quote: Quote, shape: ReplyShape, failure: PaymentFailure): PaymentReply => ({
  // The specification of upto reports a missing Permit2 approval with this status.
  status: failure.code === "PERMIT2_ALLOWANCE_REQUIRED" ? 412 : 402,
  headers: { ...quoteHeaders(quoteText(quote, failure.reason)), "x-error-code": failure.code },
  body: JSON.stringify(
    shape === "chat"
      ? verificationBody(failure)
      : vendorBody(shape, `Payment verification failed: ${failure.reason}`, failure.code)
  )
})

/** The answer to a payment that the chain refused after the call was made: the model's answer is withheld. */
export const settlementFailed = (
  quote: Quote,
  shape: ReplyShape,
  failure: PaymentFailure & { readonly network: string; readonly transaction: string | null }
): PaymentReply => ({
  status: 402,
  headers: {
    ...quoteHeaders(quoteText(quote, failure.reason)),
    ...settleResponseHeader({
      success: false,
      errorReason: failure.reason,
      transaction: failure.transaction ?? "",
      network: failure.network,
      ...payerOf(failure)
    }),
    "x-error-code": failure.code,
    // Clients that retry automatically would sign and pay again.
    "x-should-retry": "false"
  },
  body: JSON.stringify(
    shape === "chat"
      ? settlementBody(failure)
      : vendorBody(shape, `Payment settlement failed: ${failure.reason}`, failure.code)
  )
})

const joined = (...members: ReadonlyArray<string>) => members.filter((one) => one !== "").join(",")

const quoteHeaders = ({ header, older }: Pick<QuoteText, "header" | "older">): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "cache-control": "no-store",
  "payment-required": header,
  "x-payment-required": older,
  // Quoted: base64 has characters that are not allowed in an unquoted parameter.
  "www-authenticate": `X402 requirements="${older}"`,
  "access-control-expose-headers": exposedHeaders
})

const remedies: Readonly<Record<PaymentCode, string>> = {
  PAYMENT_INVALID: "Sign exactly the requirements from the PAYMENT-REQUIRED header.",
  PAYMENT_UNFUNDED:
    "Fund the wallet. If the time of the payment has passed or has not begun, or the clock is off, set the clock and sign again.",
  PAYMENT_BLOCKHASH_STALE: "Sign again against a current blockhash; nothing was charged.",
  PAYMENT_REPLAY: "Sign a fresh payment authorization for each request.",
  PERMIT2_ALLOWANCE_REQUIRED:
    "Approve the token for Permit2 once, or sign the approval too: the quote offers eip2612GasSponsoring."
}

const owes =
  "This payer owes an earlier payment that could not be collected, and is sold nothing until it comes; pay from another wallet."

const remedyOf = ({ code, reason: why }: PaymentFailure) => (why === reason.denied ? owes : remedies[code])

/** The text may come from a chain's node; it must not identify the node. */
const cleanDetail = ({ detail }: PaymentFailure) => sanitise(detail ?? "", { secrets: [], names: [] })

const payerOf = ({ payer }: PaymentFailure) => (payer === null ? {} : { payer })

const verificationBody = (failure: PaymentFailure) => ({
  error: failure.code === "PAYMENT_REPLAY" ? "Payment authorization already used" : "Payment verification failed",
  ...whyBody(failure)
})

const settlementBody = (failure: PaymentFailure) => ({ error: "Payment settlement failed", ...whyBody(failure) })

const whyBody = (failure: PaymentFailure) => ({
  code: failure.code,
  message: remedyOf(failure),
  debug: explained(failure.reason, cleanDetail(failure)),
  ...payerOf(failure)
})

/** Puts the code where the vendor's clients look for it; Anthropic's envelope has no field for it. */
const vendorBody = (shape: "messages" | "responses", text: string, code: PaymentCode) =>
  shape === "messages"
    ? { type: "error", error: { ...messagesError(text), code } }
    : { error: { ...responsesError(text), code } }

const messagesError = (text: string) => ({ type: "payment_required", message: text })
const responsesError = (text: string) => ({ message: text, type: "payment_required", param: null, code: null })

/** The price of a call, and the ways to pay it. Clients sign the first offer. */
export interface Quote {
  readonly resource: ResourceInfo
  readonly offers: readonly [Offer, ...ReadonlyArray<Offer>]
}

/**
 * The quote as text. It is written once and used both as header and in the body, so that the body is byte for byte the
 * decoded header. It is sent three times, and proxies refuse answers with more than about 3 kB of headers, so the quote
 * contains only what is needed, and the two names that only older clients read list only the schemes that those clients
 * know. Pure.
 */
interface QuoteText {
  /** The JSON text of `accepts`. */
  readonly accepts: string
  /** The members of `extensions`, without `bazaar`. */
  readonly extensions: string
  /** The value of `PAYMENT-REQUIRED`. */
  readonly header: string
  /** The value under the names that older clients read: if `exact` is offered, only that. */
  readonly older: string
}

const descriptionCharactersMax = 96

// Three base64 copies and the other headers of a 402 then stay below 3,000 bytes.
const quoteCharactersMax = 648
// With a second scheme, which the two copies for older clients omit, below 4,000: the usual limit of a proxy.
const longQuoteCharactersMax = 1_100

/** The parts omitted first when a quote becomes too long: the extension's schema, then the extension. */
const optionalExtensions = [identifierDeclaration, identifierWithoutSchema, {}]

const quoteText = (quote: Quote, error: string, bazaar = ""): QuoteText => {
  const all = quote.offers.map(({ requirements }) => requirements)
  const exact = all.filter(({ scheme }) => scheme === "exact")
  const isSame = exact.length === 0 || exact.length === all.length
  const terms = { resource: quote.resource, error }
  const text = headerText(all, terms, { charactersMax: isSame ? quoteCharactersMax : longQuoteCharactersMax, bazaar })
  if (isSame && bazaar === "") return { ...text, older: text.header }
  return { ...text, older: headerText(isSame ? all : exact, terms).header }
}

const headerText = (
  offered: ReadonlyArray<PaymentRequirements>,
  { resource, error }: { readonly resource: ResourceInfo; readonly error: string },
  { charactersMax = quoteCharactersMax, bazaar = "" } = {}
) => {
  const accepts = JSON.stringify(offered)
  const head = `"error":${JSON.stringify(error)},"resource":${JSON.stringify(resource)}`
  const text = `{"x402Version":${x402Version},${head},"accepts":${accepts}`
  // Without it, a payer that has not approved Permit2 could not pay.
  const needed = offered.some(isByPermit2) ? approvalDeclaration : {}
  const membersOf = (more: object) => JSON.stringify({ ...needed, ...more }).slice(1, -1)
  const written = (members: string) => (members === "" ? "" : `,"extensions":{${members}}`)
  const fitting = optionalExtensions.find((more) => text.length + written(membersOf(more)).length < charactersMax)
  const extensions = membersOf(fitting ?? {})
  const header = Buffer.from(`${text}${written(joined(extensions, bazaar))}}`).toString("base64")
  return { accepts, extensions, header }
}

const isByPermit2 = ({ scheme, extra }: PaymentRequirements) =>
  scheme === "upto" || extra?.["assetTransferMethod"] === "permit2"

interface ResourceOf {
  /** From the configuration, never the caller's Host: `https://models.example.com`. */
  readonly origin: string
  readonly path: string
  readonly model: string
  /** Absent for a call that is not sold by tokens. */
  readonly tokens?: { readonly input: number; readonly output: number }
}

export const modelResource = ({ origin, path, model, tokens }: ResourceOf): ResourceInfo => {
  const size = tokens === undefined ? "" : ` (~${tokens.input} input, ${tokens.output} max output tokens)`
  // Half a surrogate pair at the cut would break the header.
  const description = `${model} API call${size}`.slice(0, descriptionCharactersMax).toWellFormed()
  return { url: `${origin.replace(/(?<!\/)\/+$/u, "")}${path}`, description, mimeType: "application/json" }
}

/** The headers of our answers that a page's script may read. */
export const exposedHeaders =
  "PAYMENT-REQUIRED, X-Payment-Required, WWW-Authenticate, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Payment-Receipt, X-Payment-Settled, X-Error-Code"

/** The settlement's response, under the names of both protocol versions. */
const settleResponseHeader = (response: SettleResponse): Readonly<Record<string, string>> => {
  const header = Buffer.from(JSON.stringify(response)).toString("base64")
  return { "payment-response": header, "x-payment-response": header }
}

/** The payment headers of a paid answer: the receipt, or a note that the chain has not confirmed it yet. Pure. */
export interface SettledPayment {
  /** Null if nothing was charged, which needs no transaction. */
  readonly transaction: string | null
  readonly network: string
  readonly payer: string
  /** The amount charged, if it differs from the quoted amount. */
  readonly amount?: string
}

/** The headers of a paid answer. No cache on the way may store it for another payer. */
export const settledHeaders = ({
  transaction,
  network,
  payer,
  amount
}: SettledPayment): Readonly<Record<string, string>> => ({
  ...settleResponseHeader({
    success: true,
    transaction: transaction ?? "",
    network,
    payer,
    ...(amount === undefined ? {} : { amount })
  }),
  ...(transaction === null ? {} : { "x-payment-receipt": transaction }),
  "cache-control": "private",
  "access-control-expose-headers": exposedHeaders
})

/** The channel's state as reported to its payer, in the protocol's names. */
const channelStateOf = ({ mirror, charged }: Channel, channelId: string) => ({
  channelId,
  balance: mirror.balance,
  totalClaimed: mirror.totalClaimed,
  withdrawRequestedAt: mirror.withdrawRequestedAt,
  refundNonce: mirror.refundNonce,
  chargedCumulativeAmount: charged
})

/** What a channel payment did: a charge alone, or with the deposit or refund that a transaction made. */
export interface ChannelReceipt {
  readonly channelId: string
  readonly channel: Channel
  /** Null for a refund, which charges nothing. */
  readonly chargedAmount: string | null
  readonly moved: { readonly transaction: string; readonly amount: string } | null
}

/** The headers of an answer paid by channel. Its client uses them to sign the next voucher. */
export const channelHeaders = ({
  channelId,
  channel,
  chargedAmount,
  moved
}: ChannelReceipt): Readonly<Record<string, string>> => ({
  ...settleResponseHeader({
    success: true,
    transaction: moved?.transaction ?? "",
    network: channel.network,
    payer: channel.config.payer,
    amount: moved?.amount ?? "",
    extra: {
      ...(chargedAmount === null ? {} : { chargedAmount }),
      channelState: channelStateOf(channel, channelId)
    }
  }),
  ...(moved === null ? {} : { "x-payment-receipt": moved.transaction }),
  "cache-control": "private",
  "access-control-expose-headers": exposedHeaders
})

/** The quote with the channel's state and its last voucher, from which a client learns what to sign next. */
export const correctiveQuote = (quote: Quote, channelId: string, channel: Channel): Quote => {
  const described = {
    channelState: channelStateOf(channel, channelId),
    ...(channel.signed === null
      ? {}
      : { voucherState: { signedMaxClaimable: channel.signed.maxClaimable, signature: channel.signed.signature } })
  }
  const [first, ...rest] = quote.offers.map((offer): Offer => {
    const { requirements } = offer
    const isIts = requirements.scheme === channelScheme && requirements.network === channel.network
    return isIts
      ? { ...offer, requirements: { ...requirements, extra: { ...requirements.extra, ...described } } }
      : offer
  })
  return first === undefined ? quote : { ...quote, offers: [first, ...rest] }
}

/** The headers of an answer that is sent before the chain has confirmed its payment. */
export const unsettledHeaders = (errorClass: string): Readonly<Record<string, string>> => ({
  "x-payment-settled": "false",
  "x-payment-settle-error-class": errorClass.replace(/[^A-Za-z0-9_.-]/gu, "_").slice(0, 64),
  "cache-control": "private",
  "access-control-expose-headers": exposedHeaders
})
