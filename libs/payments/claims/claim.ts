/**
 * A claim is one payment's use for one call, as stored in the bucket `authorizations`. Its life is a table: which move
 * leads from which state to which. Pure. The table guarantees, whichever process crashes at any point: a payment is
 * used by one call at a time; once it is to be settled it is never free again; and it ends as settled or, when the
 * chain can no longer make a transfer, as uncollected. A claim is never deleted to free it. An ended one keeps only
 * what answers a replay and an audit.
 */
import { randomFillSync } from "node:crypto"
import { Data, Schema } from "effect"
import {
  AnswerKind,
  ChainAddress,
  InstanceName,
  Network,
  type PaymentCode,
  PaymentPayload,
  PaymentRequirements,
  Sha256Hex,
  TransactionId,
  type VerifyAnswer
} from "#payments/contract"
import { reason } from "../errors.ts"

const claimStates = ["CLAIMED", "SERVING", "SETTLING", "SETTLED", "UNCOLLECTED", "RELEASED"] as const
export type ClaimState = (typeof claimStates)[number]

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Total = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const ticketBytes = 12
// Reading the system's random source for each ticket would cost as much as the rest of a decision.
const drawn = Buffer.alloc(ticketBytes * 256)
let drawnAt = drawn.length

/** The name of one life of a claim, or of one work of a channel: drawn once, and never again. */
export const newTicket = (): string => {
  if (drawnAt === drawn.length) {
    randomFillSync(drawn)
    drawnAt = 0
  }
  drawnAt += ticketBytes
  return drawn.toString("base64url", drawnAt - ticketBytes, drawnAt)
}

/** Transactions that were signed for one claim: a settler that died leaves one, and its successor makes another. */
const transactionsMax = 8

export const ClaimRecord = Schema.Struct({
  state: Schema.Literals(claimStates),
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  /** What was signed. */
  amount: Schema.String,
  /**
   * The amount charged, if it can be less than the amount. During the call, the charge for what was sent so far; it
   * never exceeds the call's final cost.
   */
  charge: Schema.optionalKey(Schema.String),
  /** The hash of the call that the payment is for. */
  binding: Sha256Hex,
  kind: AnswerKind,
  /** The model that is called, for its receipt. Absent in claims of older releases. */
  model: Schema.optionalKey(Schema.String),
  /**
   * What the call's provider charges, in the units of the amount. Its holder knows it once the answer is complete and
   * writes it with the next move. Absent if that is not configured, or was not known when the settlement was requested.
   */
  providerCost: Schema.optionalKey(Schema.String),
  /** The gateway instance. */
  holder: InstanceName,
  /** This life of the claim: each taking draws a new ticket. */
  ticket: Schema.String,
  /** The number of writes in this life. */
  moves: Total,
  validBeforeMs: Milliseconds,
  claimedAtMs: Milliseconds,
  /** When the settlement was first requested. */
  requestedAtMs: Schema.NullOr(Milliseconds),
  /** The signed transactions, the newest last; each is stored before it is sent. */
  transactions: Schema.Array(TransactionId).check(Schema.isMaxLength(transactionsMax)),
  /** How often settlement was requested. */
  asked: Total,
  /** Why a claim ended unpaid. */
  reason: Schema.NullOr(Schema.String),
  /** Null once it has ended. */
  payment: Schema.NullOr(Schema.Struct({ payload: PaymentPayload, requirements: PaymentRequirements }))
})
export interface ClaimRecord extends Schema.Schema.Type<typeof ClaimRecord> {}

export type ClaimMove =
  /** The holder is still working. */
  | { readonly _tag: "Renew" }
  /** The first byte of a stream is about to be sent. */
  | { readonly _tag: "Serve" }
  /** The answer is complete, or all of it that exists has been sent. */
  | { readonly _tag: "Settle" }
  /** Settlement is requested again after a while without a report. */
  | { readonly _tag: "AskAgain" }
  /** A transaction is signed; it is stored before it is sent. Null if nothing is charged and nothing is sent. */
  | { readonly _tag: "Prepare"; readonly transaction: string | null }
  /** The chain has made the transfer; null if nothing was charged and none was needed. */
  | { readonly _tag: "Settled"; readonly transaction: string | null }
  /** The chain can no longer make a transfer of this payment. */
  | { readonly _tag: "Uncollected"; readonly reason: string }
  /** The same for an answer that, as far as is known, was not sent. */
  | { readonly _tag: "Withheld"; readonly reason: string; readonly isPayersDoing: boolean }
  /**
   * The call failed before anything was sent, or its upstream failed: nothing is charged. `isPayersDoing`: its caller
   * left while a provider was working for it.
   */
  | { readonly _tag: "Release"; readonly reason: string; readonly isPayersDoing?: true }

export const ClaimMove = Data.taggedEnum<ClaimMove>()

interface Row {
  /** The states from which the move is allowed, and the state it leads to; null keeps the state. */
  readonly from: ReadonlyArray<ClaimState>
  readonly to: ClaimState | null
  /**
   * The move's effect on the claim's place in its payer's record. `spent`: the wallet's balance is lower from here on.
   * `owed`: the payer is denied. `owed if given out`: denied if it received the answer after all.
   */
  readonly place: "kept" | "free" | "spent" | "owed" | "owed if given out"
  /**
   * Only for the exact revision that the mover has read: the fence between settlers, and between settlers and a sweep.
   */
  readonly isAsRead?: true
}

const table: Readonly<Record<ClaimMove["_tag"], Row>> = {
  Renew: { from: ["CLAIMED", "SERVING"], to: null, place: "kept" },
  Serve: { from: ["CLAIMED"], to: "SERVING", place: "kept" },
  Settle: { from: ["CLAIMED", "SERVING"], to: "SETTLING", place: "kept" },
  AskAgain: { from: ["SETTLING"], to: null, place: "kept" },
  Prepare: { from: ["SETTLING"], to: null, place: "kept", isAsRead: true },
  Settled: { from: ["SETTLING"], to: "SETTLED", place: "spent" },
  Uncollected: { from: ["SETTLING"], to: "UNCOLLECTED", place: "owed" },
  Withheld: { from: ["SETTLING"], to: "UNCOLLECTED", place: "owed if given out" },
  Release: { from: ["CLAIMED", "SERVING"], to: "RELEASED", place: "free" }
}

/** Whether a call that ends without its payment had been started at a provider and is unpaid because of its payer. */
export const isPayersDoing = (move: ClaimMove): boolean =>
  (move._tag === "Withheld" || move._tag === "Release") && move.isPayersDoing === true

export const placeAfter = ({ _tag }: ClaimMove) => table[_tag].place
export const isAsRead = ({ _tag }: ClaimMove) => table[_tag].isAsRead === true

/** The record after a move; undefined if the table has no such move, because another mover was first. */
export const moved = (record: ClaimRecord, move: ClaimMove, nowMs: number): ClaimRecord | undefined => {
  const { from, to } = table[move._tag]
  if (!from.includes(record.state)) return undefined
  const state = to ?? record.state
  const payment = hasEnded(state) ? null : record.payment
  return { ...record, ...changes(record, move, nowMs), state, payment, moves: record.moves + 1 }
}

const changes = (record: ClaimRecord, move: ClaimMove, nowMs: number): Partial<ClaimRecord> => {
  switch (move._tag) {
    case "Settle":
      return { requestedAtMs: nowMs, asked: 1 }
    case "AskAgain":
      return { asked: record.asked + 1 }
    case "Prepare":
    case "Settled":
      return move.transaction === null ? {} : { transactions: withLast(record.transactions, move.transaction) }
    case "Uncollected":
    case "Withheld":
    case "Release":
      return { reason: move.reason }
    default:
      return {}
  }
}

const withLast = (transactions: ReadonlyArray<string>, last: string) =>
  [...transactions.filter((one) => one !== last), last].slice(-transactionsMax)

/** The amount of a claim that is settled, in the asset's smallest unit. */
export const chargeOf = ({ amount, charge }: Pick<ClaimRecord, "amount" | "charge">): bigint => BigInt(charge ?? amount)

export const hasEnded = (state: ClaimState) => state === "SETTLED" || state === "UNCOLLECTED" || state === "RELEASED"

/** Whether an existing claim leaves its payment free to be taken. */
export const canBeTaken = (found: ClaimRecord) => found.state === "RELEASED"

export interface Retention {
  /** The time after the payment's own end for which an ended claim is kept. */
  readonly keptMs: number
}

// A released payment cannot be used after it expires; clocks differ by less than this.
const clockSkewMs = 600_000

/**
 * How long the bucket keeps a record, in milliseconds, or undefined for as long as it is not moved. A released one
 * expires soon, or an unknown caller with worthless signatures could fill the disk.
 */
export const timeToLiveMs = (record: ClaimRecord, retention: Retention, nowMs: number): number | undefined => {
  if (!hasEnded(record.state)) return undefined
  const leftMs = Math.max(0, record.validBeforeMs - nowMs)
  return leftMs + (record.state === "RELEASED" ? clockSkewMs : retention.keptMs)
}

export interface SweepTimes {
  readonly leaseMs: number
  /** A working settler reports within this. */
  readonly settleWithinMs: number
}

export interface LiveState {
  readonly state: ClaimState
  readonly asked: number
  /** When the broker stored the record. */
  readonly writtenAtMs: number
}

export type SweepMove = "Release" | "Settle" | "AskAgain"

const backoffDoublingsMax = 5

/**
 * The move that is due, if any. An answer that was sent must be paid for; otherwise the claim is released. Ages are by
 * the broker's clock, which alone determines how old a record is: no replica's clock can end another's lease.
 */
export const dueMove = (live: LiveState, nowMs: number, times: SweepTimes): SweepMove | undefined => {
  const ageMs = nowMs - live.writtenAtMs
  if (live.state === "CLAIMED") return ageMs >= times.leaseMs ? "Release" : undefined
  if (live.state === "SERVING") return ageMs >= times.leaseMs ? "Settle" : undefined
  if (live.state !== "SETTLING") return undefined
  const doublings = Math.min(backoffDoublingsMax, Math.max(0, live.asked - 1))
  return ageMs >= times.settleWithinMs * 2 ** doublings ? "AskAgain" : undefined
}

export const moveOf = (due: SweepMove): ClaimMove =>
  due === "Release" ? ClaimMove.Release({ reason: "lease ended" }) : { _tag: due }

/**
 * The payment is not accepted for this call. `replay`: it is already used. `exposure`: the payer's other unfinished
 * calls take up its money. `unpaid`: those calls, and losses from earlier ones, take up what it may have unpaid.
 * `newcomers`: the calls of all payers that have paid little yet do so together. In these three cases the same payment
 * can be sent again later. `unfunded`: the payer holds less than this one call costs. `denied`: one of its payments
 * could not be collected.
 */
export class ClaimRefused extends Schema.TaggedError<ClaimRefused>()("ClaimRefused", {
  why: Schema.Literals(["replay", "exposure", "unpaid", "newcomers", "unfunded", "denied"]),
  claimKey: Schema.String,
  payer: Schema.String,
  /** If the same payment can be sent again: when that may help. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
  /** The holder of a replayed payment's claim, if it was read. */
  holder: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the payment is not taken: ${this.why}`
  }
  /** The code that the client gets. */
  get code(): PaymentCode {
    if (this.why === "unfunded") return "PAYMENT_UNFUNDED"
    return this.why === "replay" ? "PAYMENT_REPLAY" : "PAYMENT_INVALID"
  }
  get reason(): string {
    return this.why === "replay" ? reason.nonceUsed : reason[this.why]
  }
}

/** The claim is no longer ours to move: its lease expired, or it has advanced. `state` null: it is gone. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {
  claimKey: Schema.String,
  move: Schema.String,
  state: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `could not ${this.move} a claim that is ${this.state ?? "gone"}`
  }
}

/** The payer is denied: nothing more is sent to it. */
export class ExposureReached extends Schema.TaggedError<ExposureReached>()("ExposureReached", {
  payer: Schema.String
}) {
  override get message() {
    return `${this.payer} has answers that are not paid for yet`
  }
}

// Most calls end within seconds, and which one is next is unknown.
const soonSeconds = 1

const isTemporary: ReadonlySet<ClaimRefused["why"]> = new Set(["exposure", "unpaid", "newcomers"])

/**
 * A refused claim as the verifier's answer. A payer whose other calls take up its money is not refused but asked to
 * return with the same payment: two calls at once are not a fault.
 */
export const claimRefusalAnswer = (refused: ClaimRefused): Exclude<VerifyAnswer, { readonly _tag: "Verified" }> => {
  const { retryAfterSeconds = soonSeconds } = refused
  if (isTemporary.has(refused.why)) {
    return { _tag: "Unavailable", why: "exposure", retryAfterSeconds, reason: refused.reason }
  }
  const answer = { _tag: "Refused", code: refused.code, reason: refused.reason, payer: refused.payer } as const
  if (refused.why !== "replay") return answer
  const { claimKey, holder } = refused
  return { ...answer, claimKey, ...(holder === undefined ? {} : { holder }) }
}
