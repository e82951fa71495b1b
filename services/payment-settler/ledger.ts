/**
 * RECEIPTS: the end of every payment, once per claim, and each refund of one. A receipt is written before the claim is
 * ended, so that a claim that has ended has its receipt; after a crash the next settler first checks whether it already
 * exists.
 */
import { Clock, Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, jsonCodec, Publisher, StreamReader } from "#bus"
import { addressToken, AtomicAmount, ChainAddress, channelScheme, type Receipt } from "#payments/contract"
import { subjects } from "#base"
import { chargeOf, type Claim, type ClaimRecord, receiptCodec, receiptIdOf } from "#payments"

const stream = "RECEIPTS"

/** Absent for a claim that has ended: its payment is not kept. */
const schemeOf = ({ payment, amount, charge }: ClaimRecord) => ({
  // A payment by channel has no claim.
  ...(payment === null || payment.requirements.scheme === channelScheme ? {} : { scheme: payment.requirements.scheme }),
  ...(charge === undefined ? {} : { ceiling: amount })
})

export interface StoredReceipt {
  readonly receipt: Receipt
  readonly sequence: number
  readonly storedAtMs: number
}

/** The part of a channel's receipt that its books count. A busy fleet writes a thousand receipts a second. */
const ChargeReceipt = Schema.Struct({
  scheme: Schema.optionalKey(Schema.String),
  outcome: Schema.String,
  payer: ChainAddress,
  channel: Schema.optionalKey(Schema.String),
  amount: AtomicAmount
})
const chargeCodec = jsonCodec(ChargeReceipt)

/** `channel` null: the receipt is from an older release, which named none. */
export interface StoredCharge {
  readonly sequence: number
  readonly payer: string
  readonly channel: string | null
  readonly amount: bigint
}

export interface End {
  readonly outcome: Exclude<Receipt["outcome"], "refunded">
  readonly transaction: string | null
  readonly reason: string | null
}

export interface ChargeEnd {
  /** The ticket of the charged call. */
  readonly ticket: string
  readonly receipt: Receipt
}

export class Ledger extends Context.Service<
  Ledger,
  {
    /** `mayExist`: another settler may have written it longer ago than the broker remembers. True when it is new. */
    readonly write: (claim: Claim, end: End, mayExist: boolean) => Effect.Effect<boolean, BusError>
    /** The receipt of a channel's charge. Its gateway writes it too, under the same id. */
    readonly writeCharge: (charge: ChargeEnd, mayExist: boolean) => Effect.Effect<void, BusError>
    /** The receipt of a refund that was made; once per refund. */
    readonly writeRefund: (receipt: Receipt, mayExist: boolean) => Effect.Effect<void, BusError>
    /** The receipt at a sequence of RECEIPTS. */
    readonly at: (sequence: number) => Effect.Effect<Option.Option<Receipt>, BusError>
    readonly has: (claim: Claim) => Effect.Effect<boolean, BusError>
    /** Oldest first, from a sequence on. */
    readonly from: (sequence: number) => Stream.Stream<StoredReceipt, BusError>
    /** The charges of a network's channels, with the sequence of each receipt; oldest first, from a sequence on. */
    readonly charges: (network: string, sequence: number) => Stream.Stream<StoredCharge, BusError>
  }
>()("starling/payment-settler/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const reader = yield* StreamReader

      const read = readingOf(reader)

      const has = Effect.fn("Ledger.has")(function* (of: Pick<Receipt, "claimKey" | "network" | "payer" | "refund">) {
        return yield* Stream.runFold(
          read(1, subjectOf(of)),
          () => false,
          (found, { receipt }) => found || (receipt.claimKey === of.claimKey && receipt.refund === of.refund)
        )
      })

      const publishAs = (messageId: string, receipt: Receipt) =>
        publisher.publish(subjectOf(receipt), receiptCodec, receipt, { messageId })

      const writeCharge = Effect.fnUntraced(function* ({ ticket, receipt }: ChargeEnd, mayExist: boolean) {
        if (mayExist && (yield* has(receipt))) return
        yield* publishAs(receiptIdOf(ticket), receipt)
      })

      const writeRefund = Effect.fnUntraced(function* (receipt: Receipt, mayExist: boolean) {
        if (mayExist && (yield* has(receipt))) return
        yield* publishAs(`refund-${receipt.refund}-${receipt.claimKey}`, receipt)
      })

      const at = Effect.fnUntraced(function* (sequence: number) {
        const found = Option.getOrUndefined(yield* reader.next(stream, sequence))
        return found?.sequence === sequence ? Result.getSuccess(receiptCodec.decode(found)) : Option.none()
      })

      const write = Effect.fnUntraced(function* (claim: Claim, end: End, mayExist: boolean) {
        const { record, key } = claim
        if (mayExist && (yield* has({ ...record, claimKey: key }))) return false
        const nowMs = yield* Clock.currentTimeMillis
        const receipt: Receipt = {
          claimKey: key,
          network: record.network,
          asset: record.asset,
          payer: record.payer,
          payTo: record.payTo,
          amount: chargeOf(record).toString(),
          ...schemeOf(record),
          outcome: end.outcome,
          transaction: end.transaction,
          reason: end.reason?.slice(0, 256) ?? null,
          ...(record.model === undefined ? {} : { model: record.model }),
          ...(record.providerCost === undefined ? {} : { providerCost: record.providerCost }),
          requestedAtMs: record.requestedAtMs ?? record.claimedAtMs,
          settledAtMs: nowMs
        }
        // Two settlers may both find the end before the other's receipt is stored: they write under one id.
        const first = yield* publishAs(receiptIdOf(record.ticket), receipt)
        if (!first.duplicate) return true
        // The broker remembers an id for a while after its receipt is gone.
        if (yield* has(receipt)) return false
        return !(yield* publishAs(`${receiptIdOf(record.ticket)}-again`, receipt)).duplicate
      })
      return Ledger.of({
        write,
        writeCharge,
        writeRefund,
        at,
        has: ({ key, record }) => has({ ...record, claimKey: key }),
        from: (sequence) => read(sequence),
        charges: (network, sequence) => chargesOf(reader, network, sequence)
      })
    })
  )
}

/** All from a sequence to the current end, oldest first; of one subject, or of all. */
const messagesOf = (reader: StreamReader["Service"], fromSequence: number, subject?: string) =>
  Stream.unwrap(
    Effect.map(reader.bounds(stream), ({ firstSequence, lastSequence }) =>
      lastSequence === 0
        ? Stream.empty
        : reader.range(stream, {
            fromSequence: Math.max(fromSequence, firstSequence, 1),
            toSequence: lastSequence,
            ...(subject === undefined ? {} : { subject })
          })
    )
  )

const chargesOf = (reader: StreamReader["Service"], network: string, fromSequence: number) =>
  messagesOf(reader, fromSequence, subjects.receiptsOf(network)).pipe(
    Stream.map((message): ReadonlyArray<StoredCharge> => {
      const decoded = chargeCodec.decode(message)
      // An unreadable one is reported by the reading of all receipts.
      if (Result.isFailure(decoded)) return []
      const { scheme, outcome, payer, channel = null, amount } = decoded.success
      const isCharge = scheme === channelScheme && outcome === "settled"
      return isCharge ? [{ sequence: message.sequence, payer, channel, amount: BigInt(amount) }] : []
    }),
    Stream.flattenIterable
  )

const readingOf = (reader: StreamReader["Service"]) => (fromSequence: number, subject?: string) =>
  messagesOf(reader, fromSequence, subject).pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* (message) {
        const { sequence, storedAtMs } = message
        const receipt = receiptCodec.decode(message)
        if (Result.isSuccess(receipt)) return [{ receipt: receipt.success, sequence, storedAtMs }]
        yield* Effect.logError("a receipt cannot be read, and is left out", receipt.failure).pipe(
          Effect.annotateLogs({ sequence })
        )
        return []
      })
    ),
    Stream.flattenIterable
  )

const subjectOf = ({ network, payer }: Pick<Receipt, "network" | "payer">) =>
  subjects.receipts(network, addressToken(network, payer))
