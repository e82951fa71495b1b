/** The refund of a payment channel: its payer gets back what was not charged. */
import { Effect } from "effect"
import { HttpCall, jsonAnswer } from "#http"
import { answering, refused } from "../answer-refusal.ts"
import { PaymentGate } from "./PaymentGate.ts"
import { paymentHeaders } from "./quote.ts"

const message = "Payment channels are not taken here"
const noChannels = {
  error: { message, type: "invalid_request_error", code: "NOT_FOUND", param: null },
  message,
  code: "NOT_FOUND"
}

export const answerRefund = answering("chat")(
  Effect.gen(function* () {
    const http = yield* HttpCall
    const refunded = yield* (yield* PaymentGate).refund({ path: http.route, payment: paymentHeaders(http) })
    if (refunded === undefined) return refused(noChannels, { status: 404 })
    const { network, amount, transaction, headers } = refunded
    return jsonAnswer({ network, amount, transaction }, { headers: { ...headers, "cache-control": "no-store" } })
  })
)
