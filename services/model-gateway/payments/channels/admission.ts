/**
 * Whether a voucher starts a call. It is stored in its channel's record, which allows one call at a time, or is left to
 * be stored with the charge. If a settler can remedy a refusal, that is tried once.
 */
import { Clock, Effect, Option, Result } from "effect"
import type { BusError } from "#bus"
import type { ChannelOrder } from "#payments/contract"
import {
  type Channel,
  ChannelCommand,
  channelReason,
  ChannelRefused,
  type Channels,
  codeOf,
  correctiveQuote,
  depositFault,
  leftForgottenMs,
  type LeavingTerms,
  paymentReason,
  PaymentRefused,
  verificationFailed
} from "#payments"
import type { PaidAnswers } from "../PaidAnswers.ts"
import { type PaymentFigures, refuse } from "../payment-figures.ts"
import { channelBusy, exposureReached, type PaymentRefusal } from "../replies.ts"
import { repeatAnswer } from "./last-answer.ts"
import { cannotSay, type ChannelOrders } from "./orders.ts"
import type { ChannelReceipts } from "./receipts.ts"
import { signedOf, targetOf, type Voucher } from "./voucher.ts"
import type { IsWatched } from "./watches.ts"

export interface Admission {
  readonly figures: PaymentFigures
  readonly channels: Channels["Service"]
  readonly orders: ChannelOrders
  readonly receipts: ChannelReceipts
  readonly answers: PaidAnswers["Service"]
  readonly isWatched: IsWatched
  readonly holder: string
  readonly leaseMs: number
  /** The maximum that one channel of a network may owe, in the smallest unit of its token. */
  readonly unclaimedMax: (network: string) => bigint
  readonly leaving: (network: string) => LeavingTerms
}

/** What a voucher is meant to pay for. */
export interface Begin {
  readonly ticket: string
  readonly kind: "whole" | "stream" | "refund"
  readonly amount: string
}

const commandOf = ({ holder, leaseMs, receipts, unclaimedMax, leaving }: Admission, voucher: Voucher, begin: Begin) => {
  const { name, call, binding } = voucher
  const request = binding === undefined ? {} : { binding }
  return ChannelCommand.Begin({
    work: { ...begin, ...request, holder, voucher: signedOf(voucher), model: call.model },
    leaseMs,
    receipted: receipts.written(name),
    unclaimedMax: unclaimedMax(name.network),
    leaving: leaving(name.network)
  })
}

/**
 * Leaves the voucher to be stored with its call's charge if the record as last written by this gateway allows the call
 * and nothing else is in progress on the channel. A voucher is for exactly that record's total, so of several gateways
 * only the one that wrote last can accept it, and it calls its provider once however many copies arrive. An image's
 * caller learns of its job before the image is made, so its voucher is stored first. Succeeds with the receipts that
 * will be reported to the record with the voucher; undefined if it must be stored first.
 */
export const admitOptimistically = Effect.fnUntraced(function* (parts: Admission, voucher: Voucher, begin: Begin) {
  const { name, call, checked } = voucher
  if (checked.payload.type !== "voucher" || call.jobId !== undefined) return undefined
  if (!parts.isWatched(name.network, yield* Clock.currentTimeMillis)) return undefined
  const command = commandOf(parts, voucher, begin)
  return (yield* parts.channels.beginOptimistically(name, command)) ? (command.receipted ?? []) : undefined
})

type Remedy = "Look" | "Receipt" | "Claim"

/**
 * What a settler can do about a refusal. A record's money may be behind the chain, or there is no record yet; or debts
 * of earlier calls may have to be settled first.
 */
const remedies: Readonly<Partial<Record<string, Remedy>>> = {
  [channelReason.missing]: "Look",
  [channelReason.notFound]: "Look",
  [channelReason.exceedsBalance]: "Look",
  [channelReason.receiptsOwed]: "Receipt",
  [channelReason.unclaimed]: "Claim"
}

/** Stores the voucher. The chain is read first if it is not watched. */
export const admit = Effect.fnUntraced(function* (
  parts: Admission,
  voucher: Voucher,
  begin: Begin
): Effect.fn.Return<void, PaymentRefusal> {
  const { name, checked } = voucher
  const { receipts, orders, channels } = parts
  const done = new Set<string>()
  const remedied = (order: Remedy, channel: Channel | null = null) => {
    done.add(order)
    const obeyed = orders.give(voucher, { _tag: order, ...targetOf(voucher) })
    return order === "Receipt" ? Effect.tap(obeyed, () => Effect.sync(() => receipts.add(name, channel))) : obeyed
  }
  const nowMs = yield* Clock.currentTimeMillis
  if (!parts.isWatched(name.network, nowMs) && checked.payload.type !== "deposit") yield* remedied("Look")
  for (;;) {
    const command = commandOf(parts, voucher, begin)
    const tried = yield* Effect.result(channels.run(name, command))
    if (Result.isSuccess(tried)) return receipts.reported(name, command.receipted ?? [])
    const { failure } = tried
    const order = failure._tag === "ChannelRefused" ? remedies[failure.reason] : undefined
    if (order === undefined || done.has(order)) return yield* notAdmitted(parts, voucher, failure)
    yield* remedied(order, failure._tag === "ChannelRefused" ? failure.channel : null)
  }
})

/** Money that was moved on the chain for a voucher. */
export interface Moved {
  readonly transaction: string
  readonly amount: string
}

/** Has the deposit made before the call, so that nothing is sent for money that never arrives. */
export const deposited = Effect.fnUntraced(function* (
  parts: Admission,
  voucher: Voucher
): Effect.fn.Return<Moved | null, PaymentRefusal> {
  const { payload, deposit } = voucher.checked
  if (deposit === undefined) return null
  const { amount } = deposit
  yield* isUsable(parts, voucher, BigInt(amount))
  const order: ChannelOrder = {
    _tag: "Deposit",
    ...targetOf(voucher),
    ...deposit,
    maxClaimable: payload.voucher.maxClaimableAmount
  }
  const { transaction } = yield* parts.figures.timed("deposit", parts.orders.give(voucher, order))
  return transaction === null ? null : { transaction, amount }
})

/** Refuses a voucher before its deposit is sent, if the channel is known and would refuse it afterwards. */
const isUsable = Effect.fnUntraced(function* (
  parts: Admission,
  voucher: Voucher,
  deposit: bigint
): Effect.fn.Return<void, PaymentRefusal> {
  const { call, requirements, name } = voucher
  if (yield* parts.channels.isServedUnsettled(name)) {
    return yield* notAdmitted(parts, voucher, new ChannelRefused({ reason: channelReason.busy, channel: null }))
  }
  const found = yield* Effect.catch(parts.channels.read(name), (error) => notAdmitted(parts, voucher, error))
  if (Option.isNone(found)) return
  const work = { kind: call.kind, voucher: signedOf(voucher), amount: requirements.amount }
  const nowMs = yield* Clock.currentTimeMillis
  const reason = depositFault(found.value, work, { deposit, leaving: parts.leaving(name.network), nowMs })
  if (reason === undefined) return
  return yield* notAdmitted(parts, voucher, new ChannelRefused({ reason, channel: found.value }))
})

// A caller that waits asks again within the hour: something else may have been forgotten.
const waitSecondsMax = 3_600
const secondsFor = (waitMs: number) => Math.min(waitSecondsMax, Math.max(1, Math.ceil(waitMs / 1_000)))

/** The reply to a voucher that its channel does not allow; for the last voucher, that is its answer. */
export const notAdmitted = Effect.fnUntraced(function* (
  parts: Admission,
  voucher: Voucher,
  error: ChannelRefused | BusError
): Effect.fn.Return<never, PaymentRefusal> {
  const { figures } = parts
  const { call, quote, name, checked } = voucher
  if (error._tag !== "ChannelRefused") {
    yield* Effect.logWarning("a voucher could not be stored", error)
    return yield* cannotSay(figures, call.shape)
  }
  const { reason, channel } = error
  const { payer } = checked.config
  if (reason === channelReason.mismatch && channel !== null) yield* repeatAnswer(parts, voucher, channel)
  if (reason === channelReason.unclaimed || reason === channelReason.receiptsOwed) {
    yield* Effect.logWarning("a channel owes too much for another call", error)
    return yield* cannotSay(figures, call.shape)
  }
  if (reason === channelReason.busy) {
    yield* figures.count("refused", "CHANNEL_BUSY")
    const failure = { code: codeOf(reason), reason, payer }
    return yield* Effect.fail(channelBusy(call.shape, verificationFailed(quote, call.shape, failure)))
  }
  if (reason === channelReason.left && channel !== null) {
    yield* figures.count("refused", "PAYMENT_EXPOSURE_LIMIT")
    const nowMs = yield* Clock.currentTimeMillis
    const waitMs = leftForgottenMs(channel, voucher.requirements, parts.leaving(name.network), nowMs)
    return yield* Effect.fail(exposureReached(call.shape, secondsFor(waitMs), paymentReason.unpaid))
  }
  const corrected = channel === null ? quote : correctiveQuote(quote, name.channelId, channel)
  return yield* refuse(figures, { call, quote: corrected }, new PaymentRefused({ code: codeOf(reason), reason, payer }))
})
