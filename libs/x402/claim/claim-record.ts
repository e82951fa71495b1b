/**
 * What the bucket `authorizations` holds: a claim, which is one payment's use for one call, and a payer's
 * standing. Neither is ever deleted to free it. A claim that has ended keeps no payment, only what
 * answers a replay and an audit.
 */
import { Schema } from "effect"
import {
  AnswerKind,
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

/** An answer that a payer has or is getting before it is paid for. */
export const Place = Schema.Struct({ claimKey: ClaimKey, ticket: Schema.String })
export interface Place extends Schema.Schema.Type<typeof Place> {}

export const PayerRecord = Schema.Struct({
  network: Network,
  payer: ChainAddress,
  places: Schema.Array(Place).check(Schema.isMaxLength(64)),
  /** Nothing is sold any more: a payment of theirs could not be collected. */
  denied: Schema.NullOr(Schema.Struct({ claimKey: ClaimKey, reason: Schema.String, sinceMs: Milliseconds }))
})
export interface PayerRecord extends Schema.Schema.Type<typeof PayerRecord> {}
