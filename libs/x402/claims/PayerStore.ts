/**
 * A payer's standing, as the bucket `authorizations` holds it: how much of its money is reserved by claims that have
 * not ended, how many answers it may have before they are paid for, and whether it is served at all. It is never
 * deleted to free a payer.
 *
 * A change that loses its write is decided anew on the record read last, until it is written; a record that says
 * nothing any more expires by itself. Changes of one payer that come to one process at once are made in their order, by
 * one write: a wallet that pays for a hundred calls at once does not block itself.
 */
import { Deferred, Effect, Exit, Option, Schema } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, type KvEntry } from "#bus"
import { AtomicAmount, ChainAddress, ClaimKey, Network, payerKeyOf } from "#contracts"
import type { Funds } from "../scheme.ts"
import { claimBucket } from "./ClaimStore.ts"
import { type ClaimRecord, hasEnded } from "./claim.ts"

const Milliseconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * One claim's place in its payer's record, while it has not ended: money that is reserved. A life of a claim takes its
 * own place and gives back only that.
 */
export const Place = Schema.Struct({
  claimKey: ClaimKey,
  ticket: Schema.String,
  /** In the asset's smallest unit. Absent in records of older versions, which had places for streams alone. */
  amount: Schema.optionalKey(AtomicAmount),
  /**
   * The payer has the answer, or is getting it, before it is paid for. Absent in older records, where it means true.
   */
  isGivenOut: Schema.optionalKey(Schema.Boolean),
  /** A whole answer that was given out before its payment was known. */
  isAhead: Schema.optionalKey(Schema.Literal(true))
})
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** Places of one payer at once. Each of them rewrites the whole record. */
const placesMax = 256
/** Two lives of a claim may overlap for a moment. */
const recordPlacesMax = 2 * placesMax

export const PayerRecord = Schema.Struct({
  network: Network,
  payer: ChainAddress,
  /** In the order in which they were taken. */
  places: Schema.Array(Place).check(Schema.isMaxLength(recordPlacesMax)),
  /**
   * The ticket of the claim that was settled last, while the record lasts. A balance that was read before this was
   * written may still include that claim's money.
   */
  settledLast: Schema.optionalKey(Schema.String),
  /** Nothing is sold to the payer any more: one of its payments could not be collected. */
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
  /** The very same place is held already: nothing to write. */
  | { readonly _tag: "Held" }
  | { readonly _tag: "Full" }
  | { readonly _tag: "Denied" }

/** The answers that one payer may have before they are paid for: all of them, and the whole ones given out ahead. */
export interface PlaceLimits {
  readonly exposureMax: number
  readonly aheadMax: number
}

/** Takes a place behind all others, or marks the answer of a held place as given out. */
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

/** The record without a place; `ticket` null matches any life. Undefined when there is none to give back. */
export const withoutPlace = (record: PayerRecord, claimKey: string, ticket: string | null): PayerRecord | undefined => {
  const places = record.places.filter(
    (held) => held.claimKey !== claimKey || (ticket !== null && held.ticket !== ticket)
  )
  return places.length === record.places.length ? undefined : { ...record, places }
}

/** After the chain has made a claim's transfer: the payer's balance is lower from here on. */
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

/** Claims over the same asset whose places were taken before this one; other assets have a balance of their own. */
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

/** Whether a claim still stands for a place that its payer holds; `claim` null when there is none. */
export const isPlaceNeeded = (place: Place, claim: ClaimRecord | null): boolean =>
  claim !== null && claim.ticket === place.ticket && !hasEnded(claim.state)

const isWorthKeeping = ({ places, denied }: PayerRecord) => places.length > 0 || denied !== null

export interface PayerName {
  readonly network: string
  readonly payer: string
}

export type PayerEntry = Option.Option<KvEntry<PayerRecord>>

export interface PayerStore {
  readonly read: (name: PayerName) => Effect.Effect<PayerEntry, BusError>
  /**
   * Writes the record that `change` makes, or nothing when that is undefined; returns the record right after it.
   * `seen`: an earlier read.
   */
  readonly change: (name: PayerName, change: PayerChange, seen?: PayerEntry) => Effect.Effect<PayerRecord, BusError>
}

type PayerChange = (record: PayerRecord) => PayerRecord | undefined

// Each failed try is another process's success; no more processes change one wallet at once.
const triesMax = 64
const goneAfterMs = 60_000

export const recordOf = (name: PayerName, entry: PayerEntry): PayerRecord =>
  Option.isSome(entry) ? entry.value.value : newPayer(name.network, name.payer)

export const openPayerStore = Effect.fnUntraced(function* (): Effect.fn.Return<PayerStore, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, PayerRecord)
  const read = ({ network, payer }: PayerName) => bucket.get(payerKeyOf(network, payer))
  // One per payer in work in this process; the roles bound their number.
  const queues = new Map<string, Array<Waiting>>()
  const change = (name: PayerName, change: PayerChange, seen?: PayerEntry) =>
    Effect.suspend(() => {
      const key = payerKeyOf(name.network, name.payer)
      const waiting: Waiting = { change, seen, done: Deferred.makeUnsafe() }
      const queue = queues.get(key)
      if (queue !== undefined) {
        queue.push(waiting)
        return Deferred.await(waiting.done)
      }
      const own = [waiting]
      queues.set(key, own)
      const over = () => void queues.delete(key)
      const working = Effect.onExit(inTurn({ bucket, read, name }, own, over), () => leave(own, key, over))
      // The first caller may be interrupted while others wait on. All questions to the broker end.
      return Effect.andThen(Effect.forkDetach(working, { startImmediately: true }), Deferred.await(waiting.done))
    })
  return { read, change }
})

interface Waiting {
  readonly change: PayerChange
  readonly seen: PayerEntry | undefined
  readonly done: Deferred.Deferred<PayerRecord, BusError>
}

interface Target {
  readonly bucket: KvBucket<PayerRecord>
  readonly read: PayerStore["read"]
  readonly name: PayerName
}

/** A process that ends fails the changes that still wait. */
const leave = (left: Array<Waiting>, key: string, over: () => void) =>
  Effect.sync(() => {
    if (left.length === 0) return
    over()
    const gone = new BusUnavailable({ operation: `change ${key}`, detail: "the process ends" })
    for (const { done } of left) Deferred.doneUnsafe(done, Exit.fail(gone))
  })

/** Makes all waiting changes, again and again until none is left. */
const inTurn = Effect.fnUntraced(function* (
  target: Target,
  queue: Array<Waiting>,
  over: () => void
): Effect.fn.Return<void> {
  let entry: PayerEntry | undefined
  while (queue.length > 0) {
    const batch = [...queue]
    const made = yield* Effect.exit(changeAll(target, batch, newest([entry, ...batch.map(({ seen }) => seen)])))
    if (Exit.isSuccess(made)) entry = made.value.entry
    queue.splice(0, batch.length)
    batch.forEach(({ done }, index) => {
      const result = Exit.map(made, ({ records }) => records[index] ?? recordOf(target.name, Option.none()))
      Deferred.doneUnsafe(done, result)
    })
  }
  // In the same turn that found no change left, so that the next change begins anew.
  over()
})

const newest = (entries: ReadonlyArray<PayerEntry | undefined>): PayerEntry | undefined => {
  const revisionOf = (entry: PayerEntry) => (Option.isSome(entry) ? entry.value.revision : 0)
  return entries.reduce(
    (best, entry) =>
      entry !== undefined && (best === undefined || revisionOf(entry) > revisionOf(best)) ? entry : best,
    undefined
  )
}

interface Changed {
  readonly entry: PayerEntry
  /** The record after each change, in their order. */
  readonly records: ReadonlyArray<PayerRecord>
}

const changeAll = Effect.fnUntraced(function* (
  { bucket, read, name }: Target,
  batch: ReadonlyArray<Waiting>,
  seen: PayerEntry | undefined
): Effect.fn.Return<Changed, BusError> {
  const key = payerKeyOf(name.network, name.payer)
  let entry = seen ?? (yield* read(name))
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = recordOf(name, entry)
    let next = before
    const records = batch.map(({ change }) => (next = change(next) ?? next))
    if (next === before) return { entry, records }
    const revision = Option.isSome(entry) ? entry.value.revision : 0
    const write = bucket.update(key, next, revision, isWorthKeeping(next) ? undefined : goneAfterMs)
    const written = yield* write.pipe(
      Effect.asSome,
      Effect.catchTag("RevisionConflict", () => Effect.succeedNone)
    )
    if (Option.isSome(written)) {
      return { entry: Option.some({ key, value: next, revision: written.value }), records }
    }
    entry = yield* read(name)
  }
  const detail = `other writes came first ${triesMax} times`
  return yield* new BusUnavailable({ operation: `change payer ${name.payer}`, detail })
})
