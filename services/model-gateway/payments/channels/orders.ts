/** Orders about channels to the settlers, which alone read the chain and send to it. */
import { Effect, Result } from "effect"
import { type BusError, Requests } from "#bus"
import type { ChannelOrder, ChannelOrderAnswer } from "#payments/contract"
import { subjects } from "#base"
import { channelOrderAnswerCodec, channelOrderCodec, codeOf, PaymentRefused, type ReplyShape } from "#payments"
import { type PaymentFigures, refuse } from "../payment-figures.ts"
import { type PaymentRefusal, unavailable } from "../replies.ts"
import type { Voucher } from "./voucher.ts"

export interface ChannelOrders {
  readonly ask: (order: ChannelOrder) => Effect.Effect<ChannelOrderAnswer, BusError>
  /** The settlers' answer to an order for a voucher; their refusal becomes the payer's. */
  readonly give: (
    voucher: Voucher,
    order: ChannelOrder
  ) => Effect.Effect<Extract<ChannelOrderAnswer, { readonly _tag: "Done" }>, PaymentRefusal>
}

// A deposit waits for a block; after that a settler stops, and the order can be sent again.
const orderTimeoutMs = 30_000
// A settler reports twice a second that it is working.
const silenceMsMax = 2_000

export const channelOrders = Effect.fnUntraced(function* (
  figures: PaymentFigures
): Effect.fn.Return<ChannelOrders, never, Requests> {
  const requests = yield* Requests
  const ask = (order: ChannelOrder) =>
    requests.ask(
      {
        subject: subjects.paymentsChannels,
        question: channelOrderCodec,
        answer: channelOrderAnswerCodec,
        timeoutMs: orderTimeoutMs,
        silence: { msMax: silenceMsMax, onSilence: figures.count("asked_again") }
      },
      order
    )
  const give = Effect.fnUntraced(function* (voucher: Voucher, order: ChannelOrder) {
    const asked = yield* Effect.result(ask(order))
    if (Result.isFailure(asked)) {
      yield* Effect.logWarning("no settler answered an order about a channel", asked.failure)
      return yield* cannotSay(figures, voucher.call.shape)
    }
    const answer = asked.success
    if (answer._tag === "Done") return answer
    if (answer._tag === "Unavailable") return yield* cannotSay(figures, voucher.call.shape)
    const { reason, detail } = answer
    const { payer } = voucher.checked.config
    const details = detail === undefined ? {} : { detail }
    return yield* refuse(figures, voucher, new PaymentRefused({ code: codeOf(reason), reason, payer, ...details }))
  })
  return { ask, give }
})

export const cannotSay = ({ count }: PaymentFigures, shape: ReplyShape): Effect.Effect<never, PaymentRefusal> =>
  Effect.andThen(
    count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE"),
    Effect.fail(unavailable(shape, "The payment channel cannot be looked at just now; send the same payment again", 2))
  )
