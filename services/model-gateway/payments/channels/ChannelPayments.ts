/**
 * Payment by channel: a voucher for each call. The voucher is stored before any part of its answer is sent, and so is
 * the answer's cost: by one write if the answer is made at once. Neither needs a chain, a facilitator or a verifier as
 * long as the settlers watch the chain: a channel's record shows its balance. Deposits, refunds and reads of unknown
 * channels are ordered from the settlers.
 *
 * A channel pays for one call at a time. A failed call releases its voucher; if a gateway dies, the voucher is released
 * when the lease expires, unless its stream had begun.
 */
import { Context, Effect, Layer } from "effect"
import { Mailbox } from "#bus"
import { channelScheme } from "#payments/contract"
import { Configuration } from "#configuration"
import {
  atomicAmount,
  type Channel,
  ChannelCommand,
  channelHeaders,
  channelReason,
  Channels,
  microUsdOf,
  newTicket
} from "#payments"
import { PaidAnswers } from "../PaidAnswers.ts"
import { patiently } from "../patiently.ts"
import { paymentFigures, refuse } from "../payment-figures.ts"
import {
  type ChargedAnswer,
  type ChargedPayment,
  type NotMoved,
  type OfferedPayment,
  type Payment,
  PaymentLost,
  type PaymentMethod
} from "../payment-method.ts"
import type { PaymentRefusal } from "../replies.ts"
import { type Admission, admit, admitOptimistically, deposited, type Moved, notAdmitted } from "./admission.ts"
import { keptAnswer } from "./last-answer.ts"
import { channelOrders } from "./orders.ts"
import { channelReceipts } from "./receipts.ts"
import { refund, type RefundedChannel } from "./refund.ts"
import { type OfferedVoucher, refusedFor, type Voucher, type VoucherCheck, voucherCheck } from "./voucher.ts"
import { channelWatches } from "./watches.ts"

/** A voucher that its channel holds for one call. */
export interface VoucherPayment extends Payment {
  readonly voucher: Voucher
  readonly ticket: string
  readonly deposit: Moved | null
  /** For a voucher that is not known to be stored: the receipts that are reported to its record with it. */
  admitted: ReadonlyArray<string> | undefined
}

export class ChannelPayments extends Context.Service<
  ChannelPayments,
  PaymentMethod<OfferedPayment, VoucherPayment> & {
    /** Claims what was charged, and returns the rest, or part of it. */
    readonly refund: (offered: OfferedVoucher) => Effect.Effect<RefundedChannel, PaymentRefusal>
  }
>()("starling/model-gateway/ChannelPayments") {
  static readonly layer = Layer.effect(
    ChannelPayments,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const figures = yield* paymentFigures
      const decimals = new Map(Payments.Networks.map((entry) => [entry.Network, entry.AssetDecimals]))
      const unitsOf = (usd: number, network: string) => atomicAmount(microUsdOf(usd), decimals.get(network) ?? 6)
      const orders = yield* channelOrders(figures)
      const parts: Parts = {
        figures,
        check: voucherCheck(Payments, figures),
        channels: yield* Channels,
        orders,
        receipts: yield* channelReceipts(orders),
        answers: yield* PaidAnswers,
        isWatched: yield* channelWatches(Payments),
        holder: (yield* Mailbox).instance,
        leaseMs: Payments.LeaseSeconds * 1_000,
        decimals,
        unclaimedMax: (network) => unitsOf(Payments.ChannelUnclaimedMaxUsd, network),
        leaving: (network) => ({
          newPayerMax: unitsOf(Payments.UnpaidNewcomerUsd, network),
          payerMax: unitsOf(Payments.UnpaidPayerMaxUsd, network)
        })
      }
      return ChannelPayments.of({
        take: (offered) => take(parts, offered),
        renew: (payment, charge) => {
          const { ticket } = payment
          const command = ChannelCommand.Renew({ ticket, leaseMs: parts.leaseMs, spent: charge.toString() })
          return Effect.asVoid(stored(parts, payment, command))
        },
        serve: (payment, charge) => {
          const command = ChannelCommand.Serve({ ticket: payment.ticket, spent: charge.toString() })
          return Effect.asVoid(patiently(stored(parts, payment, command)))
        },
        charge: (payment, answer) => charge(parts, payment, answer),
        release: (payment, isPayersDoing) => {
          const { ticket } = payment
          const command = isPayersDoing ? ChannelCommand.Abandon({ ticket }) : ChannelCommand.Release({ ticket })
          return Effect.asVoid(run(parts, payment, command))
        },
        uncharged: "The payment could not be charged; nothing was charged",
        refund: (offered) => Effect.flatMap(parts.check(offered), (voucher) => refund(parts, voucher))
      })
    })
  ).pipe(Layer.provide(Channels.layer))
}

interface Parts extends Admission {
  readonly check: VoucherCheck
  readonly decimals: ReadonlyMap<string, number>
}

// An answer that comes sooner has its voucher stored with it. A payer that sends one voucher to several gateways gets
// no more than this much of a provider's time for free, and once per channel: see `Channels`.
const optimisticMsMax = 500

const take = Effect.fnUntraced(function* (
  parts: Parts,
  offered: OfferedVoucher
): Effect.fn.Return<VoucherPayment, PaymentRefusal> {
  const voucher = yield* parts.check(offered)
  const { call, requirements, name, checked } = voucher
  if (checked.payload.type === "refund") return yield* refuse(parts.figures, voucher, refusedFor("payload_type"))
  const deposit = checked.payload.type === "deposit" ? yield* deposited(parts, voucher) : null
  const ticket = newTicket()
  const begin = { ticket, kind: call.kind, amount: requirements.amount }
  const admitted = yield* admitOptimistically(parts, voucher, begin)
  if (admitted === undefined) yield* parts.figures.timed("verify", admit(parts, voucher, begin))
  return {
    call,
    scheme: channelScheme,
    decimals: parts.decimals.get(name.network) ?? 6,
    ceiling: BigInt(requirements.amount),
    isMetered: true,
    ...(admitted === undefined ? {} : { storedWithinMs: optimisticMsMax }),
    voucher,
    ticket,
    deposit,
    admitted
  }
})

/** A voucher that was never stored is refused as it would have been before its call. */
const run = (parts: Parts, payment: VoucherPayment, command: ChannelCommand): Effect.Effect<Channel, NotMoved> =>
  Effect.mapError(parts.channels.run(payment.voucher.name, command), (cause) => {
    if (cause._tag !== "ChannelRefused") return cause
    const wasStored = payment.admitted === undefined || cause.reason === channelReason.workOver
    return new PaymentLost({
      cause,
      refusal: wasStored ? null : Effect.flip(notAdmitted(parts, payment.voucher, cause))
    })
  })

/** The voucher is stored with the command, if it was not stored before. */
const stored = (parts: Parts, payment: VoucherPayment, command: ChannelCommand): Effect.Effect<Channel, NotMoved> =>
  Effect.map(run(parts, payment, command), (channel) => {
    if (payment.admitted !== undefined) parts.receipts.reported(payment.voucher.name, payment.admitted)
    payment.admitted = undefined
    return channel
  })

/** The charge is the outcome, because the money is in the channel. */
const charge = Effect.fnUntraced(function* (
  parts: Parts,
  payment: VoucherPayment,
  answer: ChargedAnswer
): Effect.fn.Return<Effect.Effect<ChargedPayment>, NotMoved> {
  const { voucher, ticket, deposit } = payment
  const { cost, body } = answer
  const amount = answer.charge.toString()
  const kept = keptAnswer(parts, voucher, { ticket, body })
  const providerCost = cost === null ? {} : { providerCost: cost.toString() }
  const command = ChannelCommand.Charge({ ticket, amount, holdsAnswer: kept.inCharge, ...providerCost })
  if (kept.before !== undefined) yield* kept.before
  const channel = yield* parts.figures.timed("settle", patiently(stored(parts, payment, command)))
  yield* parts.receipts.ask(voucher, channel)
  const { channelId } = voucher.name
  const headers = channelHeaders({ channelId, channel, chargedAmount: amount, moved: deposit })
  return Effect.succeed({ outcome: "settled", headers })
})
