/** A channel's refund: a settler claims what was charged, and returns the rest, or part of it, to the payer. */
import { Effect } from "effect"
import type { ChannelOrder } from "#payments/contract"
import { ChannelCommand, channelHeaders, newTicket } from "#payments"
import { patiently } from "../patiently.ts"
import { refuse } from "../payment-figures.ts"
import type { PaymentRefusal } from "../replies.ts"
import { type Admission, admit } from "./admission.ts"
import { cannotSay } from "./orders.ts"
import { refusedFor, signedOf, targetOf, type Voucher } from "./voucher.ts"

/** What a refund has returned. */
export interface RefundedChannel {
  readonly network: string
  readonly headers: Readonly<Record<string, string>>
  readonly amount: string
  readonly transaction: string | null
}

export const refund = Effect.fn("ChannelCalls.refund")(function* (
  parts: Admission,
  voucher: Voucher
): Effect.fn.Return<RefundedChannel, PaymentRefusal> {
  const { payload } = voucher.checked
  if (payload.type !== "refund") return yield* refuse(parts.figures, voucher, refusedFor("payload_type"))
  if (payload.amount === "0") return yield* refuse(parts.figures, voucher, refusedFor("refund_amount_invalid"))
  const ticket = newTicket()
  yield* admit(parts, voucher, { ticket, kind: "refund", amount: "0" })
  const { amount = null } = payload
  const order: ChannelOrder = { _tag: "Refund", ...targetOf(voucher), amount, voucher: signedOf(voucher), ticket }
  return yield* Effect.uninterruptibleMask((restore) => {
    const release = Effect.ignore(parts.channels.run(voucher.name, ChannelCommand.Release({ ticket })))
    const given = Effect.onError(restore(parts.orders.give(voucher, order)), () => release)
    return Effect.flatMap(given, (moved) => noted(parts, voucher, { ...moved, ticket }))
  })
})

interface RefundRequest {
  readonly ticket: string
  readonly amount: string
  readonly transaction: string | null
}

/** The refund's voucher covers all charges, and replaces the last one. */
const noted = Effect.fnUntraced(function* (
  { channels, figures }: Admission,
  { name, call }: Voucher,
  { ticket, amount, transaction }: RefundRequest
): Effect.fn.Return<RefundedChannel, PaymentRefusal> {
  const channel = yield* Effect.catch(
    patiently(channels.run(name, ChannelCommand.Charge({ ticket, amount: "0" }))),
    () => cannotSay(figures, call.shape)
  )
  const moved = transaction === null ? null : { transaction, amount }
  const headers = channelHeaders({ channelId: name.channelId, channel, chargedAmount: null, moved })
  return { network: name.network, headers, amount, transaction }
})
