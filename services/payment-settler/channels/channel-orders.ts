/**
 * Deposits, refunds and chain reads that gateways order on `payments.channels`. Each order can arrive twice: the chain
 * itself accepts a deposit's authorization and a refund's number only once. The channel's record is synchronized with
 * the chain before the order is answered. The transaction of a deposit, of a refund or of anything another server has
 * signed is recorded before it is sent: if a settler dies, its caller passes the order to another settler, which looks
 * for that transaction before it signs one itself.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, Layer, Option, Result, Schema } from "effect"
import { type BusError, Kv, type KvBucket, records, replaced, Requests } from "#bus"
import {
  addressKeyOf,
  type ChannelOrder,
  type ChannelOrderAnswer,
  type ChannelSettlement,
  InstanceName,
  TransactionId
} from "#payments/contract"
import { subjects } from "#base"
import { Metrics } from "#runtime"
import {
  type CallOutcome,
  type ChainUnavailable,
  type Channel,
  channelIdIn,
  ChannelCommand,
  type ChannelName,
  channelOrderAnswerCodec,
  channelOrderCodec,
  type ChannelRefused,
  Channels,
  chargeReceipt,
  claimBatchMessage,
  claimCall,
  depositCall,
  depositNonce,
  multicallOf,
  owedOf,
  type OwedReceipt,
  plainSignature,
  refundCall,
  refundMessage,
  type SeenChannel,
  settleCall,
  signedDeposit,
  sweptIn
} from "#payments"
import { Ledger } from "../ledger.ts"
import { channelOrders } from "../metrics.ts"
import { claimableOf } from "./claiming.ts"
import { type ChannelNetwork, ChannelNetworks, transact } from "./ChannelNetworks.ts"

// Deposits and refunds each wait for a block.
const atOnceMax = 64

const depositGas = 400_000n
const claimGas = (rows: number) => 120_000n + 110_000n * BigInt(rows)
const settleGas = 150_000n
const refundGas = 400_000n

export const answerChannelOrders = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* ChannelNetworks
    if (networks.size === 0) return
    const notes = yield* (yield* Kv).open("payment-books", SignedOrder)
    const counter = (yield* Metrics).counter(channelOrders)
    yield* (yield* Requests).answer({
      subject: subjects.paymentsChannels,
      queueGroup: "payment-settler",
      question: channelOrderCodec,
      answer: channelOrderAnswerCodec,
      concurrency: atOnceMax,
      handler: Effect.fnUntraced(function* (order: ChannelOrder) {
        const answer = yield* obey(networks, notes, order).pipe(
          Effect.catch((error) => Effect.succeed(unavailable(error.message))),
          Effect.catchDefect((defect) =>
            Effect.as(Effect.logError("an order about a channel died", defect), unavailable("an unexpected error"))
          )
        )
        counter.inc({ network: order.network, order: order._tag, outcome: answer._tag })
        if (answer._tag !== "Done") {
          const channel = order._tag === "Send" ? "another server's" : order.channelId
          yield* Effect.logWarning("an order about a channel was not carried out").pipe(
            Effect.annotateLogs({ order: order._tag, channel, ...answer })
          )
        }
        return answer
      })
    })
  })
)

const unavailable = (detail: string): ChannelOrderAnswer => ({ _tag: "Unavailable", detail: detail.slice(0, 1_024) })
const refused = (name: string, detail?: string): ChannelOrderAnswer => ({
  _tag: "Refused",
  reason: `invalid_batch_settlement_evm_${name}`,
  ...(detail === undefined ? {} : { detail: detail.slice(0, 1_024) })
})
const done = (transaction: string | null, amount: bigint): ChannelOrderAnswer => ({
  _tag: "Done",
  transaction,
  amount: amount.toString()
})

type Faults =
  | BusError
  | ChainUnavailable
  | ChannelRefused
  | { readonly _tag: "SettlementPending"; readonly message: string }
type Answered = Effect.Effect<ChannelOrderAnswer, Faults, Channels | Ledger>

/**
 * The transaction that was signed last for a deposit, or for a refund with the number that the contract accepts once.
 */
const SignedOrder = Schema.Struct({
  transaction: TransactionId,
  refund: Schema.NullOr(Schema.Struct({ nonce: Schema.String, amount: Schema.String })),
  /** For a sweep: the order for which it was signed. */
  ticket: Schema.optionalKey(InstanceName),
  /** For a sweep: it was returned as an answer. Until then, it answers the next caller. */
  isTold: Schema.optionalKey(Schema.Boolean)
})
interface SignedOrder extends Schema.Schema.Type<typeof SignedOrder> {}
type Notes = KvBucket<SignedOrder>

// An order is repeated within seconds, and a payer that was asked to come back does so within a day.
const notedMs = 86_400_000

const signedOrders = (notes: Notes, { network, channelId }: ChannelName, id: string) => {
  const key = `order.${addressKeyOf(network, channelId)}.${id}`
  return {
    last: Effect.map(
      notes.get(key),
      Option.map(({ value }) => value)
    ),
    /** If two settlers work on one order, the later note wins; the second transaction to arrive does nothing. */
    note: (signed: SignedOrder) =>
      Effect.asVoid(records(notes, { keptMs: () => notedMs }).change(key, () => replaced(signed)))
  }
}

const obey = (networks: ReadonlyMap<string, ChannelNetwork>, notes: Notes, order: ChannelOrder): Answered => {
  const network = networks.get(order.network)
  if (network === undefined) return Effect.succeed(unavailable(`${order.network} has no channels here`))
  if (order._tag === "Send") return sendForeign(network, notes, order)
  if (channelIdIn(network.contract, order.config) !== order.channelId) {
    return Effect.succeed(refused("channel_id_mismatch"))
  }
  switch (order._tag) {
    case "Look":
      return Effect.as(mirror(network, order), done(null, 0n))
    case "Receipt":
      return Effect.as(receiptsOf(order), done(null, 0n))
    case "Deposit":
      return makeDeposit(network, notes, order)
    case "Claim":
      return makeClaim(network, order)
    case "Refund":
      return Effect.catchTag(makeRefund(network, notes, order), "ChannelRefused", ({ reason }) =>
        Effect.succeed<ChannelOrderAnswer>({ _tag: "Refused", reason })
      )
  }
}

/**
 * The gateway reports with the channel's next voucher that they are written; the record is not written just for that.
 */
const receiptsOf = Effect.fnUntraced(function* (order: ChannelName) {
  const found = yield* (yield* Channels).read(order)
  if (Option.isSome(found)) yield* writeOwed(order, found.value, owedOf(found.value))
})

// The broker remembers a written id for two minutes; within this time it surely still does.
const rememberedMs = 60_000

const writeOwed = Effect.fnUntraced(function* (
  { channelId }: ChannelName,
  channel: Channel,
  due: ReadonlyArray<OwedReceipt>
) {
  const ledger = yield* Ledger
  const nowMs = yield* Clock.currentTimeMillis
  const write = (owed: OwedReceipt) =>
    ledger.writeCharge(
      { ticket: owed.ticket, receipt: chargeReceipt(channel, channelId, owed) },
      nowMs - owed.chargedAtMs > rememberedMs
    )
  // A record owes a few dozen at most.
  yield* Effect.forEach(due, write, { concurrency: "unbounded", discard: true })
})

/** Writes the receipts that a channel has owed for this long, and records that. */
export const writeReceipts = Effect.fnUntraced(function* (
  name: ChannelName,
  channel: Channel,
  sinceMs: number
): Effect.fn.Return<void, BusError | ChannelRefused, Channels | Ledger> {
  const nowMs = yield* Clock.currentTimeMillis
  const due = owedOf(channel).filter(({ chargedAtMs }) => chargedAtMs <= nowMs - sinceMs)
  if (due.length === 0) return
  yield* writeOwed(name, channel, due)
  yield* (yield* Channels).run(name, ChannelCommand.Receipted({ tickets: due.map(({ ticket }) => ticket) }))
})

/** Synchronizes the channel's record with the chain. */
export const mirror = Effect.fnUntraced(function* (
  { contract }: Pick<ChannelNetwork, "contract">,
  { network, channelId, config }: Pick<DepositOrder, "network" | "channelId" | "config">
): Effect.fn.Return<SeenChannel, BusError | ChainUnavailable | ChannelRefused, Channels> {
  const seen = yield* contract.state(channelId)
  yield* (yield* Channels).run(
    { network, channelId },
    ChannelCommand.Mirror({ network, config, mirror: mirrorOf(seen) })
  )
  return seen
})

export const mirrorOf = (seen: SeenChannel) => ({
  balance: seen.balance.toString(),
  totalClaimed: seen.totalClaimed.toString(),
  withdrawAmount: seen.withdrawAmount.toString(),
  withdrawRequestedAt: seen.withdrawRequestedAt,
  refundNonce: seen.refundNonce.toString(),
  block: seen.block
})

type DepositOrder = Extract<ChannelOrder, { readonly _tag: "Deposit" }>

const isAuthorizationUsed = ({ contract }: ChannelNetwork, { channelId, config, authorization }: DepositOrder) =>
  "salt" in authorization
    ? contract.isAuthorizationUsed(config.token, config.payer, depositNonce(channelId, authorization.salt))
    : contract.isPermitUsed(config.payer, BigInt(authorization.nonce))

/** A deposit by Permit2 needs the payer's approval, made earlier or signed with it. */
const isDepositApproved = ({ contract }: ChannelNetwork, { config, amount, authorization }: DepositOrder) =>
  "salt" in authorization || authorization.approval !== null
    ? Effect.succeed(true)
    : Effect.map(contract.approvedForPermit2(config.token, config.payer), (approved) => approved >= BigInt(amount))

/** A deposit's name among those of its channel. */
const depositIdOf = ({ channelId, authorization }: DepositOrder) =>
  "salt" in authorization ? depositNonce(channelId, authorization.salt) : `permit2-${authorization.nonce}`

const makeDeposit = Effect.fnUntraced(function* (
  network: ChannelNetwork,
  notes: Notes,
  order: DepositOrder
): Effect.fn.Return<ChannelOrderAnswer, Faults, Channels> {
  const { channelId, config, authorization } = order
  const amount = BigInt(order.amount)
  const orders = signedOrders(notes, order, depositIdOf(order))
  const signed = Option.getOrUndefined(yield* orders.last)
  const earlier = signed && Option.getOrUndefined(yield* network.contract.outcomeOf(signed.transaction))
  const recorded = order.isForeign === true ? Effect.void : mirror(network, order)
  if (signed !== undefined && earlier?._tag === "Made") {
    yield* recorded
    return done(signed.transaction, amount)
  }
  const isMade = isAuthorizationUsed(network, order)
  const data = depositCall(config, amount, signedDeposit(authorization))
  const simulated = yield* Effect.result(network.contract.simulate(data))
  if (Result.isFailure(simulated)) {
    if (simulated.failure._tag === "ChainUnavailable") return yield* simulated.failure
    // Already sent, by us or by someone else: the money is in the channel.
    if (!(yield* isMade)) {
      const isApproved = yield* isDepositApproved(network, order)
      return refused(isApproved ? "deposit_simulation_failed" : "permit2_allowance_required", simulated.failure.text)
    }
    yield* recorded
    return done(null, 0n)
  }
  // A deposit that its voucher cannot use would cost us its fee for nothing.
  const before = yield* network.contract.state(channelId)
  if (BigInt(order.maxClaimable) > before.balance + amount) return refused("cumulative_exceeds_balance")
  if (BigInt(order.maxClaimable) <= before.totalClaimed) return refused("cumulative_below_claimed")
  const noted = (transaction: string) => orders.note({ transaction, refund: null })
  const outcome = yield* transact(network, { data, gas: depositGas, noted })
  if (outcome._tag === "Refused" && !(yield* isMade)) return refused("deposit_transaction_failed")
  yield* recorded
  return outcome._tag === "Made" ? done(outcome.receipt.transactionHash, amount) : done(null, 0n)
})

/** Claims what one channel owes now. */
const makeClaim = Effect.fnUntraced(function* (
  network: ChannelNetwork,
  order: Extract<ChannelOrder, { readonly _tag: "Claim" }>
): Effect.fn.Return<ChannelOrderAnswer, Faults, Channels> {
  const { contract } = network
  const authorizer = network.authorizerOf(order.config)
  if (authorizer === undefined) return unavailable("the key of the channel's authorizer is not configured")
  yield* mirror(network, order)
  const found = Option.getOrUndefined(yield* (yield* Channels).read(order))
  const row = found && claimableOf(found)
  if (row === undefined) return done(null, 0n)
  const data = claimCall([row], yield* authorizer.sign(claimBatchMessage(contract.separator, [row])))
  const simulated = yield* Effect.result(contract.simulate(data))
  if (Result.isFailure(simulated)) {
    if (simulated.failure._tag === "ChainUnavailable") return yield* simulated.failure
    return unavailable(`the contract refuses a claim: ${simulated.failure.text}`)
  }
  const outcome = yield* transact(network, { data, gas: claimGas(1) })
  const after = yield* mirror(network, order)
  // Refused if the keeper has claimed the same amount in the meantime.
  if (outcome._tag === "Made") return done(outcome.receipt.transactionHash, row.totalClaimed)
  return after.totalClaimed >= row.totalClaimed ? done(null, 0n) : unavailable("the contract has refused a claim")
})

type RefundOrder = Extract<ChannelOrder, { readonly _tag: "Refund" }>

/** Claims what was charged and returns the rest, or part of it: both or neither. */
const makeRefund = Effect.fnUntraced(function* (
  network: ChannelNetwork,
  notes: Notes,
  order: RefundOrder
): Effect.fn.Return<ChannelOrderAnswer, Faults, Channels> {
  const { contract } = network
  const { channelId, config, voucher } = order
  const authorizer = network.authorizerOf(config)
  if (authorizer === undefined) return refused("refund_authorizer_unknown")
  // A gateway of an earlier release sends it once.
  const orders = order.ticket === undefined ? undefined : signedOrders(notes, order, `refund-${order.ticket}`)
  const signed = orders && Option.getOrUndefined(yield* orders.last)
  if (signed !== undefined) yield* contract.outcomeOf(signed.transaction)
  const before = yield* mirror(network, order)
  if (signed?.refund && before.refundNonce > BigInt(signed.refund.nonce)) {
    return done(signed.transaction, BigInt(signed.refund.amount))
  }
  const charged = BigInt(voucher.maxClaimable)
  const left = before.balance - (charged > before.totalClaimed ? charged : before.totalClaimed)
  if (left <= 0n) return refused("refund_no_balance")
  const wanted = order.amount === null ? left : BigInt(order.amount)
  if (wanted <= 0n) return refused("refund_amount_invalid")
  const amount = wanted < left ? wanted : left
  const { separator } = contract
  const refundSignature = yield* authorizer.sign(refundMessage(separator, channelId, before.refundNonce, amount))
  const refund = refundCall(config, amount, before.refundNonce, refundSignature)
  const claims = [{ config, maxClaimable: charged, signature: voucher.signature, totalClaimed: charged }]
  const claim = claimCall(claims, yield* authorizer.sign(claimBatchMessage(separator, claims)))
  const data = charged > before.totalClaimed ? multicallOf([claim, refund]) : refund
  const simulated = yield* Effect.result(contract.simulate(data))
  if (Result.isFailure(simulated)) {
    if (simulated.failure._tag === "ChainUnavailable") return yield* simulated.failure
    return refused("refund_simulation_failed", simulated.failure.text)
  }
  // From here on the money can leave at any time, whichever process dies: no call may be sold against it.
  const numbered = { nonce: before.refundNonce.toString(), amount: amount.toString() }
  yield* (yield* Channels).run(order, ChannelCommand.SignRefund(numbered))
  const noted = (transaction: string) => orders?.note({ transaction, refund: numbered }) ?? Effect.void
  const outcome = yield* transact(network, { data, gas: refundGas, noted })
  const after = yield* mirror(network, order)
  if (outcome._tag === "Made") return done(outcome.receipt.transactionHash, amount)
  // Another settler with the same order was first.
  if (after.refundNonce > before.refundNonce) return done(null, before.balance - after.balance)
  return refused("refund_transaction_failed")
})

type SendOrder = Extract<ChannelOrder, { readonly _tag: "Send" }>

/** What another server has signed is sent unchanged: the contract checks who may claim and refund. */
const sendForeign = Effect.fnUntraced(function* (
  network: ChannelNetwork,
  notes: Notes,
  { settlement, ticket }: SendOrder
): Effect.fn.Return<ChannelOrderAnswer, Faults> {
  const { contract } = network
  const { data, gas } = foreignCall(settlement)
  const orders = signedOrders(notes, { network: network.name, channelId: `0x${sha256Of(data)}` }, settlement.type)
  const signed = Option.getOrUndefined(yield* orders.last)
  const outcome =
    signed === undefined ? undefined : Option.getOrUndefined(yield* contract.outcomeOf(signed.transaction))
  const earlier = outcome?._tag === "Made" ? outcome : undefined
  const noteOf = (transaction: string, isAnswered: boolean): SignedOrder =>
    settlement.type === "settle" && ticket !== undefined
      ? { transaction, refund: null, ticket, isTold: isAnswered }
      : { transaction, refund: null }
  // A sweep not yet recorded as answered also answers the next caller.
  const answerOf = (made: MadeCall) => {
    const { transactionHash } = made.receipt
    const noted = settlement.type === "settle" ? Effect.ignore(orders.note(noteOf(transactionHash, true))) : Effect.void
    return Effect.as(noted, done(transactionHash, movedBy(settlement, made)))
  }
  // All sweeps are the same call: only the ticket shows that this exact order was already carried out.
  const isSame = settlement.type !== "settle" || (signed?.ticket !== undefined && signed.ticket === ticket)
  if (earlier !== undefined && isSame) return yield* answerOf(earlier)
  if (settlement.type === "settle") {
    const { totalClaimed, totalSettled } = yield* contract.totals(settlement.receiver, settlement.token)
    if (totalClaimed <= totalSettled) {
      return earlier !== undefined && signed?.isTold === false ? yield* answerOf(earlier) : refused("nothing_to_settle")
    }
  }
  const simulated = yield* Effect.result(contract.simulate(data))
  if (Result.isFailure(simulated)) {
    if (simulated.failure._tag === "ChainUnavailable") return yield* simulated.failure
    return refused(`${settlement.type}_simulation_failed`, simulated.failure.text)
  }
  const sent = yield* transact(network, { data, gas, noted: (transaction) => orders.note(noteOf(transaction, false)) })
  // A transaction of a settler that died may have come first, after the lookup.
  const isEmpty = sent._tag === "Refused" || (settlement.type === "settle" && movedBy(settlement, sent) === 0n)
  const mayBeFirst = signed !== undefined && isEmpty && (isSame || signed.isTold === false)
  const first = mayBeFirst ? yield* contract.outcomeOf(signed.transaction) : Option.none()
  const made = Option.isSome(first) && first.value._tag === "Made" ? first.value : sent
  return made._tag === "Made" ? yield* answerOf(made) : refused(`${settlement.type}_transaction_failed`)
})

const sha256Of = (data: Uint8Array) => createHash("sha256").update(data).digest("hex")

const rowsOf = ({ claims }: Extract<ChannelSettlement, { readonly type: "claim" | "refund" }>) =>
  claims.map(({ voucher, signature, totalClaimed }) => ({
    config: voucher.channel,
    maxClaimable: BigInt(voucher.maxClaimableAmount),
    signature: plainSignature(signature),
    totalClaimed: BigInt(totalClaimed)
  }))

const bytesIn = (hex: string) => Buffer.from(hex.slice(2), "hex")

const foreignCall = (settlement: ChannelSettlement): { readonly data: Uint8Array; readonly gas: bigint } => {
  switch (settlement.type) {
    case "claim": {
      const rows = rowsOf(settlement)
      return { data: claimCall(rows, bytesIn(settlement.claimAuthorizerSignature)), gas: claimGas(rows.length) }
    }
    case "settle":
      return { data: settleCall(settlement.receiver, settlement.token), gas: settleGas }
    case "refund": {
      const { channelConfig, amount, refundNonce, refundAuthorizerSignature, claimAuthorizerSignature } = settlement
      const signature = bytesIn(refundAuthorizerSignature)
      const refund = refundCall(channelConfig, BigInt(amount), BigInt(refundNonce), signature)
      const rows = rowsOf(settlement)
      if (rows.length === 0 || claimAuthorizerSignature === undefined) return { data: refund, gas: refundGas }
      const claim = claimCall(rows, bytesIn(claimAuthorizerSignature))
      return { data: multicallOf([claim, refund]), gas: refundGas + claimGas(rows.length) }
    }
  }
}

type MadeCall = Extract<CallOutcome, { readonly _tag: "Made" }>

/** The amount that the transaction moved; a claim moves nothing. */
const movedBy = (settlement: ChannelSettlement, { receipt }: MadeCall) => {
  if (settlement.type === "claim") return 0n
  return settlement.type === "settle" ? sweptIn(receipt.logs) : BigInt(settlement.amount)
}
