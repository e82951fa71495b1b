/**
 * What the bucket `authorizations` holds: a claim, which is one payment's use for one call, and a payer's
 * standing. Neither is ever deleted to free it. A claim that has ended keeps no payment, only what
 * answers a replay and an audit.
 */
import { Schema } from "effect"
import {
  AnswerKind,
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  InstanceName,
  Network,
  PaymentPayload,
  PaymentRequirements,
  Sha256Hex,
  TransactionId
} from "#contracts"

export const claimStates = ["CLAIMED", "SERVING", "SETTLING", "SETTLED", "UNCOLLECTED", "RELEASED"] as const
export type ClaimState = (typeof claimStates)[number]

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Total = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Transactions that were signed for one claim; a settler that died has left one, and its follower makes another. */
export const transactionsMax = 8

export const ClaimRecord = Schema.Struct({
  state: Schema.Literals(claimStates),
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  amount: Schema.String,
  /** What the payment is for. */
  binding: Sha256Hex,
  kind: AnswerKind,
  /** The gateway's instance. */
  holder: InstanceName,
  /** This life of the claim: a new one is drawn whenever it is taken. */
  ticket: Schema.String,
  /** Writes in this life. */
  moves: Total,
  validBeforeMs: Milliseconds,
  claimedAtMs: Milliseconds,
  /** Since it is to be settled. */
  requestedAtMs: Schema.NullOr(Milliseconds),
  /** Signed for it, the newest last; each is stored before it is sent. */
  transactions: Schema.Array(TransactionId).check(Schema.isMaxLength(transactionsMax)),
  /** How often settling was asked for. */
  asked: Total,
  /** Of a claim that ended unpaid. */
  reason: Schema.NullOr(Schema.String),
  /** Null once it has ended. */
  payment: Schema.NullOr(Schema.Struct({ payload: PaymentPayload, requirements: PaymentRequirements }))
})
export interface ClaimRecord extends Schema.Schema.Type<typeof ClaimRecord> {}

/**
 * What a payer's record says of one claim that has not ended: money that is spoken for. A life of a claim takes its own
 * place and gives back only that.
 */
export const Place = Schema.Struct({
  claimKey: ClaimKey,
  ticket: Schema.String,
  /** In the asset's smallest unit. Absent in records of older versions, which knew streams alone. */
  amount: Schema.optionalKey(AtomicAmount),
  /** The payer has the answer, or is getting it, before it is paid for. Absent in older records: so it is. */
  isGivenOut: Schema.optionalKey(Schema.Boolean),
  /** A whole answer that went out although nobody knew yet that it was paid for. */
  isAhead: Schema.optionalKey(Schema.Literal(true))
})
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** Claims of one payer at once. Its record is written whole with each of them. */
export const placesMax = 256
/** Two lives of a claim may overlap for a moment. */
export const recordPlacesMax = 2 * placesMax

export const PayerRecord = Schema.Struct({
  network: Network,
  payer: ChainAddress,
  /** In the order in which they were taken. */
  places: Schema.Array(Place).check(Schema.isMaxLength(recordPlacesMax)),
  /**
   * The ticket of the claim that was settled last, while the record lasts. What a chain was seen to hold before it was
   * written here may still have had that money in it.
   */
  settledLast: Schema.optionalKey(Schema.String),
  /** Nothing is sold any more: a payment of theirs could not be collected. */
  denied: Schema.NullOr(Schema.Struct({ claimKey: ClaimKey, reason: Schema.String, sinceMs: Milliseconds }))
})
export interface PayerRecord extends Schema.Schema.Type<typeof PayerRecord> {}
