/** A payer's standing: how many answers it may have before they are paid for, and whether it is served at all. Pure. */
import type { ClaimRecord, PayerRecord, Place } from "./claim-record.ts"
import { hasEnded } from "./claim-policy.ts"

export const newPayer = (network: string, payer: string): PayerRecord => ({ network, payer, places: [], denied: null })

export type PlaceTaken =
  | { readonly _tag: "Taken"; readonly record: PayerRecord }
  /** The very place is held already: nothing to write. */
  | { readonly _tag: "Held" }
  | { readonly _tag: "Full" }
  | { readonly _tag: "Denied" }

/** Takes a place; one of an earlier life of the same claim is taken over. */
export const withPlace = (record: PayerRecord, place: Place, exposureMax: number): PlaceTaken => {
  if (record.denied !== null) return { _tag: "Denied" }
  if (record.places.some((held) => isSame(held, place))) return { _tag: "Held" }
  const others = record.places.filter(({ claimKey }) => claimKey !== place.claimKey)
  if (others.length >= exposureMax) return { _tag: "Full" }
  return { _tag: "Taken", record: { ...record, places: [...others, place] } }
}

/** Without a place; `ticket` null: of whichever life. Undefined when there is none to give back. */
export const withoutPlace = (record: PayerRecord, claimKey: string, ticket: string | null): PayerRecord | undefined => {
  const places = record.places.filter(
    (held) => held.claimKey !== claimKey || (ticket !== null && held.ticket !== ticket)
  )
  return places.length === record.places.length ? undefined : { ...record, places }
}

const isSame = (one: Place, other: Place) => one.claimKey === other.claimKey && one.ticket === other.ticket

/** Whether a claim still stands for a place that its payer holds; `claim` null when there is none. */
export const isPlaceNeeded = (place: Place, claim: ClaimRecord | null): boolean =>
  claim !== null && claim.ticket === place.ticket && !hasEnded(claim.state)

/** Worth keeping: a record that says nothing may go. */
export const saysSomething = ({ places, denied }: PayerRecord) => places.length > 0 || denied !== null
