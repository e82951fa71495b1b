/**
 * A payer's standing, as the bucket `authorizations` holds it: whose money is spoken for by claims that have not ended, how
 * many answers it may have before they are paid for, and whether it is served at all. Pure. It is never deleted to free a
 * payer.
 */
import { Schema } from "effect"
import { AtomicAmount, ChainAddress, ClaimKey, Network } from "#contracts"
import { type ClaimRecord, hasEnded } from "./claim.ts"
import type { Funds } from "../scheme.ts"

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

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

export const newPayer = (network: string, payer: string): PayerRecord => ({ network, payer, places: [], denied: null })

export const placeOf = (
  claimKey: string,
  { ticket, amount, kind }: Pick<ClaimRecord, "ticket" | "amount" | "kind">
): Place => ({
  claimKey,
  ticket,
  amount,
  // A stream goes out before it is paid for, a whole answer only when the chain is slow.
  isGivenOut: kind === "stream"
})

export type PlaceTaken =
  | { readonly _tag: "Taken"; readonly record: PayerRecord }
  /** The very place is held already: nothing to write. */
  | { readonly _tag: "Held" }
  | { readonly _tag: "Full" }
  | { readonly _tag: "Denied" }

/** Of answers that one payer may have before they are paid for: all of them, and whole ones that went out ahead. */
export interface PlaceLimits {
  readonly exposureMax: number
  readonly aheadMax: number
}

/** Takes a place behind all others, or has the answer of a place that is held given out. */
export const withPlace = (record: PayerRecord, place: Place, limits: PlaceLimits): PlaceTaken => {
  if (record.denied !== null) return { _tag: "Denied" }
  const at = record.places.findIndex((held) => isSame(held, place))
  const held = record.places[at]
  if (held !== undefined && (givesOut(held) || !givesOut(place))) return { _tag: "Held" }
  if (isFull(record, place, limits)) return { _tag: "Full" }
  const places = at === -1 ? [...record.places, place] : record.places.with(at, place)
  return { _tag: "Taken", record: { ...record, places } }
}

const isFull = ({ places }: PayerRecord, place: Place, { exposureMax, aheadMax }: PlaceLimits): boolean => {
  const others = places.filter(({ claimKey }) => claimKey !== place.claimKey)
  if (countOf(others) >= placesMax || places.length >= recordPlacesMax) return true
  if (givesOut(place) && countOf(others.filter(givesOut)) >= exposureMax) return true
  return isAhead(place) && countOf(others.filter(isAhead)) >= aheadMax
}

/** Without a place; `ticket` null: of whichever life. Undefined when there is none to give back. */
export const withoutPlace = (record: PayerRecord, claimKey: string, ticket: string | null): PayerRecord | undefined => {
  const places = record.places.filter(
    (held) => held.claimKey !== claimKey || (ticket !== null && held.ticket !== ticket)
  )
  return places.length === record.places.length ? undefined : { ...record, places }
}

/** After the chain has made a claim's transfer: what it holds is less from here on. */
export const afterSettled = (record: PayerRecord, claimKey: string, ticket: string): PayerRecord => ({
  ...(withoutPlace(record, claimKey, null) ?? record),
  settledLast: ticket
})

/** Whether the payer has, or is getting, what a claim is for. */
export const isGivenOut = (record: PayerRecord, claimKey: string) =>
  record.places.some((held) => held.claimKey === claimKey && givesOut(held))

const isAhead = ({ isAhead }: Place) => isAhead === true
const givesOut = ({ isGivenOut = true }: Place) => isGivenOut
const isSame = (one: Place, other: Place) => one.claimKey === other.claimKey && one.ticket === other.ticket
const countOf = (places: ReadonlyArray<Place>) => new Set(places.map(({ claimKey }) => claimKey)).size

/** Claims over the same money whose places were taken before this one: other assets have a balance of their own. */
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

/** What must be there for a place: its own amount and that of each place before it, unless it has left the wallet. */
export const amountNeeded = (record: PayerRecord, place: Place, { spent }: Pick<Funds, "spent">): bigint => {
  const before = [...placesBefore(record, place)].filter(([claimKey]) => spent?.has(claimKey) !== true)
  return before.reduce((sum, [, amount]) => sum + amount, BigInt(place.amount ?? "0"))
}

/** Whether a claim still stands for a place that its payer holds; `claim` null when there is none. */
export const isPlaceNeeded = (place: Place, claim: ClaimRecord | null): boolean =>
  claim !== null && claim.ticket === place.ticket && !hasEnded(claim.state)

/** Worth keeping: a record that says nothing may go. */
export const saysSomething = ({ places, denied }: PayerRecord) => places.length > 0 || denied !== null
