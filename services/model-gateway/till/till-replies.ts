/** What the till answers instead of a model, in the shape of the route. Pure. */
import type { PaymentReply, ReplyShape } from "#x402"
import { fault } from "../errors/GatewayFault.ts"
import { faultBody } from "../errors/render-fault.ts"
import { PaymentRefusal } from "../Till.ts"

export const refusalOf = (code: string, { status, headers, body }: PaymentReply) =>
  new PaymentRefusal({ status, code, headers, body })

const text = (shape: ReplyShape, message: string, code = "PAYMENT_VERIFICATION_UNAVAILABLE") => {
  const body = faultBody(shape, fault("PAYMENT_VERIFICATION_UNAVAILABLE", { message }))
  return JSON.stringify(body).replaceAll('"PAYMENT_VERIFICATION_UNAVAILABLE"', JSON.stringify(code))
}

const headers = { "content-type": "application/json", "cache-control": "no-store" }

/** Nothing was charged, and the same payment can be sent again. */
export const unavailable = (shape: ReplyShape, message: string, retryAfterSeconds: number) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_VERIFICATION_UNAVAILABLE",
    headers: { ...headers, "retry-after": String(retryAfterSeconds) },
    body: text(shape, message)
  })

/** The answer is made and its payment on its way, and the payer has had one unpaid answer already. */
export const stillSettling = (shape: ReplyShape) =>
  new PaymentRefusal({
    status: 503,
    code: "PAYMENT_SETTLING",
    headers: { ...headers, "retry-after": "5", "x-should-retry": "false" },
    body: text(
      shape,
      "The payment is being settled, which takes longer than usual; its answer is kept. Send the same payment and payment-identifier again"
    )
  })

/** A client's name for a call stands for another call. */
export const identifierTaken = (shape: ReplyShape) =>
  new PaymentRefusal({
    status: 409,
    code: "PAYMENT_IDENTIFIER_TAKEN",
    headers: { ...headers, "x-should-retry": "false" },
    body: text(
      shape,
      "This payment-identifier was used with another payment or request; nothing was charged for this one",
      "PAYMENT_IDENTIFIER_TAKEN"
    ).replace('"api_error"', '"invalid_request_error"')
  })
