/** The payment gate's answers in place of a model's, in the shape of the route. Pure. */
import { Data } from "effect"
import { type PaymentReply, type ReplyShape, settledHeaders, type SettledPayment } from "#x402"
import { fault, faultBody, faultHeaders } from "../errors/GatewayFault.ts"

/**
 * The answer in place of the model's: the quote, or the reason why the payment was not accepted. It is the commonest
 * answer of all, so it is no error with a stack of its own.
 */
export class PaymentRefusal extends Data.TaggedClass("PaymentRefusal")<{
  /** 200: the answer was paid for before, and is given once more. */
  readonly status: 200 | 400 | 402 | 409 | 429 | 503
  /** For metrics: a payment code, or `PAYMENT_REQUIRED`. */
  readonly code: string
  /** The image job for which the payment was taken before; its payment does not show it as ended. */
  readonly jobId?: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text, already written: quotes are mirrored byte for byte. */
  readonly body: string
}> {}

export const refusalOf = (code: string, { status, headers, body }: PaymentReply) =>
  new PaymentRefusal({ status, code, headers, body })

const text = (shape: ReplyShape, message: string, code = "PAYMENT_VERIFICATION_UNAVAILABLE") => {
  const body = faultBody(shape, fault("PAYMENT_VERIFICATION_UNAVAILABLE", { message }))
  return JSON.stringify(body).replaceAll('"PAYMENT_VERIFICATION_UNAVAILABLE"', JSON.stringify(code))
}

const headersOf = (code = "PAYMENT_VERIFICATION_UNAVAILABLE") => ({
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-error-code": code
})

/** Nothing was charged, and the same payment can be sent again. */
export const unavailable = (shape: ReplyShape, message: string, retryAfterSeconds: number) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_VERIFICATION_UNAVAILABLE",
    headers: { ...headersOf(), "retry-after": String(retryAfterSeconds) },
    body: text(shape, message)
  })

/** The payer's other calls come first. Nothing was charged; the same payment can be sent again when they have ended. */
export const exposureReached = (shape: ReplyShape, retryAfterSeconds: number) => {
  const reached = fault("PAYMENT_EXPOSURE_LIMIT", { retryAfterSeconds, source: "payer" })
  return new PaymentRefusal({
    status: 429,
    code: "PAYMENT_EXPOSURE_LIMIT",
    headers: { "content-type": "application/json", ...faultHeaders(reached) },
    body: JSON.stringify(faultBody(shape, reached))
  })
}

/**
 * The answer is made and its settlement on its way, but the payer already has as many unpaid answers as it may have.
 */
export const stillSettling = (shape: ReplyShape) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_SETTLING",
    headers: { ...headersOf(), "retry-after": "5", "x-should-retry": "false" },
    body: text(
      shape,
      "The payment is being settled, which takes longer than usual; its answer is kept. Send the very same request and payment again"
    )
  })

/** The call is in work, and this very payment pays for it: a caller that signs another one pays twice. */
export const stillAnswering = (shape: ReplyShape) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_IN_WORK",
    headers: { ...headersOf(), "retry-after": "2", "x-should-retry": "false" },
    body: text(shape, "This call is being answered; send the very same request and payment again for its answer")
  })

/** The same for an image; the route can add more from its job. */
export const stillMaking = (shape: ReplyShape, jobId: string) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_IN_WORK",
    jobId,
    headers: { ...headersOf(), "retry-after": "2", "x-should-retry": "false" },
    body: text(shape, "The image of this payment is being made or settled; send the same payment again to fetch it")
  })

/** The answer that was lost on the way, with its receipt. */
export const paidBefore = ({ answer, ...payment }: SettledPayment & { readonly answer: Uint8Array }) =>
  new PaymentRefusal({
    status: 200,
    code: "PAID_BEFORE",
    headers: { "content-type": "application/json", ...settledHeaders(payment) },
    body: Buffer.from(answer).toString("utf8")
  })

/** A client's name for a call already stands for another call. */
export const identifierTaken = (shape: ReplyShape) =>
  new PaymentRefusal({
    status: 409,
    code: "PAYMENT_IDENTIFIER_TAKEN",
    headers: { ...headersOf("PAYMENT_IDENTIFIER_TAKEN"), "x-should-retry": "false" },
    body: text(
      shape,
      "This payment-identifier was used with another payment or request; nothing was charged for this one",
      "PAYMENT_IDENTIFIER_TAKEN"
    ).replace('"api_error"', '"invalid_request_error"')
  })
