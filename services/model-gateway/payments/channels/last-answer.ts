/**
 * The answer to the last voucher that a channel was charged for. It may have been lost on the way, so it is stored
 * until the channel's payer moves on, and sent again for the same voucher with the same request.
 */
import { Effect, Option } from "effect"
import { type Channel, channelHeaders } from "#payments"
import type { PaidAnswers } from "../PaidAnswers.ts"
import { patiently } from "../patiently.ts"
import type { PaymentFigures } from "../payment-figures.ts"
import { paidBefore, type PaymentRefusal } from "../replies.ts"
import { cannotSay } from "./orders.ts"
import { signedOf, type Voucher } from "./voucher.ts"

interface Parts {
  readonly figures: PaymentFigures
  readonly answers: PaidAnswers["Service"]
}

/**
 * Most answers are shorter than this, and are stored by the write that charges them. A longer one has its own message,
 * because a record is read and written at every step of its channel.
 */
const inRecordBytesMax = 8_192

/** How an answer is stored: within its charge, or by a write before it. */
export const keptAnswer = (
  { figures, answers }: Parts,
  { name, binding }: Voucher,
  { ticket, body }: { readonly ticket: string; readonly body: Uint8Array | null }
) => {
  if (body === null || binding === undefined) return { inCharge: false, before: undefined }
  if (body.byteLength <= inRecordBytesMax) return { inCharge: Buffer.from(body).toString("base64"), before: undefined }
  // An answer that dies with this process is not charged to anyone.
  const keeping = answers.keep(answerKeyOf(name, ticket), { label: { identifier: null, binding }, body })
  return { inCharge: true, before: figures.timed("store", patiently(keeping)) }
}

const answerKeyOf = ({ network, channelId }: Voucher["name"], ticket: string) => `${network} ${channelId} ${ticket}`

/** Fails with the answer if the voucher paid for it. */
export const repeatAnswer = Effect.fnUntraced(function* (
  { figures, answers }: Parts,
  voucher: Voucher,
  channel: Channel
): Effect.fn.Return<void, PaymentRefusal> {
  const { name, binding } = voucher
  const { signed, ended } = channel
  const { maxClaimable, signature } = signedOf(voucher)
  const isLast = signed?.maxClaimable === maxClaimable && signed.signature === signature
  if (!isLast || binding === undefined || ended === null || ended.binding !== binding) return
  const inRecord = Option.map(Option.fromUndefinedOr(ended.answer), (answer) => Buffer.from(answer, "base64"))
  const kept = Option.isSome(inRecord)
    ? inRecord
    : yield* answers.find(answerKeyOf(name, ended.ticket)).pipe(
        Effect.map(Option.map(({ body }) => body)),
        Effect.catch(() => cannotSay(figures, voucher.call.shape))
      )
  if (Option.isNone(kept)) return
  yield* figures.count("given_again")
  const chargedAmount = ended.charged
  const headers = channelHeaders({ channelId: name.channelId, channel, chargedAmount, moved: null })
  return yield* Effect.fail(paidBefore({ answer: kept.value, headers }))
})
