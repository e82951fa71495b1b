/**
 * Calls that are paid by channel. A voucher is checked here, and stored before anything of its answer goes out; so is
 * what the answer costs: by one write, where the answer is made at once. Neither asks a chain, a facilitator or a
 * verifier, while the settlers watch the chain: its record says what lies in the channel. Deposits, refunds and channels
 * that are not known yet are ordered of the settlers.
 *
 * A channel pays for one call at a time. A call that fails gives its voucher back; a gateway that dies gives it back when
 * the lease is over, unless its stream had begun. A whole answer is kept with its charge, or before it where it is long:
 * to the last voucher that was charged, with the same request, it is given again.
 */
import { Clock, Context, Effect, Latch, Layer, Option, Ref, Result, type Scope, Stream } from "effect"
import { type BusError, Kv, Mailbox, Requests } from "#bus"
import {
  type ChannelOrder,
  type ChannelOrderAnswer,
  channelScheme,
  ChannelWatch,
  type PaymentPayload,
  type PaymentRequirements
} from "#payments/contract"
import { setNewest, subjects } from "#base"
import { Configuration } from "#configuration"
import { Metrics, supervise, timed } from "#runtime"
import {
  atomicAmount,
  type Channel,
  ChannelCommand,
  channelHeaders,
  channelKeyOf,
  type ChannelName,
  channelOrderAnswerCodec,
  channelOrderCodec,
  channelReason,
  ChannelRefused,
  Channels,
  channelVerifier,
  type CheckedVoucher,
  codeOf,
  correctiveQuote,
  depositFault,
  evmChainIdOf,
  leftForgottenMs,
  type LeavingTerms,
  microUsdOf,
  newTicket,
  owedOf,
  plainSignature,
  paymentReason,
  PaymentRefused,
  type Quote,
  type ReplyShape,
  statedPayer,
  type Tariff,
  tariffOf,
  verificationFailed
} from "#payments"
import { charged, type PaymentOutcome, paymentOutcomes, paymentSeconds, signedAndCharged } from "../metrics.ts"
import { PaidAnswers } from "./kept-calls.ts"
import { heldTo, leastPrice, nothingUsed, type Used, usedPrice } from "./charge.ts"
import { type CallTasks, type EndedAnswer, NotAsked, openCall, type PaidCall, type SettledCall } from "./paid-call.ts"
import type { PayableCall } from "./quote.ts"
import { channelBusy, exposureReached, paidBefore, type PaymentRefusal, refusalOf, unavailable } from "./replies.ts"

/** A payment by channel that fits the quote of its call. */
export interface OfferedVoucher {
  readonly call: PricedCall
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  /** The request, by its hash, and the client's name for it; a refund has neither. */
  readonly binding?: string
  readonly identifier?: string | null
}

type PricedCall = Pick<PayableCall, "kind" | "model" | "shape" | "prices" | "prompt" | "count" | "jobId">

/** What a refund has given back. */
export interface RefundedChannel {
  readonly network: string
  readonly headers: Readonly<Record<string, string>>
  readonly amount: string
  readonly transaction: string | null
}

export class ChannelCalls extends Context.Service<
  ChannelCalls,
  {
    /** Takes the voucher for one call. */
    readonly pay: (offered: OfferedVoucher) => Effect.Effect<PaidCall, PaymentRefusal>
    /** Claims what was charged, and gives the rest, or a part of it, back. */
    readonly refund: (offered: OfferedVoucher) => Effect.Effect<RefundedChannel, PaymentRefusal>
  }
>()("starling/model-gateway/ChannelCalls") {
  static readonly layer = Layer.effect(
    ChannelCalls,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(Channels.layer))
}

interface Parts {
  readonly channels: Channels["Service"]
  readonly order: (order: ChannelOrder) => Effect.Effect<ChannelOrderAnswer, BusError>
  readonly check: (offered: OfferedVoucher, nowMs: number) => Result.Result<CheckedVoucher, PaymentRefused>
  /** Whether the settlers have watched the chain of a network lately. */
  readonly isWatched: (network: string, nowMs: number) => boolean
  readonly holder: string
  readonly leaseMs: number
  readonly tariff: Tariff
  /** Dollars in the smallest unit of a network's token. */
  readonly unitsOf: (microUsd: bigint, network: string) => bigint
  readonly answers: PaidAnswers["Service"]
  readonly receipts: WrittenReceipts
  /** The calls in work, and when each was last known to hold its channel. */
  readonly held: Map<Held, number>
  /** The most that one channel of a network may owe, in the smallest unit of its token. */
  readonly unclaimedMax: (network: string) => bigint
  readonly leaving: (network: string) => LeavingTerms
  readonly scope: Scope.Scope
  readonly count: (outcome: PaymentOutcome, code?: string) => Effect.Effect<void>
  readonly earned: (held: Held) => Effect.Effect<void>
  readonly timed: <A, E>(stage: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

// A deposit waits for a block; a settler gives up after that, and the order may be given again.
const orderTimeoutMs = 30_000
// A settler tells twice a second that it is at work.
const silenceMsMax = 2_000

const make = Effect.gen(function* () {
  const { Payments } = yield* Configuration
  const requests = yield* Requests
  const metrics = yield* Metrics
  const counter = metrics.counter(paymentOutcomes)
  const seconds = metrics.histogram(paymentSeconds)
  const revenue = metrics.counter(charged)
  const bySchemes = metrics.counter(signedAndCharged)
  const watches = yield* Ref.make<ReadonlyMap<string, number>>(new Map())
  if (Payments.Channels.length > 0) yield* followWatches(watches)
  const decimals = new Map(Payments.Networks.map((entry) => [entry.Network, entry.AssetDecimals]))
  const unitsOf = (microUsd: bigint, network: string) => atomicAmount(microUsd, decimals.get(network) ?? 6)
  const verifiers = new Map(
    Payments.Channels.map(({ Network }) => [Network, channelVerifier(Network, evmChainIdOf(Network))])
  )
  const parts: Parts = {
    channels: yield* Channels,
    order: (order) =>
      requests.ask(
        {
          subject: subjects.paymentsChannels,
          question: channelOrderCodec,
          answer: channelOrderAnswerCodec,
          timeoutMs: orderTimeoutMs,
          silence: {
            msMax: silenceMsMax,
            onSilence: Effect.sync(() => counter.inc({ outcome: "asked_again", code: "" }))
          }
        },
        order
      ),
    check: ({ payload, requirements }, nowMs) => {
      const verifier = verifiers.get(requirements.network)
      return verifier === undefined
        ? Result.fail(refusedFor("network_mismatch", null))
        : verifier(payload, requirements, nowMs)
    },
    isWatched: (network, nowMs) => {
      const atMs = Ref.getUnsafe(watches).get(network)
      return atMs !== undefined && nowMs - atMs <= Payments.ChannelMirrorSeconds * 1_000
    },
    holder: (yield* Mailbox).instance,
    leaseMs: Payments.LeaseSeconds * 1_000,
    tariff: tariffOf(Payments),
    unitsOf,
    answers: yield* PaidAnswers,
    receipts: writtenReceipts(),
    held: new Map(),
    unclaimedMax: (network) => unitsOf(microUsdOf(Payments.ChannelUnclaimedMaxUsd), network),
    leaving: (network) => ({
      newcomerMax: unitsOf(microUsdOf(Payments.UnpaidNewcomerUsd), network),
      payerMax: unitsOf(microUsdOf(Payments.UnpaidPayerMaxUsd), network)
    }),
    scope: yield* Effect.scope,
    earned: ({ voucher, charge }) =>
      Effect.sync(() => {
        const { call, requirements } = voucher
        const usdOf = (units: bigint) => Number(units) / 10 ** (decimals.get(requirements.network) ?? 6)
        const scheme = channelScheme
        revenue.inc({ model: call.model, outcome: "settled" }, usdOf(charge))
        bySchemes.inc({ scheme, part: "signed" }, usdOf(ceilingOf(voucher)))
        bySchemes.inc({ scheme, part: "charged" }, usdOf(charge))
      }),
    count: (outcome, code = "") => Effect.sync(() => counter.inc({ outcome, code })),
    timed: (stage, work) => timed((took) => seconds.observe({ stage }, took), work)
  }
  yield* Effect.forkScoped(supervise("leases of channels", renewAll(parts)))
  return ChannelCalls.of({ pay: (offered) => pay(parts, offered), refund: (offered) => refund(parts, offered) })
})

/** Up to when each chain was watched, as the settlers tell. */
const followWatches = Effect.fnUntraced(function* (watches: Ref.Ref<ReadonlyMap<string, number>>) {
  const bucket = yield* (yield* Kv).open("channel-watches", ChannelWatch)
  const following = Stream.runForEach(bucket.changes, ({ key, entry }) =>
    Option.isNone(entry)
      ? Effect.void
      : Ref.update(watches, (before) => new Map([...before, [key.replace(".", ":"), entry.value.value.atMs]]))
  )
  yield* Effect.forkScoped(supervise("watches of channels", Effect.forever(following)))
})

const evm = (name: string) => `invalid_batch_settlement_evm_${name}`
const refusedFor = (name: string, payer: string | null, detail?: string) =>
  new PaymentRefused({
    code: codeOf(evm(name)),
    reason: evm(name),
    payer,
    ...(detail === undefined ? {} : { detail })
  })

/** A voucher whose fields and signatures are good. */
interface Voucher extends OfferedVoucher {
  readonly checked: CheckedVoucher
  readonly name: { readonly network: string; readonly channelId: string }
}

/** The span of a payment is the gate's. */
const pay = Effect.fnUntraced(function* (
  parts: Parts,
  offered: OfferedVoucher
): Effect.fn.Return<PaidCall, PaymentRefusal> {
  const voucher = yield* checked(parts, offered)
  const { payload } = voucher.checked
  if (payload.type === "refund") return yield* refuse(parts, voucher, refusedFor("payload_type", null))
  const deposit = payload.type === "deposit" ? yield* deposited(parts, voucher) : null
  const ticket = newTicket()
  const begin = { ticket, kind: offered.call.kind, amount: offered.requirements.amount }
  const ahead = yield* begunAhead(parts, voucher, begin)
  if (ahead === undefined) yield* parts.timed("verify", begun(parts, voucher, begin))
  yield* parts.count("verified")
  const held = { voucher, ticket, deposit, ahead, isLost: false, charge: priceOf(parts, voucher, nothingUsed) }
  return open(parts, held, yield* Clock.currentTimeMillis)
})

/** A call whose voucher is not known to be stored yet. */
interface Ahead {
  /** What its record will be told with it. */
  readonly receipted: ReadonlyArray<string>
  /** Who is told when another gateway turns out to have the channel. */
  onLost: (refusal: PaymentRefusal) => void
}

/**
 * Leaves the voucher to be stored with the charge of its call, where the record as this gateway wrote it last allows the
 * call and nothing else is under way on the channel. A voucher is for the very total of that record, so of several
 * gateways only the one that wrote last can think so, and it asks its provider once however many copies come. Where the
 * answer takes longer than `aheadMsMax` the voucher is stored meanwhile; the call is broken off where it cannot be.
 * The caller of an image is told of it before it is made, so its voucher is stored first.
 */
const begunAhead = Effect.fnUntraced(function* (parts: Parts, voucher: Voucher, begin: Begin) {
  const { name, call, checked } = voucher
  if (checked.payload.type !== "voucher" || call.jobId !== undefined) return undefined
  if (!parts.isWatched(name.network, yield* Clock.currentTimeMillis)) return undefined
  const command = beginOf(parts, voucher, begin)
  if (!(yield* parts.channels.beginAhead(name, command))) return undefined
  const ahead: Ahead = { receipted: command.receipted ?? [], onLost: () => undefined }
  return ahead
})

const checked = Effect.fnUntraced(function* (parts: Parts, offered: OfferedVoucher) {
  const nowMs = yield* Clock.currentTimeMillis
  const found = parts.check(offered, nowMs)
  if (Result.isFailure(found)) return yield* refuse(parts, offered, found.failure)
  const { network, channelId } = found.success
  const { binding, identifier } = offered
  // A client that asks the same twice, and keeps no count, tells the two calls apart by a name.
  const request = binding === undefined ? {} : { binding: `${binding} ${identifier ?? ""}`.trimEnd() }
  return { ...offered, ...request, checked: found.success, name: { network, channelId } } satisfies Voucher
})

type Refusable = Pick<OfferedVoucher, "call" | "quote"> & Partial<Pick<OfferedVoucher, "payload">>

const refuse = (
  { count }: Parts,
  { call, quote, payload }: Refusable,
  { code, reason, payer, detail }: PaymentRefused
): Effect.Effect<never, PaymentRefusal> => {
  const failure = { code, reason, payer: payer ?? statedPayer(payload), detail }
  return Effect.andThen(
    count("refused", code),
    Effect.fail(refusalOf(code, verificationFailed(quote, call.shape, failure)))
  )
}

const cannotSay = ({ count }: Parts, shape: ReplyShape): Effect.Effect<never, PaymentRefusal> =>
  Effect.andThen(
    count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE"),
    Effect.fail(unavailable(shape, "The payment channel cannot be looked at just now; send the same payment again", 2))
  )

const targetOf = ({ name, checked }: Voucher) => ({ ...name, config: checked.config })
const signedOf = ({ checked }: Voucher) => ({
  maxClaimable: checked.payload.voucher.maxClaimableAmount,
  signature: plainSignature(checked.payload.voucher.signature)
})

/** The settlers' answer to an order; a refusal of theirs is the payer's. */
const ordered = Effect.fnUntraced(function* (
  parts: Parts,
  voucher: Voucher,
  order: ChannelOrder
): Effect.fn.Return<Extract<ChannelOrderAnswer, { readonly _tag: "Done" }>, PaymentRefusal> {
  const asked = yield* Effect.result(parts.order(order))
  if (Result.isFailure(asked)) {
    yield* Effect.logWarning("no settler answered an order about a channel", asked.failure)
    return yield* cannotSay(parts, voucher.call.shape)
  }
  const answer = asked.success
  if (answer._tag === "Done") return answer
  if (answer._tag === "Unavailable") return yield* cannotSay(parts, voucher.call.shape)
  const { reason, detail } = answer
  const payer = voucher.checked.config.payer
  const refused = new PaymentRefused({
    code: codeOf(reason),
    reason,
    payer,
    ...(detail === undefined ? {} : { detail })
  })
  return yield* refuse(parts, voucher, refused)
})

interface Moved {
  readonly transaction: string
  readonly amount: string
}

/** The deposit is made before the call, so that nothing is given out for money that never comes. */
const deposited = Effect.fnUntraced(function* (
  parts: Parts,
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
  const { transaction } = yield* parts.timed("deposit", ordered(parts, voucher, order))
  return transaction === null ? null : { transaction, amount }
})

/** Refuses a voucher before its deposit is sent, where the channel is known and would refuse it after. */
const isUsable = Effect.fnUntraced(function* (
  parts: Parts,
  voucher: Voucher,
  deposit: bigint
): Effect.fn.Return<void, PaymentRefusal> {
  const { call, requirements, name } = voucher
  if (yield* parts.channels.isAhead(name)) {
    return yield* notBegun(parts, voucher, new ChannelRefused({ reason: channelReason.busy, channel: null }))
  }
  const found = yield* Effect.catch(parts.channels.read(name), (error) => notBegun(parts, voucher, error))
  if (Option.isNone(found)) return
  const work = { kind: call.kind, voucher: signedOf(voucher), amount: requirements.amount }
  const nowMs = yield* Clock.currentTimeMillis
  const reason = depositFault(found.value, work, { deposit, leaving: parts.leaving(name.network), nowMs })
  if (reason !== undefined) return yield* notBegun(parts, voucher, new ChannelRefused({ reason, channel: found.value }))
})

interface Begin {
  readonly ticket: string
  readonly kind: "whole" | "stream" | "refund"
  readonly amount: string
}

const beginOf = ({ holder, leaseMs, receipts, unclaimedMax, leaving }: Parts, voucher: Voucher, begin: Begin) => {
  const { name, call, binding } = voucher
  const request = binding === undefined ? {} : { binding }
  return ChannelCommand.Begin({
    work: { ...begin, ...request, holder, voucher: signedOf(voucher), model: call.model },
    leaseMs,
    receipted: receipts.of(name),
    unclaimedMax: unclaimedMax(name.network),
    leaving: leaving(name.network)
  })
}

type Remedy = "Look" | "Receipt" | "Claim"

/**
 * What a settler can do about a refusal. What a record says of the money may be behind the chain, or there is no record
 * yet; and what is owed of earlier calls may come first.
 */
const remedies: Readonly<Partial<Record<string, Remedy>>> = {
  [channelReason.missing]: "Look",
  [channelReason.notFound]: "Look",
  [channelReason.exceedsBalance]: "Look",
  [channelReason.receiptsOwed]: "Receipt",
  [channelReason.unclaimed]: "Claim"
}

/** Stores the voucher. The chain is looked at first where it is not watched; what a settler can do is tried once. */
const begun = Effect.fnUntraced(function* (
  parts: Parts,
  voucher: Voucher,
  begin: Begin
): Effect.fn.Return<Channel, PaymentRefusal> {
  const { name } = voucher
  const { receipts } = parts
  const done = new Set<string>()
  const remedied = (order: Remedy, channel: Channel | null = null) => {
    done.add(order)
    const obeyed = ordered(parts, voucher, { _tag: order, ...targetOf(voucher) })
    return order === "Receipt" ? Effect.tap(obeyed, () => Effect.sync(() => receipts.add(name, channel))) : obeyed
  }
  const nowMs = yield* Clock.currentTimeMillis
  const isFresh = parts.isWatched(name.network, nowMs) || voucher.checked.payload.type === "deposit"
  if (!isFresh) yield* remedied("Look")
  for (;;) {
    const command = beginOf(parts, voucher, begin)
    const tried = yield* Effect.result(parts.channels.run(name, command))
    if (Result.isSuccess(tried)) {
      receipts.told(name, command.receipted ?? [])
      return tried.success
    }
    const { failure } = tried
    const order = failure._tag === "ChannelRefused" ? remedies[failure.reason] : undefined
    if (order === undefined || done.has(order)) return yield* notBegun(parts, voucher, failure)
    yield* remedied(order, failure._tag === "ChannelRefused" ? failure.channel : null)
  }
})

const notBegun = Effect.fnUntraced(function* (
  parts: Parts,
  voucher: Voucher,
  error: ChannelRefused | BusError
): Effect.fn.Return<never, PaymentRefusal> {
  const { call, quote, name, checked } = voucher
  if (error._tag !== "ChannelRefused") {
    yield* Effect.logWarning("a voucher could not be stored", error)
    return yield* cannotSay(parts, call.shape)
  }
  const { reason, channel } = error
  const { payer } = checked.config
  if (reason === channelReason.mismatch && channel !== null) yield* givenAgain(parts, voucher, channel)
  if (reason === channelReason.unclaimed || reason === channelReason.receiptsOwed) {
    yield* Effect.logWarning("a channel owes too much for another call", error)
    return yield* cannotSay(parts, call.shape)
  }
  if (reason === channelReason.busy) {
    yield* parts.count("refused", "CHANNEL_BUSY")
    const failure = { code: codeOf(reason), reason, payer }
    return yield* Effect.fail(channelBusy(call.shape, verificationFailed(quote, call.shape, failure)))
  }
  if (reason === channelReason.left && channel !== null) {
    yield* parts.count("refused", "PAYMENT_EXPOSURE_LIMIT")
    const nowMs = yield* Clock.currentTimeMillis
    const waitMs = leftForgottenMs(channel, voucher.requirements, parts.leaving(name.network), nowMs)
    return yield* Effect.fail(exposureReached(call.shape, secondsFor(waitMs), paymentReason.unpaid))
  }
  const corrected = channel === null ? quote : correctiveQuote(quote, name.channelId, channel)
  return yield* refuse(parts, { call, quote: corrected }, new PaymentRefused({ code: codeOf(reason), reason, payer }))
})

/** Under which a channel's answer is kept until its payer goes on. */
const answerKeyOf = ({ network, channelId }: Voucher["name"], ticket: string) => `${network} ${channelId} ${ticket}`

/** The answer to the last voucher that was charged: it may have been lost on the way. */
const givenAgain = Effect.fnUntraced(function* (
  parts: Parts,
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
    : yield* parts.answers.find(answerKeyOf(name, ended.ticket)).pipe(
        Effect.map(Option.map(({ body }) => body)),
        Effect.catch(() => cannotSay(parts, voucher.call.shape))
      )
  if (Option.isNone(kept)) return
  yield* parts.count("given_again")
  const chargedAmount = ended.charged
  const headers = channelHeaders({ channelId: name.channelId, channel, chargedAmount, moved: null })
  return yield* Effect.fail(paidBefore({ answer: kept.value, headers }))
})

interface Held {
  readonly voucher: Voucher
  readonly ticket: string
  readonly deposit: Moved | null
  /** Undefined once the voucher is stored. */
  ahead: Ahead | undefined
  /** Another gateway has the channel: there is nothing to give back. */
  isLost: boolean
  /** What is charged for all that was given out. */
  charge: bigint
}

const open = (parts: Parts, held: Held, beganAtMs: number): PaidCall => {
  // One that is not stored is renewed sooner the first time: that stores it.
  const sooner = held.ahead === undefined ? 0 : Math.max(0, parts.leaseMs / 4 - aheadMsMax)
  parts.held.set(held, beganAtMs - sooner)
  const stop = Effect.sync(() => void parts.held.delete(held))
  const call = openCall(tasksOf(parts, held, stop))
  const { ahead } = held
  return ahead === undefined ? call : { ...call, lost: (onLost) => void (ahead.onLost = onLost) }
}

const ceilingOf = ({ requirements }: Pick<OfferedVoucher, "requirements">) => BigInt(requirements.amount)

/** What was used costs so much, and never more than the payer has signed. */
const priceOf = ({ tariff, unitsOf }: Parts, offered: OfferedVoucher, used: Used): bigint =>
  heldTo(unitsOf(usedPrice(tariff, offered.call, used), offered.requirements.network), ceilingOf(offered))

/** False when even the least that it can cost is more than was signed: then nothing more may be given out. */
const measure = (parts: Parts, held: Held, used: Used): boolean => {
  const { voucher } = held
  const least = parts.unitsOf(leastPrice(parts.tariff, voucher.call, used), voucher.requirements.network)
  if (least > ceilingOf(voucher)) return false
  held.charge = priceOf(parts, voucher, used)
  return true
}

/** What was stored with the voucher is known to its record. */
const isStored = ({ receipts }: Parts, held: Held) => {
  if (held.ahead === undefined) return
  receipts.told(held.voucher.name, held.ahead.receipted)
  held.ahead = undefined
}

/** The refusal of a call whose voucher could not be stored any more; undefined for one whose voucher was. */
const lost = Effect.fnUntraced(function* (parts: Parts, held: Held, error: ChannelRefused | BusError) {
  if (held.ahead === undefined || error._tag !== "ChannelRefused" || error.reason === channelReason.workOver) {
    return undefined
  }
  held.isLost = true
  const { onLost } = held.ahead
  const refusal = yield* Effect.flip(notBegun(parts, held.voucher, error))
  onLost(refusal)
  return refusal
})

// An answer that comes sooner has its voucher stored with it. Whoever sends one voucher to several gateways has no more
// than so much of a provider's time for nothing, and once a channel: see `Channels`.
const aheadMsMax = 500

/**
 * Long calls keep their channel, and have their voucher stored. One loop looks after all calls: most end before it sees
 * them.
 */
const renewAll = (parts: Parts) => {
  const { channels, held: calls, leaseMs, scope } = parts
  const renew = (held: Held) => {
    const { voucher, ticket, charge } = held
    return channels.run(voucher.name, ChannelCommand.Renew({ ticket, leaseMs, spent: charge.toString() })).pipe(
      Effect.tap(() => Effect.sync(() => isStored(parts, held))),
      Effect.catchTag("ChannelRefused", (error) =>
        // A call that has ended meanwhile needs it no more.
        calls.delete(held)
          ? Effect.andThen(
              lost(parts, held, error),
              Effect.logWarning("a channel was lost to another gateway", error.message)
            )
          : Effect.void
      ),
      Effect.catch((error) => Effect.logWarning("a channel could not be held on", error))
    )
  }
  const round = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    for (const [held, renewedAtMs] of calls) {
      if (nowMs - renewedAtMs < leaseMs / 4) continue
      calls.set(held, nowMs)
      yield* Effect.forkIn(renew(held), scope)
    }
  })
  return Effect.forever(Effect.delay(round, Math.min(leaseMs / 12, aheadMsMax / 4)))
}

// Whoever waits asks again within the hour: something else may have been forgotten.
const waitSecondsMax = 3_600
const secondsFor = (waitMs: number) => Math.min(waitSecondsMax, Math.max(1, Math.ceil(waitMs / 1_000)))

const tasksOf = (parts: Parts, held: Held, stop: Effect.Effect<void>): CallTasks => {
  const { channels, count } = parts
  const { voucher, ticket } = held
  const { shape } = voucher.call
  const run = (command: ChannelCommand) => patiently(channels.run(voucher.name, command))
  const givenBack = (command: ChannelCommand) =>
    Effect.andThen(
      stop,
      Effect.suspend(() =>
        held.isLost
          ? Effect.void
          : Effect.andThen(count("released"), run(command)).pipe(
              Effect.catch((error) => Effect.logWarning("a channel is free again when its lease ends", error)),
              Effect.asVoid
            )
      )
    )
  return {
    serve: Effect.suspend(() => run(ChannelCommand.Serve({ ticket, spent: held.charge.toString() }))).pipe(
      Effect.map(() => isStored(parts, held)),
      Effect.tapError((error) => Effect.logWarning("a stream cannot be begun", error)),
      Effect.catch((error) =>
        Effect.flatMap(lost(parts, held, error), (refusal) =>
          Effect.fail(refusal ?? unavailable(shape, "The payment could not be held", 1))
        )
      )
    ),
    // Vouchers have no end.
    force: Effect.void,
    keep: stop,
    release: givenBack(ChannelCommand.Release({ ticket })),
    abandon: givenBack(ChannelCommand.Abandon({ ticket })),
    measure: (used) => measure(parts, held, used),
    settle: (answer) => Effect.ensuring(charge(parts, held, answer), stop)
  }
}

const isAway = ({ _tag }: ChannelRefused | BusError) => _tag === "BusUnavailable"

/**
 * A broker that is away for a moment must cost no answer; a second try of what was stored changes nothing. A schedule is
 * begun for that alone, and not with each call.
 */
const patiently = <A, E extends ChannelRefused | BusError>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.catch(work, (error) =>
    isAway(error) ? Effect.retry(Effect.delay(work, "200 millis"), { times: 9, while: isAway }) : Effect.fail(error)
  )

/**
 * Most answers are shorter than this, and stored by the write that charges them. A longer one has a message of its own,
 * for a record is read and written at every step of its channel.
 */
const answerInRecordBytesMax = 8_192

const charge = Effect.fnUntraced(function* (
  parts: Parts,
  held: Held,
  { used, body, costMicroUsd }: EndedAnswer
): Effect.fn.Return<SettledCall, PaymentRefusal | NotAsked> {
  const { voucher, ticket, deposit } = held
  const { call, name, binding } = voucher
  if (used !== null) held.charge = priceOf(parts, voucher, used)
  const amount = held.charge.toString()
  const answer = binding === undefined ? null : body
  const isShort = answer !== null && answer.byteLength <= answerInRecordBytesMax
  const command = ChannelCommand.Charge({
    ticket,
    amount,
    holdsAnswer: isShort ? Buffer.from(answer).toString("base64") : answer !== null,
    ...(costMicroUsd === null ? {} : { providerCost: parts.unitsOf(costMicroUsd, name.network).toString() })
  })
  const charged = parts.timed("settle", patiently(parts.channels.run(name, command)))
  // With the charge or before it: nobody is charged for an answer that dies with this process.
  const keep = (long: Uint8Array) => {
    const kept = { label: { identifier: null, binding: binding ?? "" }, body: long }
    return parts.timed("store", patiently(parts.answers.keep(answerKeyOf(name, ticket), kept)))
  }
  const charging = answer === null || isShort ? charged : Effect.andThen(keep(answer), charged)
  const channel = yield* charging.pipe(
    Effect.tapError((error) => Effect.logWarning("a call could not be charged", error)),
    Effect.catch((error) =>
      Effect.flatMap(lost(parts, held, error), (refusal) => {
        const uncharged = "The payment could not be charged; nothing was charged"
        return Effect.fail(new NotAsked({ refusal: refusal ?? unavailable(call.shape, uncharged, 1) }))
      })
    )
  )
  isStored(parts, held)
  yield* parts.count("settled")
  yield* parts.earned(held)
  yield* receipted(parts, held, channel)
  return { headers: channelHeaders({ channelId: name.channelId, channel, chargedAmount: amount, moved: deposit }) }
})

/**
 * Behind the answer, and for a channel's next calls with it. Without a settler's word the record of the channel goes on
 * owing the receipts.
 */
const receipted = ({ receipts, order, scope }: Parts, { voucher }: Held, channel: Channel): Effect.Effect<unknown> => {
  const due = receipts.due(voucher.name, channel)
  if (due === undefined) return Effect.void
  const asked = Effect.suspend(() => {
    const owing = due.take()
    return Effect.map(order({ _tag: "Receipt", ...targetOf(voucher) }), ({ _tag }) =>
      _tag === "Done" ? receipts.add(voucher.name, owing) : undefined
    )
  })
  return Effect.timeoutOption(due.isEnough, receiptsWithinMs).pipe(
    Effect.andThen(asked),
    Effect.catch((error) => Effect.logWarning("the receipts of a channel are written later", error)),
    Effect.forkIn(scope)
  )
}

/** A busy channel asks for the receipts of several calls at once: each order is a look at its record. */
const receiptsWithinMs = 500
// A record that owes more is longer than what it saves.
const receiptsAtOnce = 4

// What is forgotten here the settlers note by themselves.
const channelsMax = 16_384

/** Receipts that are not asked for yet. */
interface DueReceipts {
  /** Opens when there is no reason to wait any longer. */
  readonly isEnough: Effect.Effect<void>
  /** The channel as it was charged last. A later charge begins anew. */
  readonly take: () => Channel
}

/** Receipts that settlers have written, of which the channels' records are not told yet. */
const writtenReceipts = () => {
  const known = new Map<string, ReadonlyArray<string>>()
  const waiting = new Map<string, { channel: Channel; readonly latch: Latch.Latch }>()
  const of = (name: ChannelName) => known.get(channelKeyOf(name)) ?? []
  const set = (name: ChannelName, tickets: ReadonlyArray<string>) => {
    const key = channelKeyOf(name)
    if (tickets.length > 0) setNewest(known, key, tickets, channelsMax)
    else known.delete(key)
  }
  return {
    of,
    /** All that the record owed. */
    add: (name: ChannelName, channel: Channel | null) =>
      set(name, [...new Set([...of(name), ...(channel === null ? [] : owedOf(channel)).map(({ ticket }) => ticket)])]),
    told: (name: ChannelName, tickets: ReadonlyArray<string>) =>
      set(
        name,
        of(name).filter((ticket) => !tickets.includes(ticket))
      ),
    /** Undefined where a fiber waits already: it asks for this one too. */
    due: (name: ChannelName, channel: Channel): DueReceipts | undefined => {
      const key = channelKeyOf(name)
      const present = waiting.get(key)
      const one = present ?? { channel, latch: Latch.makeUnsafe() }
      one.channel = channel
      if (owedOf(channel).length >= receiptsAtOnce) one.latch.openUnsafe()
      if (present !== undefined) return undefined
      waiting.set(key, one)
      const take = () => {
        waiting.delete(key)
        return one.channel
      }
      return { isEnough: one.latch.await, take }
    }
  }
}
type WrittenReceipts = ReturnType<typeof writtenReceipts>

const refund = Effect.fn("ChannelCalls.refund")(function* (
  parts: Parts,
  offered: OfferedVoucher
): Effect.fn.Return<RefundedChannel, PaymentRefusal> {
  const voucher = yield* checked(parts, offered)
  const { payload } = voucher.checked
  if (payload.type !== "refund") return yield* refuse(parts, voucher, refusedFor("payload_type", null))
  if (payload.amount === "0") return yield* refuse(parts, voucher, refusedFor("refund_amount_invalid", null))
  const ticket = newTicket()
  yield* begun(parts, voucher, { ticket, kind: "refund", amount: "0" })
  return yield* Effect.uninterruptibleMask((restore) => givenBack(parts, voucher, ticket, restore))
})

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

const givenBack = Effect.fnUntraced(function* (
  parts: Parts,
  voucher: Voucher,
  ticket: string,
  restore: Restore
): Effect.fn.Return<RefundedChannel, PaymentRefusal> {
  const { name, checked } = voucher
  const amount = checked.payload.type === "refund" ? (checked.payload.amount ?? null) : null
  const order: ChannelOrder = { _tag: "Refund", ...targetOf(voucher), amount, voucher: signedOf(voucher), ticket }
  const release = Effect.ignore(parts.channels.run(name, ChannelCommand.Release({ ticket })))
  const answer = yield* Effect.onError(restore(ordered(parts, voucher, order)), () => release)
  // The refund's voucher covers all charges, and takes the place of the last one.
  const channel = yield* patiently(parts.channels.run(name, ChannelCommand.Charge({ ticket, amount: "0" }))).pipe(
    Effect.catch(() => cannotSay(parts, voucher.call.shape))
  )
  const moved = answer.transaction === null ? null : { transaction: answer.transaction, amount: answer.amount }
  const headers = channelHeaders({ channelId: name.channelId, channel, chargedAmount: null, moved })
  return { network: name.network, headers, amount: answer.amount, transaction: answer.transaction }
})
