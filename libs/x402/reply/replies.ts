/**
 * Every 402: the quote for who has not paid, and why a payment was not taken. Each carries a fresh quote in its
 * headers, for clients sign the next attempt from it, and a refusal its code, in its header and its body. Bodies come in the three shapes in which the routes
 * answer: OpenAI's chat (and images), Anthropic's messages, OpenAI's responses. Pure.
 */
import { type PaymentCode, x402Version } from "#contracts"
import { sanitise } from "#egress"
import { explained } from "../reasons.ts"
import { type Quote, quoteText } from "./payment-required.ts"
import { exposedHeaders, settleResponseHeader } from "./receipt-headers.ts"

export type ReplyShape = "chat" | "messages" | "responses"

export interface PaymentReply {
  readonly status: 402
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
}

/** Why a payment was not taken. `detail` is shown as `debug`, made fit for strangers. */
export interface PaymentFailure {
  readonly code: PaymentCode
  readonly reason: string
  readonly payer: string | null
  readonly detail?: string | undefined
}

const message = "This endpoint requires x402 payment"

/** To a call without a payment. */
export const paymentRequired = (quote: Quote, shape: ReplyShape): PaymentReply => {
  const { accepts, header } = quoteText(quote, "Payment Required")
  const [{ priceUsd, plainNetwork, assetSymbol }] = quote.offers
  const price = JSON.stringify({ amount: priceUsd, currency: "USD" })
  const info = JSON.stringify({ network: plainNetwork, asset: assetSymbol, x402Version })
  const mirror = `"x402Version":${x402Version},"accepts":${accepts}`
  const rest = `"message":${JSON.stringify(message)},"price":${price},"paymentInfo":${info}`
  const body = {
    chat: () => `{${mirror},"error":"Payment Required",${rest}}`,
    messages: () => `{"type":"error","error":${JSON.stringify(messagesError(message))},${mirror},${rest}}`,
    responses: () => `{${mirror},"error":${JSON.stringify(responsesError(message))},${rest}}`
  }[shape]()
  return { status: 402, headers: quoteHeaders(header), body }
}

/** To a payment that cannot be taken; nothing was sent to the chain. */
export const verificationFailed = (quote: Quote, shape: ReplyShape, failure: PaymentFailure): PaymentReply => ({
  status: 402,
  headers: { ...quoteHeaders(quoteText(quote, failure.reason).header), "x-error-code": failure.code },
  body: JSON.stringify(
    shape === "chat"
      ? verificationBody(failure)
      : vendorBody(shape, `Payment verification failed: ${failure.reason}`, failure.code)
  )
})

/** To a payment that the chain refused after the call had been made: the answer is not given out. */
export const settlementFailed = (
  quote: Quote,
  shape: ReplyShape,
  failure: PaymentFailure & { readonly network: string; readonly transaction: string | null }
): PaymentReply => ({
  status: 402,
  headers: {
    ...quoteHeaders(quoteText(quote, failure.reason).header),
    ...settleResponseHeader({
      success: false,
      errorReason: failure.reason,
      transaction: failure.transaction ?? "",
      network: failure.network,
      ...payerOf(failure)
    }),
    "x-error-code": failure.code,
    // Clients that retry by themselves would sign and pay again.
    "x-should-retry": "false"
  },
  body: JSON.stringify(
    shape === "chat"
      ? settlementBody(failure)
      : vendorBody(shape, `Payment settlement failed: ${failure.reason}`, failure.code)
  )
})

const quoteHeaders = (header: string): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "cache-control": "no-store",
  "payment-required": header,
  "x-payment-required": header,
  // Quoted: base64 has characters that an unquoted parameter may not.
  "www-authenticate": `X402 requirements="${header}"`,
  "access-control-expose-headers": exposedHeaders
})

const advice: Readonly<Record<PaymentCode, string>> = {
  PAYMENT_INVALID: "Sign exactly the requirements from the PAYMENT-REQUIRED header.",
  PAYMENT_UNFUNDED: "Fund the wallet; if the clock is off, set it and sign again.",
  PAYMENT_BLOCKHASH_STALE: "Sign again against a current blockhash; nothing was charged.",
  PAYMENT_REPLAY: "Sign a fresh payment authorization for each request."
}

/** Also what a chain's node said: nothing of which one it was. */
const toldDetail = ({ detail }: PaymentFailure) => sanitise(detail ?? "", { secrets: [], names: [] })

const payerOf = ({ payer }: PaymentFailure) => (payer === null ? {} : { payer })

const verificationBody = (failure: PaymentFailure) =>
  failure.code === "PAYMENT_REPLAY"
    ? {
        error: "Payment authorization already used",
        message: advice.PAYMENT_REPLAY,
        code: failure.code,
        ...payerOf(failure)
      }
    : { error: "Payment verification failed", ...whyBody(failure) }

const settlementBody = (failure: PaymentFailure) => ({ error: "Payment settlement failed", ...whyBody(failure) })

const whyBody = (failure: PaymentFailure) => ({
  code: failure.code,
  message: advice[failure.code],
  debug: explained(failure.reason, toldDetail(failure)),
  ...payerOf(failure)
})

/** With the code where the vendor's clients look for one; Anthropic's envelope has no place of its own for it. */
const vendorBody = (shape: "messages" | "responses", text: string, code: PaymentCode) =>
  shape === "messages"
    ? { type: "error", error: { ...messagesError(text), code } }
    : { error: { ...responsesError(text), code } }

const messagesError = (text: string) => ({ type: "payment_required", message: text })
const responsesError = (text: string) => ({ message: text, type: "payment_required", param: null, code: null })
