/**
 * A payment channel as its receiver records it: the amount charged, the newest voucher that covers the charges, the
 * chain's state of the channel, and the call in progress. `decide` answers a command with facts or refuses it; `evolve`
 * returns the state after a fact. Pure.
 *
 * It guarantees, whichever process crashes at any point: one call at a time; a voucher is stored before any part of its
 * answer is sent; nothing is charged without a stored voucher that covers it, nor beyond the channel's balance less
 * what is being returned to the payer; a failed call's voucher can be used again; a stream that has begun to go out is
 * charged its last recorded cost; each charge is kept until its receipt is written; and an answer held in the record is
 * stored by the same write that charges it.
 *
 * Every charge of a channel gets its own receipt, like any other payment. A charge stays in the channel's record until
 * its receipt is known to be written. Pure.
 */
import { Data, Result, Schema } from "effect"
import {
  AtomicAmount,
  ChannelConfig,
  channelScheme,
  claimKeyOf,
  InstanceName,
  Network,
  type Receipt,
  Voucher
} from "#payments/contract"

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The chain's state of a channel, as of a block. Amounts are in the token's smallest unit. */
export const ChannelMirror = Schema.Struct({
  /** All deposits, less what was withdrawn or refunded. */
  balance: AtomicAmount,
  totalClaimed: AtomicAmount,
  /** The amount of a withdrawal that the payer has begun; zero without one. */
  withdrawAmount: AtomicAmount,
  /** Unix seconds; 0 without a withdrawal. */
  withdrawRequestedAt: NonNegativeInt,
  refundNonce: AtomicAmount,
  block: NonNegativeInt
})
export interface ChannelMirror extends Schema.Schema.Type<typeof ChannelMirror> {}

/** `whole` and `stream`: a call; `refund`: a refund to the payer. */
export const ChannelWorkKind = Schema.Literals(["whole", "stream", "refund"])
export type ChannelWorkKind = Schema.Schema.Type<typeof ChannelWorkKind>

/** The channel's current use. Nothing else begins until it ends or its lease expires. */
export const ChannelWork = Schema.Struct({
  /** Drawn once for this work. */
  ticket: InstanceName,
  /** The gateway instance. */
  holder: InstanceName,
  kind: ChannelWorkKind,
  voucher: Voucher,
  /** The most that it may be charged; zero for a refund. */
  amount: AtomicAmount,
  model: Schema.NullOr(Schema.String),
  /** The request's hash; absent where its answer is not kept. */
  binding: Schema.optionalKey(Schema.String),
  /** The first byte of a stream has been sent or is about to be. */
  isServing: Schema.Boolean,
  /** The cost of the part of the stream sent so far, as last written. */
  spent: AtomicAmount,
  beganAtMs: Milliseconds,
  /** When its lease expires unless renewed. */
  untilMs: Milliseconds
})
export interface ChannelWork extends Schema.Schema.Type<typeof ChannelWork> {}

/** How the last work ended. Its holder uses it to recognize a write that was stored although the reply was lost. */
export const EndedWork = Schema.Struct({
  ticket: InstanceName,
  charged: AtomicAmount,
  /** The hash of the request whose answer is kept, here or under this ticket: the payer may not have received it. */
  binding: Schema.optionalKey(Schema.String),
  /** The answer itself in base64, if it is short: the write that charges it also stores it. */
  answer: Schema.optionalKey(Schema.String)
})

/** A charge whose receipt is not known to be written. */
export const OwedReceipt = Schema.Struct({
  ticket: InstanceName,
  amount: AtomicAmount,
  /** The most that could have been charged. */
  ceiling: AtomicAmount,
  model: Schema.NullOr(Schema.String),
  providerCost: Schema.optionalKey(AtomicAmount),
  beganAtMs: Milliseconds,
  chargedAtMs: Milliseconds
})
export interface OwedReceipt extends Schema.Schema.Type<typeof OwedReceipt> {}

/**
 * A signed refund: its money can leave the channel until the contract has counted this refund or another with its
 * number.
 */
export const SignedRefund = Schema.Struct({ nonce: AtomicAmount, amount: AtomicAmount })

/** The possible cost of calls whose caller left while a provider was working; forgotten within a day. */
export const LeftCalls = Schema.Struct({ amount: AtomicAmount, atMs: Milliseconds })

export const Channel = Schema.Struct({
  network: Network,
  config: ChannelConfig,
  /** The total ever charged. */
  charged: AtomicAmount,
  /**
   * The part of it without a receipt, because it was claimed without us. Absent in channels opened by an earlier
   * release.
   */
  unreceipted: Schema.optionalKey(AtomicAmount),
  /** The newest voucher that covers all charges; null while there is none, as after a claim made without us. */
  signed: Schema.NullOr(Voucher),
  mirror: ChannelMirror,
  work: Schema.NullOr(ChannelWork),
  ended: Schema.NullOr(EndedWork),
  owed: Schema.optionalKey(Schema.Array(OwedReceipt)),
  refunding: Schema.optionalKey(SignedRefund),
  left: Schema.optionalKey(LeftCalls),
  /** Epoch milliseconds; 0 before the first charge. */
  chargedAtMs: Milliseconds
})
export interface Channel extends Schema.Schema.Type<typeof Channel> {}

/**
 * The limit on what abandoned calls may have cost: this much plus what the channel was charged before, up to a maximum.
 */
export interface LeavingTerms {
  readonly newPayerMax: bigint
  readonly payerMax: bigint
}

export type ChannelCommand =
  /** The chain's state of the channel; the first one creates its record. */
  | {
      readonly _tag: "Mirror"
      readonly network: string
      readonly config: ChannelConfig
      readonly mirror: ChannelMirror
    }
  /** A voucher for a call that is about to be made, or for a refund. */
  | {
      readonly _tag: "Begin"
      readonly work: Omit<ChannelWork, "isServing" | "spent" | "beganAtMs" | "untilMs">
      readonly leaseMs: number
      /** Charges whose receipts are written. */
      readonly receipted?: ReadonlyArray<string>
      /** The maximum that may be charged and not yet claimed; unlimited if absent. */
      readonly unclaimedMax?: bigint
      readonly leaving?: LeavingTerms
    }
  /** The work continues; `spent`: the cost of the part of the stream sent so far. */
  | { readonly _tag: "Renew"; readonly ticket: string; readonly leaseMs: number; readonly spent: string }
  /** The first byte of a stream is about to go out. */
  | { readonly _tag: "Serve"; readonly ticket: string; readonly spent: string }
  /** The answer is complete, or all of it that exists has been sent. */
  | {
      readonly _tag: "Charge"
      readonly ticket: string
      readonly amount: string
      readonly providerCost?: string
      /** The answer is kept under the ticket, or in the record itself, in base64. */
      readonly holdsAnswer?: boolean | string
    }
  /** The call failed before anything was sent, or its upstream failed: nothing is charged. */
  | { readonly _tag: "Release"; readonly ticket: string }
  /**
   * Nothing was sent, but a provider was working when the caller left: nothing is charged, and the call counts as left.
   */
  | { readonly _tag: "Abandon"; readonly ticket: string }
  /** Ends a work whose lease has expired. */
  | { readonly _tag: "Lapse" }
  /** The receipts of these charges are written. */
  | { readonly _tag: "Receipted"; readonly tickets: ReadonlyArray<string> }
  /** Answers charged before then are no longer requested. */
  | { readonly _tag: "Forget"; readonly beforeMs: number }
  /** A refund is about to be signed: its money no longer backs calls. */
  | { readonly _tag: "SignRefund"; readonly nonce: string; readonly amount: string }

export const ChannelCommand = Data.taggedEnum<ChannelCommand>()

const Opened = Schema.TaggedStruct("Opened", { network: Network, config: ChannelConfig })
const Mirrored = Schema.TaggedStruct("Mirrored", { mirror: ChannelMirror })
const Begun = Schema.TaggedStruct("Begun", { work: ChannelWork, receipted: Schema.Array(InstanceName) })
const Renewed = Schema.TaggedStruct("Renewed", { untilMs: Milliseconds, spent: AtomicAmount })
const Serving = Schema.TaggedStruct("Serving", { spent: AtomicAmount })
/** `isLost`: the gateway is gone, and the stream is charged its last recorded cost. */
const Charged = Schema.TaggedStruct("Charged", {
  ticket: InstanceName,
  amount: AtomicAmount,
  model: Schema.NullOr(Schema.String),
  isLost: Schema.Boolean,
  providerCost: Schema.optionalKey(AtomicAmount),
  binding: Schema.optionalKey(Schema.String),
  answer: Schema.optionalKey(Schema.String)
})
const Forgotten = Schema.TaggedStruct("Forgotten", {})
const Receipted = Schema.TaggedStruct("Receipted", { tickets: Schema.Array(InstanceName) })
const RefundSigned = Schema.TaggedStruct("RefundSigned", { refund: SignedRefund })
const Released = Schema.TaggedStruct("Released", {
  ticket: InstanceName,
  isLost: Schema.Boolean,
  /** What the call could have cost, if its caller left while a provider was working. */
  left: Schema.optionalKey(AtomicAmount)
})

export const ChannelFact = Schema.Union([
  Opened,
  Mirrored,
  Begun,
  Renewed,
  Serving,
  Charged,
  Released,
  Receipted,
  RefundSigned,
  Forgotten
])
export type ChannelFact = Schema.Schema.Type<typeof ChannelFact>

/** Why a channel refuses; a voucher's reasons are spelled as in the protocol. */
const evm = <Name extends string>(name: Name) => `invalid_batch_settlement_evm_${name}` as const
export const channelReason = {
  busy: evm("channel_busy"),
  missing: evm("missing_channel"),
  mismatch: evm("cumulative_amount_mismatch"),
  belowClaimed: evm("cumulative_below_claimed"),
  exceedsBalance: evm("cumulative_exceeds_balance"),
  notFound: evm("channel_not_found"),
  exceedsSigned: evm("charge_exceeds_signed_cumulative"),
  noBalance: evm("refund_no_balance"),
  /** The command's work has ended, or belongs to another. */
  workOver: "channel_work_over",
  /** So much is unclaimed that some must be claimed first. */
  unclaimed: "channel_unclaimed_max",
  /** So many receipts are owed that some must be written first. */
  receiptsOwed: "channel_receipts_owed",
  /** The payer has left so many calls that some must be forgotten first. */
  left: "channel_calls_left"
} as const
export type ChannelReason = (typeof channelReason)[keyof typeof channelReason]

type Decided = Result.Result<ReadonlyArray<ChannelFact>, ChannelReason>

const nothing: ReadonlyArray<ChannelFact> = []

/** `null`: the channel has no record. */
export const decide = (channel: Channel | null, command: ChannelCommand, nowMs: number): Decided => {
  if (command._tag === "Mirror") return Result.succeed(decideMirror(channel, command))
  if (channel === null) return Result.fail(channelReason.missing)
  switch (command._tag) {
    case "Begin":
      return decideBegin(channel, command, nowMs)
    case "Lapse":
      return Result.succeed(lapseOf(channel, nowMs))
    case "Receipted":
      return Result.succeed(decideReceipted(channel, command.tickets))
    case "SignRefund":
      return decideRefund(channel, command)
    case "Forget":
      return Result.succeed(holdsAnswerOf(channel, command.beforeMs) ? [{ _tag: "Forgotten" }] : nothing)
    case "Charge":
      return decideCharge(channel, command)
    case "Release":
    case "Abandon":
      return decideRelease(channel, command)
    case "Renew":
      return Result.map(ownWork(channel, command.ticket), () => [
        { _tag: "Renewed", untilMs: nowMs + command.leaseMs, spent: command.spent }
      ])
    case "Serve":
      return Result.map(ownWork(channel, command.ticket), ({ isServing }) =>
        isServing ? nothing : [{ _tag: "Serving", spent: command.spent }]
      )
  }
}

const decideMirror = (
  channel: Channel | null,
  { network, config, mirror }: Extract<ChannelCommand, { readonly _tag: "Mirror" }>
): ReadonlyArray<ChannelFact> => {
  const mirrored: ChannelFact = { _tag: "Mirrored", mirror }
  if (channel === null) return [{ _tag: "Opened", network, config }, mirrored]
  // Nodes behind one address are a block or two apart: the state of a later block wins.
  if (mirror.block < channel.mirror.block) return nothing
  const { block: _, ...seen } = mirror
  const { block: __, ...known } = channel.mirror
  return Object.entries(seen).every(([key, value]) => known[key as keyof typeof known] === value) ? nothing : [mirrored]
}

const decideBegin = (
  channel: Channel,
  { work, leaseMs, receipted = [], unclaimedMax, leaving }: Extract<ChannelCommand, { readonly _tag: "Begin" }>,
  nowMs: number
): Decided => {
  if (channel.work?.ticket === work.ticket) return Result.succeed(nothing)
  if (channel.work !== null) return Result.fail(channelReason.busy)
  const isLeft = leaving !== undefined && hasLeftTooMany(channel, work, leaving, nowMs)
  const fault =
    voucherFault(channel, work) ??
    debtFault(channel, { work, receipted, unclaimedMax }) ??
    (isLeft ? channelReason.left : undefined)
  if (fault !== undefined) return Result.fail(fault)
  const begun = { ...work, isServing: false, spent: "0", beganAtMs: nowMs, untilMs: nowMs + leaseMs }
  return Result.succeed([{ _tag: "Begun", work: begun, receipted }])
}

// A receipt takes 300 bytes of a record. They accumulate only while no settler is running to write them.
const owedMax = 32

/**
 * What must be done for earlier calls before another begins. A price above the limit is accepted if nothing else is
 * owed.
 */
const debtFault = (
  channel: Channel,
  {
    work,
    receipted,
    unclaimedMax
  }: {
    readonly work: Pick<ChannelWork, "kind" | "amount">
    readonly receipted: ReadonlyArray<string>
    readonly unclaimedMax: bigint | undefined
  }
): ChannelReason | undefined => {
  if (work.kind === "refund") return undefined
  const unclaimed = unclaimedOf(channel)
  if (unclaimedMax !== undefined && unclaimed > 0n && unclaimed + BigInt(work.amount) > unclaimedMax) {
    return channelReason.unclaimed
  }
  return stillOwed(channel, receipted).length < owedMax ? undefined : channelReason.receiptsOwed
}

const dayMs = 86_400_000

/** How much of the abandoned calls still counts. A clock that is behind forgets nothing. */
export const leftAt = ({ left }: Pick<Channel, "left">, nowMs: number): bigint => {
  if (left === undefined) return 0n
  const kept = BigInt(dayMs - Math.min(Math.max(0, nowMs - left.atMs), dayMs))
  return (BigInt(left.amount) * kept + BigInt(dayMs - 1)) / BigInt(dayMs)
}

const leftMaxOf = ({ charged }: Pick<Channel, "charged">, { newPayerMax, payerMax }: LeavingTerms) =>
  newPayerMax + (BigInt(charged) < payerMax ? BigInt(charged) : payerMax)

/** Without abandoned calls, one call of any price may begin; otherwise nothing expensive could be sold. */
const hasLeftTooMany = (
  channel: Pick<Channel, "left" | "charged">,
  { kind, amount }: Pick<ChannelWork, "kind" | "amount">,
  terms: LeavingTerms,
  nowMs: number
): boolean => {
  const left = leftAt(channel, nowMs)
  return kind !== "refund" && left > 0n && left + BigInt(amount) > leftMaxOf(channel, terms)
}

/** How long until enough of them is forgotten for a call of this amount to begin; a day at most. */
export const leftForgottenMs = (
  channel: Pick<Channel, "left" | "charged">,
  { amount }: Pick<ChannelWork, "amount">,
  terms: LeavingTerms,
  nowMs: number
): number => {
  const { left } = channel
  if (left === undefined || BigInt(left.amount) === 0n) return 0
  const room = leftMaxOf(channel, terms) - BigInt(amount)
  const kept = Number(room < 0n ? 0n : room) / Number(left.amount)
  return Math.max(0, Math.ceil(left.atMs + dayMs * (1 - kept) - nowMs))
}

export const owedOf = ({ owed = [] }: Pick<Channel, "owed">): ReadonlyArray<OwedReceipt> => owed

const stillOwed = (channel: Pick<Channel, "owed">, receipted: ReadonlyArray<string>) =>
  owedOf(channel).filter(({ ticket }) => !receipted.includes(ticket))

const withOwed = (channel: Channel, owed: ReadonlyArray<OwedReceipt>): Channel => {
  const { owed: _, ...rest } = channel
  return owed.length === 0 ? rest : { ...rest, owed }
}

const decideReceipted = (channel: Channel, tickets: ReadonlyArray<string>): ReadonlyArray<ChannelFact> =>
  stillOwed(channel, tickets).length === owedOf(channel).length ? nothing : [{ _tag: "Receipted", tickets }]

/** During a call, only what that call leaves is refunded, and never what is charged. */
const decideRefund = (
  channel: Channel,
  { nonce, amount }: Extract<ChannelCommand, { readonly _tag: "SignRefund" }>
): Decided => {
  const { charged, mirror, work, refunding } = channel
  if (work !== null && work.kind !== "refund") return Result.fail(channelReason.busy)
  if (BigInt(charged) + BigInt(amount) > BigInt(mirror.balance)) return Result.fail(channelReason.noBalance)
  const isSigned = refunding?.nonce === nonce && BigInt(refunding.amount) >= BigInt(amount)
  return Result.succeed(isSigned ? nothing : [{ _tag: "RefundSigned", refund: { nonce, amount } }])
}

/** The voucher must cover exactly what was charged plus the maximum that this work can cost. */
const voucherFault = (
  channel: Channel,
  { kind, voucher, amount }: Pick<ChannelWork, "kind" | "voucher" | "amount">
): ChannelReason | undefined => {
  const { charged, mirror } = channel
  const max = BigInt(voucher.maxClaimable)
  if (max !== BigInt(charged) + BigInt(amount)) return channelReason.mismatch
  if (BigInt(mirror.balance) === 0n) return channelReason.notFound
  if (kind === "refund") return max < BigInt(mirror.balance) ? undefined : channelReason.noBalance
  if (max <= BigInt(mirror.totalClaimed)) return channelReason.belowClaimed
  return max > usableOf(channel) ? channelReason.exceedsBalance : undefined
}

/** Why a voucher would be refused once its deposit is made: a useless transaction costs us its fee. */
export const depositFault = (
  channel: Channel,
  work: Pick<ChannelWork, "kind" | "voucher" | "amount">,
  { deposit, leaving, nowMs }: { readonly deposit: bigint; readonly leaving: LeavingTerms; readonly nowMs: number }
): ChannelReason | undefined => {
  if (channel.work !== null) return channelReason.busy
  if (hasLeftTooMany(channel, work, leaving, nowMs)) return channelReason.left
  const balance = (BigInt(channel.mirror.balance) + deposit).toString()
  return voucherFault({ ...channel, mirror: { ...channel.mirror, balance } }, work)
}

/** Money that a payer is withdrawing or being refunded no longer backs calls: it may leave before it is claimed. */
export const usableOf = ({ mirror, refunding }: Pick<Channel, "mirror" | "refunding">): bigint =>
  BigInt(mirror.balance) - BigInt(mirror.withdrawAmount) - BigInt(refunding?.amount ?? "0")

const ownWork = ({ work }: Channel, ticket: string): Result.Result<ChannelWork, ChannelReason> =>
  work?.ticket === ticket ? Result.succeed(work) : Result.fail(channelReason.workOver)

const decideCharge = (
  channel: Channel,
  { ticket, amount, providerCost, holdsAnswer = false }: Extract<ChannelCommand, { readonly _tag: "Charge" }>
): Decided => {
  // Already stored: the reply was lost on the way.
  if (channel.ended?.ticket === ticket && channel.ended.charged === amount) return Result.succeed(nothing)
  return Result.flatMap(ownWork(channel, ticket), (work) => {
    if (BigInt(amount) > leftOf(channel, work)) return Result.fail(channelReason.exceedsSigned)
    const charge = chargedFor(work, amount, false)
    const cost = providerCost === undefined ? {} : { providerCost }
    const isKept = holdsAnswer !== false && work.binding !== undefined
    const kept = isKept ? { binding: work.binding, ...(holdsAnswer === true ? {} : { answer: holdsAnswer }) } : {}
    return Result.succeed<ReadonlyArray<ChannelFact>>([{ ...charge, ...cost, ...kept }])
  })
}

/** Whether the record itself holds an answer charged before then. */
const holdsAnswerOf = ({ ended, chargedAtMs }: Channel, beforeMs: number): boolean =>
  ended?.answer !== undefined && chargedAtMs < beforeMs

/** For callers that keep many records in memory. */
export const withoutAnswer = (channel: Channel): Channel => {
  if (channel.ended?.answer === undefined) return channel
  const { answer: _, ...ended } = channel.ended
  return { ...channel, ended }
}

/** The most that a work can still be charged: less than agreed if money was claimed without us in the meantime. */
const leftOf = ({ charged }: Channel, { amount, voucher }: ChannelWork): bigint => {
  const left = BigInt(voucher.maxClaimable) - BigInt(charged)
  return left < BigInt(amount) ? left : BigInt(amount)
}

const decideRelease = (
  channel: Channel,
  { _tag, ticket }: Extract<ChannelCommand, { readonly _tag: "Release" | "Abandon" }>
): Decided => {
  if (channel.ended?.ticket === ticket && channel.ended.charged === "0") return Result.succeed(nothing)
  return Result.map(ownWork(channel, ticket), ({ amount }) => [
    { _tag: "Released", ticket, isLost: false, ...(_tag === "Abandon" ? { left: amount } : {}) }
  ])
}

/** How far a started stream got since its cost was last written is unknown: it is charged that recorded cost. */
const lapseOf = (channel: Channel, nowMs: number): ReadonlyArray<ChannelFact> => {
  const { work } = channel
  if (work === null || work.untilMs > nowMs) return nothing
  const left = leftOf(channel, work)
  if (!work.isServing || left < 0n) return [{ _tag: "Released", ticket: work.ticket, isLost: true }]
  const spent = BigInt(work.spent)
  return [chargedFor(work, (spent < left ? spent : left).toString(), true)]
}

type ChargedFact = Extract<ChannelFact, { readonly _tag: "Charged" }>

const chargedFor = ({ ticket, model }: ChannelWork, amount: string, isLost: boolean): ChargedFact => ({
  _tag: "Charged",
  ticket,
  amount,
  model,
  isLost
})

/** The work's lease has expired: it must be ended before anything else begins. */
export const isLapsed = ({ work }: Channel, nowMs: number): boolean => work !== null && work.untilMs <= nowMs

export const evolve = (channel: Channel | null, fact: ChannelFact, nowMs: number): Channel => {
  if (fact._tag === "Opened") return { ...empty, network: fact.network, config: fact.config }
  if (channel === null) throw new Error(`a channel without a record was ${fact._tag}`)
  switch (fact._tag) {
    case "Mirrored":
      return withMirror(channel, fact.mirror)
    case "Begun":
      // The payer has moved on: it has the last answer, or no longer wants it.
      return { ...withOwed(withoutAnswer(channel), stillOwed(channel, fact.receipted)), work: fact.work }
    case "Receipted":
      return withOwed(channel, stillOwed(channel, fact.tickets))
    case "RefundSigned":
      return { ...channel, refunding: fact.refund }
    case "Forgotten":
      return withoutAnswer(channel)
    case "Renewed":
      return { ...channel, work: channel.work && { ...channel.work, untilMs: fact.untilMs, spent: fact.spent } }
    case "Serving":
      return { ...channel, work: channel.work && { ...channel.work, isServing: true, spent: fact.spent } }
    case "Released":
      return { ...withLeft(channel, fact.left, nowMs), work: null, ended: { ticket: fact.ticket, charged: "0" } }
    case "Charged":
      return withCharge(channel, fact, nowMs)
  }
}

const withLeft = (channel: Channel, more: string | undefined, nowMs: number): Channel =>
  more === undefined
    ? channel
    : { ...channel, left: { amount: (leftAt(channel, nowMs) + BigInt(more)).toString(), atMs: nowMs } }

const withCharge = (channel: Channel, fact: ChargedFact, nowMs: number): Channel => {
  const { ticket, amount, answer, binding, model, providerCost } = fact
  const { work } = channel
  const receipt = work !== null &&
    work.kind !== "refund" && {
      ticket,
      amount,
      ceiling: work.amount,
      model,
      ...(providerCost === undefined ? {} : { providerCost }),
      beganAtMs: work.beganAtMs,
      chargedAtMs: nowMs
    }
  return {
    ...(receipt === false ? channel : withOwed(channel, [...owedOf(channel), receipt])),
    charged: (BigInt(channel.charged) + BigInt(amount)).toString(),
    signed: work?.voucher ?? channel.signed,
    work: null,
    ended: {
      ticket,
      charged: amount,
      ...(binding === undefined ? {} : { binding }),
      ...(answer === undefined ? {} : { answer })
    },
    chargedAtMs: nowMs
  }
}

const noMirror: ChannelMirror = {
  balance: "0",
  totalClaimed: "0",
  withdrawAmount: "0",
  withdrawRequestedAt: 0,
  refundNonce: "0",
  block: 0
}
const empty: Omit<Channel, "network" | "config"> = {
  charged: "0",
  unreceipted: "0",
  signed: null,
  mirror: noMirror,
  work: null,
  ended: null,
  chargedAtMs: 0
}

/** A claimed amount was charged, whoever claimed it: a receiver that lost its records resumes from there. */
const withMirror = (before: Channel, mirror: ChannelMirror): Channel => {
  const { refunding, ...others } = before
  const isCounted = refunding !== undefined && BigInt(mirror.refundNonce) > BigInt(refunding.nonce)
  const channel = isCounted ? others : before
  if (BigInt(mirror.totalClaimed) <= BigInt(channel.charged)) return { ...channel, mirror }
  const covers = channel.signed !== null && BigInt(channel.signed.maxClaimable) >= BigInt(mirror.totalClaimed)
  const { unreceipted } = channel
  const more = BigInt(mirror.totalClaimed) - BigInt(channel.charged)
  return {
    ...channel,
    mirror,
    charged: mirror.totalClaimed,
    ...(unreceipted === undefined ? {} : { unreceipted: (BigInt(unreceipted) + more).toString() }),
    signed: covers ? channel.signed : null
  }
}

/** The state after all facts of a decision. */
export const evolveAll = (channel: Channel | null, facts: ReadonlyArray<ChannelFact>, nowMs: number): Channel | null =>
  facts.reduce<Channel | null>((state, fact) => evolve(state, fact, nowMs), channel)

/** A decision and its consequences. */
export interface ChannelDecision {
  readonly facts: ReadonlyArray<ChannelFact>
  readonly after: Channel | null
  readonly refused: ChannelReason | null
}

/**
 * Decides a command; a work whose lease has expired is ended before another begins, even if the new one is then
 * refused.
 */
export const decideAll = (channel: Channel | null, command: ChannelCommand, nowMs: number): ChannelDecision => {
  const lapsed = command._tag === "Begin" && channel !== null ? lapseOf(channel, nowMs) : nothing
  const present = evolveAll(channel, lapsed, nowMs)
  const decided = decide(present, command, nowMs)
  if (Result.isFailure(decided)) return { facts: lapsed, after: present, refused: decided.failure }
  const facts = [...lapsed, ...decided.success]
  return { facts, after: evolveAll(present, decided.success, nowMs), refused: null }
}

/** The amount charged and not yet claimed: what is lost if the payer's money leaves the channel first. */
export const unclaimedOf = ({ charged, mirror }: Pick<Channel, "charged" | "mirror">): bigint =>
  BigInt(charged) - BigInt(mirror.totalClaimed)

/** The broker deduplicates a receipt that is written twice by this id. */
export const receiptIdOf = (ticket: string) => `receipt-${ticket}`

/** It has no transaction of its own: the charge is claimed later, together with others. */
export const chargeReceipt = (
  { network, config }: Pick<Channel, "network" | "config">,
  channelId: string,
  owed: OwedReceipt
): Receipt => {
  const { payer, token, receiver } = config
  const { ticket, amount, ceiling, model, providerCost, beganAtMs, chargedAtMs } = owed
  return {
    claimKey: claimKeyOf({ network, asset: token, payer, nonce: ticket }),
    network,
    asset: token,
    payer,
    payTo: receiver,
    amount,
    scheme: channelScheme,
    channel: channelId,
    ...(ceiling === amount ? {} : { ceiling }),
    outcome: "settled",
    transaction: null,
    reason: null,
    ...(model === null ? {} : { model }),
    ...(providerCost === undefined ? {} : { providerCost }),
    requestedAtMs: beganAtMs,
    settledAtMs: chargedAtMs
  }
}
