/**
 * A payer's standing, as stored in the bucket `authorizations`: how much of its money is reserved by claims that have
 * not ended, what it has paid and cost before, and whether it is served at all. It is never deleted to free a payer.
 *
 * A change that loses its write is decided again on the latest record until it is written; a record with nothing left
 * to record expires by itself, and one with history alone after a month. Concurrent changes of one payer in one process
 * are made in order, by one write: a wallet that pays for a hundred calls at once does not block itself.
 */
import { Effect, Option, Result, Schema } from "effect"
import { type BusError, Kv, type KvEntry, records } from "#bus"
import { AtomicAmount, ChainAddress, ClaimKey, Network, payerKeyOf } from "#payments/contract"
import type { Funds } from "../scheme.ts"
import { claimBucket } from "./ClaimStore.ts"
import { type ClaimRecord, hasEnded } from "./claim.ts"
import { afterLost, afterPaid, beyondCredit, Credit, type CreditTerms, judgeCredit, noCredit } from "./credit.ts"

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * One claim's place in its payer's record until it ends: reserved money. Each life of a claim takes its own place and
 * returns only that.
 */
export const Place = Schema.Struct({
  claimKey: ClaimKey,
  ticket: Schema.String,
  /** In the asset's smallest unit. Absent in records of older versions, which had places for streams alone. */
  amount: Schema.optionalKey(AtomicAmount),
  /**
   * The payer has the answer, or is receiving it, before it is paid for. Absent in older records, where it means true.
   */
  isGivenOut: Schema.optionalKey(Schema.Boolean)
})
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** A payer's places at once. Each of them rewrites the whole record. */
const placesMax = 256
/** Two lives of a claim may overlap for a moment. */
const recordPlacesMax = 2 * placesMax

export const PayerRecord = Schema.Struct({
  network: Network,
  payer: ChainAddress,
  /** In the order in which they were taken. */
  places: Schema.Array(Place).check(Schema.isMaxLength(recordPlacesMax)),
  /**
   * The ticket of the claim that was settled last, while the record lasts. A balance read before this was written may
   * still include that claim's money.
   */
  settledLast: Schema.optionalKey(Schema.String),
  settledAtMs: Schema.optionalKey(Milliseconds),
  /** Absent before the first payment or loss. */
  credit: Schema.optionalKey(Credit),
  /** Nothing more is sold to the payer: one of its payments could not be collected. */
  denied: Schema.NullOr(Schema.Struct({ claimKey: ClaimKey, reason: Schema.String, sinceMs: Milliseconds }))
})
export interface PayerRecord extends Schema.Schema.Type<typeof PayerRecord> {}

export const newPayer = (network: string, payer: string): PayerRecord => ({ network, payer, places: [], denied: null })

export const placeOf = (
  claimKey: string,
  { ticket, amount, kind }: Pick<ClaimRecord, "ticket" | "amount" | "kind">
): Place => ({
  claimKey,
  ticket,
  amount,
  // A stream is sent before it is paid for, a complete answer only when the chain is slow.
  isGivenOut: kind === "stream"
})

export type PlaceTaken =
  /** `beyond`: by how much new payers have more unpaid, in millionths of a dollar. */
  | { readonly _tag: "Taken"; readonly record: PayerRecord; readonly beyond: number }
  /** This exact place is already held: nothing to write. */
  | { readonly _tag: "Held" }
  | { readonly _tag: "Full" }
  /** The payer's unpaid calls leave no room for another. */
  | { readonly _tag: "Unpaid"; readonly retryAfterSeconds: number }
  /** The unpaid calls of all new payers together leave no room. */
  | { readonly _tag: "Crowded" }
  | { readonly _tag: "Denied" }

/** The terms by which a place is judged. */
export interface PlaceTerms {
  readonly credit: CreditTerms
  readonly microUsdOf: (network: string, amount: bigint) => number
  readonly nowMs: number
  /** Whether new payers together may have this much more unpaid. */
  readonly hasRoom: (beyond: number) => boolean
}

/**
 * Takes a place behind all others, or marks the answer of a held place as sent. `terms` null: nothing is done for the
 * payment before it is settled, so if it never is, nothing is lost.
 */
export const withPlace = (record: PayerRecord, place: Place, terms: PlaceTerms | null): PlaceTaken => {
  if (record.denied !== null) return { _tag: "Denied" }
  const at = record.places.findIndex((held) => isSame(held, place))
  const held = record.places[at]
  if (held !== undefined && (givesOut(held) || !givesOut(place))) return { _tag: "Held" }
  if (held !== undefined) {
    return { _tag: "Taken", record: { ...record, places: record.places.with(at, place) }, beyond: 0 }
  }
  const others = record.places.filter(({ claimKey }) => claimKey !== place.claimKey)
  if (countOf(others) >= placesMax || record.places.length >= recordPlacesMax) return { _tag: "Full" }
  const taken = { ...record, places: [...record.places, place] }
  if (terms === null) return { _tag: "Taken", record: taken, beyond: 0 }
  const unpaid = sumOf(record.network, others, terms)
  const verdict = judgeCredit(
    { credit: creditOf(record), unpaid, price: sumOf(record.network, [place], terms) },
    terms.credit,
    terms.nowMs
  )
  if (verdict._tag === "Refused") return { _tag: "Unpaid", retryAfterSeconds: verdict.retryAfterSeconds }
  if (verdict.beyond > 0 && !terms.hasRoom(verdict.beyond)) return { _tag: "Crowded" }
  return { _tag: "Taken", record: taken, beyond: verdict.beyond }
}

const creditOf = ({ credit = noCredit }: PayerRecord) => credit

/** Two lives of a claim are one payment. */
const sumOf = (network: string, places: ReadonlyArray<Place>, { microUsdOf }: Pick<PlaceTerms, "microUsdOf">) => {
  const amounts = new Map(places.map(({ claimKey, amount = "0" }) => [claimKey, BigInt(amount)]))
  return [...amounts.values()].reduce((sum, amount) => sum + microUsdOf(network, amount), 0)
}

/** What a payer's calls would cost if none were paid: the total, and the part beyond its credit. */
export const unpaidOf = (record: PayerRecord, terms: Pick<PlaceTerms, "microUsdOf">) => {
  const all = sumOf(record.network, record.places, terms)
  return { all, beyond: beyondCredit(all, creditOf(record)) }
}

/** The record without a place; `ticket` null matches any life. Undefined if there is none to return. */
export const withoutPlace = (record: PayerRecord, claimKey: string, ticket: string | null): PayerRecord | undefined => {
  const places = record.places.filter(
    (held) => held.claimKey !== claimKey || (ticket !== null && held.ticket !== ticket)
  )
  return places.length === record.places.length ? undefined : { ...record, places }
}

/** How a claim ended for its payer. */
export interface EndedClaim {
  readonly claimKey: string
  readonly ticket: string
  /** The amount that was paid or lost, in millionths of a dollar. */
  readonly microUsd: number
  readonly nowMs: number
}

/** After the chain has made a claim's transfer: the payer's balance is lower from here on. */
export const afterSettled = (
  record: PayerRecord,
  { claimKey, ticket, microUsd, nowMs }: EndedClaim,
  terms: CreditTerms
): PayerRecord => ({
  ...(withoutPlace(record, claimKey, null) ?? record),
  settledLast: ticket,
  settledAtMs: nowMs,
  credit: afterPaid(creditOf(record), microUsd, terms, nowMs)
})

/** After an abandoned payment has arrived after all. */
export const withPaid = (
  record: PayerRecord,
  { microUsd, nowMs }: Pick<EndedClaim, "microUsd" | "nowMs">,
  terms: CreditTerms
): PayerRecord => ({ ...record, credit: afterPaid(creditOf(record), microUsd, terms, nowMs) })

/** After a call that will no longer be paid. Undefined if its place is gone: it is already counted. */
export const afterUnpaid = (
  record: PayerRecord,
  { claimKey, microUsd, nowMs }: Omit<EndedClaim, "ticket">,
  ticket: string | null
) => {
  const freed = withoutPlace(record, claimKey, ticket)
  if (freed === undefined) return undefined
  const { credit, beyond } = afterLost(creditOf(record), microUsd, nowMs)
  return { record: { ...freed, credit }, beyond }
}

// A balance can come from a node that is behind, and clocks differ.
const settledRecentlyMs = 120_000

export const hasSettledLately = ({ settledLast, settledAtMs }: PayerRecord, nowMs: number): boolean =>
  settledLast !== undefined && (settledAtMs === undefined || nowMs - settledAtMs < settledRecentlyMs)

/** Whether the payer has, or is receiving, what a claim is for. */
export const isGivenOut = (record: PayerRecord, claimKey: string) =>
  record.places.some((held) => held.claimKey === claimKey && givesOut(held))

const givesOut = ({ isGivenOut = true }: Place) => isGivenOut
const isSame = (one: Place, other: Place) => one.claimKey === other.claimKey && one.ticket === other.ticket
const countOf = (places: ReadonlyArray<Place>) => new Set(places.map(({ claimKey }) => claimKey)).size

/** Claims over the same asset whose places were taken before this one; other assets have their own balance. */
export const placesBefore = (record: PayerRecord, place: Place): ReadonlyMap<string, bigint> => {
  const at = record.places.findIndex((held) => isSame(held, place))
  const before = at === -1 ? record.places : record.places.slice(0, at)
  const sameMoney = place.claimKey.slice(0, place.claimKey.lastIndexOf(".") + 1)
  return new Map(
    before
      .filter(({ claimKey }) => claimKey !== place.claimKey && claimKey.startsWith(sameMoney))
      .map(({ claimKey, amount = "0" }) => [claimKey, BigInt(amount)])
  )
}

/**
 * The balance that a place needs: its own amount and that of each earlier place whose money has not left the wallet.
 */
export const amountNeeded = (record: PayerRecord, place: Place, { spent }: Pick<Funds, "spent">): bigint => {
  const before = [...placesBefore(record, place)].filter(([claimKey]) => spent?.has(claimKey) !== true)
  return before.reduce((sum, [, amount]) => sum + amount, BigInt(place.amount ?? "0"))
}

/** Whether a claim still backs a place that its payer holds; `claim` null if there is none. */
export const isPlaceNeeded = (place: Place, claim: ClaimRecord | null): boolean =>
  claim !== null && claim.ticket === place.ticket && !hasEnded(claim.state)

// A payer absent for this long counts as new again.
const historyKeptMs = 30 * 86_400_000
const expiresAfterMs = 60_000

export const timeToLiveMs = (record: PayerRecord): number | undefined => {
  if (record.places.length > 0 || record.denied !== null) return undefined
  const { earned, owed } = creditOf(record)
  return earned > 0 || owed.microUsd > 0 ? historyKeptMs : expiresAfterMs
}

export interface PayerName {
  readonly network: string
  readonly payer: string
}

export type PayerEntry = Option.Option<KvEntry<PayerRecord>>

export interface PayerStore {
  readonly read: (name: PayerName) => Effect.Effect<PayerEntry, BusError>
  /**
   * Writes the record that `change` makes, or nothing when that is undefined; returns the record right after the write,
   * with its revision. `seen`: an earlier read.
   */
  readonly change: (name: PayerName, change: PayerChange, seen?: PayerEntry) => Effect.Effect<ChangedPayer, BusError>
}

type PayerChange = (record: PayerRecord) => PayerRecord | undefined

export interface ChangedPayer {
  readonly record: PayerRecord
  readonly revision: number
}

export const recordOf = (name: PayerName, entry: PayerEntry): PayerRecord =>
  Option.isSome(entry) ? entry.value.value : newPayer(name.network, name.payer)

export const openPayerStore = Effect.fnUntraced(function* (): Effect.fn.Return<PayerStore, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, PayerRecord)
  const payers = records(bucket, { together: true, keptMs: timeToLiveMs })
  return {
    read: ({ network, payer }) => bucket.get(payerKeyOf(network, payer)),
    change: ({ network, payer }, change, seen) =>
      Effect.map(
        payers.change(
          payerKeyOf(network, payer),
          (before = newPayer(network, payer)) => {
            const next = change(before)
            return Result.succeed({ answer: next ?? before, next })
          },
          { known: seen }
        ),
        ({ answer, revision }) => ({ record: answer, revision })
      )
  }
})
