/** The payment gate's answers instead of a model's, in the route's shape. Pure. */
import { Data } from "effect"
import {
  type BazaarText,
  paymentReason,
  paymentRequired,
  type PaymentReply,
  type Quote,
  type ReplyShape
} from "#payments"
import { fault, faultBody, faultHeaders, type GatewayFault, statusOf } from "../errors/GatewayFault.ts"

/**
 * The answer instead of the model's: the quote, or the reason why the payment was not accepted. It is the most common
 * answer of all, so it is not an error with a stack of its own.
 */
export class PaymentRefusal extends Data.TaggedClass("PaymentRefusal")<{
  /** 200: the answer was paid for earlier, and is sent once more. */
  readonly status: 200 | 400 | 402 | 409 | 412 | 429 | 503
  /** For metrics: a payment code, or `PAYMENT_REQUIRED`. */
  readonly code: string
  /** The image job for which the payment was taken earlier; its payment does not show that the job has ended. */
  readonly jobId?: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text, already written: quotes are mirrored byte for byte. */
  readonly body: string
}> {}

export const refusalOf = (code: string, { status, headers, body }: PaymentReply) =>
  new PaymentRefusal({ status, code, headers, body })

/** The code that counts a quote for a call without a payment. */
export const quoteCode = "PAYMENT_REQUIRED"

const quotesMax = 512

/**
 * Writes quotes, and caches the most recent ones: calls of one model with prompts of one size have the same bytes, and
 * most of a quote's cost is its text.
 */
export const quoteWriter = (bazaarOf: (url: string) => BazaarText) => {
  const kept = new Map<string, PaymentRefusal>()
  return (quote: Quote, shape: ReplyShape): PaymentRefusal => {
    const key = keyOf(quote, shape)
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = refusalOf(quoteCode, paymentRequired(quote, shape, bazaarOf(quote.resource.url)))
    for (const oldest of kept.keys()) {
      if (kept.size < quotesMax) break
      kept.delete(oldest)
    }
    kept.set(key, made)
    return made
  }
}

/** Everything that differs between the quotes of a process. */
const keyOf = ({ resource, offers }: Quote, shape: ReplyShape) => {
  let key = `${shape} ${resource.url} ${resource.description}`
  for (const { requirements } of offers) {
    const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra = {} } = requirements
    key += `\n${scheme} ${network} ${amount} ${asset} ${payTo} ${maxTimeoutSeconds}`
    for (const name in extra) key += ` ${String(extra[name])}`
  }
  return key
}

/** `countedAs`: what metrics count instead of the code. */
interface RefusalFacts {
  readonly countedAs?: string
  readonly jobId?: string
}

/** A payment's fault, in its route's shape. */
const refused = (shape: ReplyShape, given: GatewayFault, { countedAs = given.code, ...job }: RefusalFacts = {}) =>
  new PaymentRefusal({
    status: statusOf(given.code) as PaymentRefusal["status"],
    code: countedAs,
    ...job,
    headers: { "content-type": "application/json", ...faultHeaders(given) },
    body: JSON.stringify(faultBody(shape, given))
  })

/** Nothing was charged, and the same payment can be sent again. */
export const unavailable = (shape: ReplyShape, message: string, retryAfterSeconds: number) =>
  refused(shape, fault("PAYMENT_VERIFICATION_UNAVAILABLE", { message, retryAfterSeconds }))

/** The payer's other calls come first. Nothing was charged; the same payment can be sent again when they have ended. */
export const exposureReached = (shape: ReplyShape, retryAfterSeconds: number, debug?: string) =>
  refused(
    shape,
    fault("PAYMENT_EXPOSURE_LIMIT", {
      message: debug === undefined ? undefined : exposureMessages[debug],
      debug,
      retryAfterSeconds,
      source: debug === paymentReason.newcomers ? "new payers" : "payer"
    })
  )

const exposureMessages: Readonly<Record<string, string>> = {
  [paymentReason.unpaid]:
    "The payer's calls that are not paid yet, or never were, take up what it may have unpaid; that grows with what it pays. Nothing was charged: send the same payment again later",
  [paymentReason.newcomers]:
    "The calls of payers that have paid little yet take up what they may have unpaid together. Nothing was charged: send the same payment again later, or pay by channel where that is offered"
}

/**
 * Another call is using the channel; nothing was charged, and the same voucher can be sent again when that call has
 * ended.
 */
export const channelBusy = (shape: ReplyShape, { headers }: PaymentReply) => {
  const refusal = exposureReached(shape, 1)
  return new PaymentRefusal({ ...refusal, code: "CHANNEL_BUSY", headers: { ...headers, ...refusal.headers } })
}

// A library that retries automatically would sign and pay again.
const noRetry = { "x-should-retry": "false" }

const sendAgain = (message: string, retryAfterSeconds: number) =>
  fault("PAYMENT_VERIFICATION_UNAVAILABLE", { message, retryAfterSeconds, headers: noRetry })

/**
 * The answer is complete and its settlement in progress, but the payer already has as many unpaid answers as allowed.
 */
export const stillSettling = (shape: ReplyShape) => {
  const message =
    "The payment is being settled, which takes longer than usual; its answer is kept. Send the very same request and payment again"
  return refused(shape, sendAgain(message, 5), { countedAs: "PAYMENT_SETTLING" })
}

/** The call is in progress, and this payment pays for it: a caller that signs another one pays twice. */
export const stillAnswering = (shape: ReplyShape) => {
  const message = "This call is being answered; send the very same request and payment again for its answer"
  return refused(shape, sendAgain(message, 2), { countedAs: "PAYMENT_IN_WORK" })
}

/** The same for an image; the route can add details from its job. */
export const stillMaking = (shape: ReplyShape, jobId: string) => {
  const message = "The image of this payment is being made or settled; send the same payment again to fetch it"
  return refused(shape, sendAgain(message, 2), { countedAs: "PAYMENT_IN_WORK", jobId })
}

interface PaidBefore {
  readonly answer: Uint8Array
  /** Its receipt. */
  readonly headers: Readonly<Record<string, string>>
}

/** The answer that was lost on the way, with its receipt. */
export const paidBefore = ({ answer, headers }: PaidBefore) =>
  new PaymentRefusal({
    status: 200,
    code: "PAID_BEFORE",
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(answer).toString("utf8")
  })

/** A client's name for a call already belongs to another call. */
export const identifierTaken = (shape: ReplyShape) =>
  refused(shape, fault("PAYMENT_IDENTIFIER_TAKEN", { headers: noRetry }))
