/**
 * The payment books that the settlers keep for operators: how far a network's reconciliation has read, what it found,
 * and the order to have a finding mended.
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

/** How a finding ended. `resolved`: a later comparison no longer found it. */
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

/** A transfer to one of our accounts, as recorded on the chain. */
export const BookTransfer = Schema.Struct({
  transaction: TransactionId,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  amount: AtomicAmount,
  nonce: Schema.NullOr(text(256)),
  /** Its position on the chain, as a text of the scheme's own. */
  position: text(256)
})
export interface BookTransfer extends Schema.Schema.Type<typeof BookTransfer> {}

/** What cannot be explained about a payment channel. `amount`: by how much its parts differ. */
export const BookChannel = Schema.Struct({
  channelId: ChannelId,
  asset: ChainAddress,
  payer: ChainAddress,
  fault: text(256),
  amount: AtomicAmount
})
export interface BookChannel extends Schema.Schema.Type<typeof BookChannel> {}

/** Claims and receipts that a finding names; if there are more, the first ones. */
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
  /** Null while it is open. `by`: the operator's token, or null for the settlers themselves. */
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

/** How far the reconciliation of one account on one network has read. */
export const BookState = Schema.Struct({
  network: Network,
  payTo: ChainAddress,
  asset: ChainAddress,
  /** The settler that compared last. */
  holder: InstanceName,
  triedAtMs: EpochMs,
  /** When chain and receipts were last compared to the end. */
  comparedAtMs: Schema.NullOr(EpochMs),
  /** Why the last comparison did not reach the end. */
  trouble: Schema.NullOr(text(1_000)),
  /** How many findings are not stored; the log has them. */
  notKept: Count,
  /** What the settlers' keys hold for fees, in the chain's own coin; null if the chain did not answer. */
  keys: Schema.Array(Schema.Struct({ address: ChainAddress, balance: Schema.NullOr(AtomicAmount) })).check(
    Schema.isMaxLength(64)
  )
})
export interface BookState extends Schema.Schema.Type<typeof BookState> {}

/** An operator's order about a finding. `Mend`: do what can be done safely. `Accept`: it is explained. */
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
  /** Not now: a chain or the broker does not answer. */
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
