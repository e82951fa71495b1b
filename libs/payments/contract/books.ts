/**
 * The payment books as the settlers keep them for operators: how far the reconciliation of a network is, what it
 * found, and the order to have a finding mended.
 */
import { Schema } from "effect"
import { Count, EpochMs, text } from "#base"
import { AtomicAmount, ChainAddress, ClaimKey, InstanceName, Network, TransactionId } from "./primitives.ts"
import { ChannelId } from "./channels.ts"
import { Receipt } from "./messages.ts"

export const findingKinds = [
  "TransferWithoutReceipt",
  "ReceiptWithoutTransfer",
  "AmountDiffers",
  "ReceiptsDisagree",
  "TransferCountedTwice",
  "UncollectedButPaid",
  "ClaimWithoutReceipt",
  "SettlingOverdue",
  "ChannelDiffers"
] as const
export type FindingKind = (typeof findingKinds)[number]

/** How a finding ended. `resolved`: a later comparison found nothing any more. */
export const findingEnds = [
  "resolved",
  "receipt-written",
  "settled",
  "withheld",
  "uncollected",
  "payer-served",
  "accepted"
] as const
export type FindingEnd = (typeof findingEnds)[number]

/** The first half of the SHA-256 of what was found. */
export const FindingId = Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/u))

/** A transfer to one of our accounts, as the chain has it. */
export const BookTransfer = Schema.Struct({
  transaction: TransactionId,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  amount: AtomicAmount,
  nonce: Schema.NullOr(text(256)),
  /** Where it stands on the chain, in the scheme's own text. */
  position: text(256)
})
export interface BookTransfer extends Schema.Schema.Type<typeof BookTransfer> {}

/** What of a payment channel cannot be explained. `amount`: by how much its parts differ. */
export const BookChannel = Schema.Struct({
  channelId: ChannelId,
  asset: ChainAddress,
  payer: ChainAddress,
  fault: text(256),
  amount: AtomicAmount
})
export interface BookChannel extends Schema.Schema.Type<typeof BookChannel> {}

/** Claims and receipts that a finding names; of more the first ones. */
export const findingPartsMax = 8

export const BookFinding = Schema.Struct({
  id: FindingId,
  network: Network,
  payTo: ChainAddress,
  kind: Schema.Literals(findingKinds),
  foundAtMs: EpochMs,
  claimKeys: Schema.Array(ClaimKey).check(Schema.isMaxLength(findingPartsMax)),
  transfer: Schema.NullOr(BookTransfer),
  receipts: Schema.Array(Receipt).check(Schema.isMaxLength(findingPartsMax)),
  channel: Schema.optionalKey(BookChannel),
  /** Null while it stands. `by`: the operator's token, or null for the settlers themselves. */
  end: Schema.NullOr(
    Schema.Struct({
      how: Schema.Literals(findingEnds),
      atMs: EpochMs,
      by: Schema.NullOr(text(256)),
      reason: Schema.NullOr(text(500))
    })
  )
})
export interface BookFinding extends Schema.Schema.Type<typeof BookFinding> {}

/** How far the reconciliation of one account on one network is. */
export const BookState = Schema.Struct({
  network: Network,
  payTo: ChainAddress,
  asset: ChainAddress,
  /** The settler that compared last. */
  holder: InstanceName,
  triedAtMs: EpochMs,
  /** When chain and receipts were last compared to their end. */
  comparedAtMs: Schema.NullOr(EpochMs),
  /** Why the last comparison did not reach the end. */
  trouble: Schema.NullOr(text(1_000)),
  /** Findings beyond those that are kept; the log has them. */
  notKept: Count,
  /** What the settlers' keys hold for fees, in the chain's own coin; null where the chain did not say. */
  keys: Schema.Array(Schema.Struct({ address: ChainAddress, balance: Schema.NullOr(AtomicAmount) })).check(
    Schema.isMaxLength(64)
  )
})
export interface BookState extends Schema.Schema.Type<typeof BookState> {}

/** An operator's order about a finding. `Mend`: do what can be done without risk. `Accept`: it is explained. */
export const BooksOrder = Schema.Union([
  Schema.TaggedStruct("Mend", { id: FindingId, by: text(256), reason: text(500) }),
  Schema.TaggedStruct("Accept", { id: FindingId, by: text(256), reason: text(500) })
])
export type BooksOrder = Schema.Schema.Type<typeof BooksOrder>

export const BooksAnswer = Schema.Union([
  Schema.TaggedStruct("Done", { finding: BookFinding }),
  Schema.TaggedStruct("Unknown", {}),
  /** Asking again changes nothing. */
  Schema.TaggedStruct("Refused", { why: text(1_000) }),
  /** Not now: a chain or the broker does not say. */
  Schema.TaggedStruct("Later", { why: text(1_000) })
])
export type BooksAnswer = Schema.Schema.Type<typeof BooksAnswer>

/** Findings that an operator's order can mend; the others can only be accepted. */
export const mendableKinds: ReadonlyArray<FindingKind> = [
  "TransferWithoutReceipt",
  "UncollectedButPaid",
  "ClaimWithoutReceipt",
  "SettlingOverdue"
]

export const canBeMended = ({ kind, claimKeys }: Pick<BookFinding, "kind" | "claimKeys">): boolean =>
  mendableKinds.includes(kind) && claimKeys.length > 0
