/**
 * Money that is spoken for: each claim that has not ended holds a place in its payer's record, and is only good while the
 * chain is seen to hold enough for it and all that were there before it. The record's own order decides, whichever
 * gateway, verifier or process asks. A claim that finds itself alone asks nothing: the transfer's simulation, which is
 * made of the same wallet, says as much.
 *
 * A balance counts only when it was asked for behind the newest settlement that the record knows. Otherwise the money of
 * a payment could be seen in the wallet while it was still there, and its place be missed because it was gone already.
 */
import { Effect, Fiber } from "effect"
import type { BusError } from "#bus"
import {
  type PayerRecord,
  type Place,
  amountNeeded,
  type PlaceLimits,
  placesBefore,
  type PlaceTaken,
  withoutPlace,
  withPlace
} from "./payer.ts"
import { ClaimRefused } from "./errors.ts"
import type { ChainUnavailable } from "../errors.ts"
import { type PayerBook, type PayerEntry, recordOf } from "./PayerBook.ts"
import type { CheckedPayment, Funds } from "../scheme.ts"

/** What the payer holds, and which of these claims have been paid from it. Not asked where nothing but the one is there. */
export type AskFunds = (claimKeys: ReadonlyArray<string>) => Effect.Effect<Funds, ChainUnavailable>

export interface Reserving {
  readonly payers: PayerBook
  readonly limits: PlaceLimits
  readonly checked: CheckedPayment
  readonly place: Place
  /** Null where whoever claims answers for the money. */
  readonly askFunds: AskFunds | null
}

/** What a balance was seen to be, and behind which settlement. */
interface Seen {
  readonly funds: Funds
  readonly settledLast: string | undefined
}

type Refused = ClaimRefused | BusError | ChainUnavailable

/** Takes the place and keeps it, or fails and leaves none. */
export const reserve = Effect.fnUntraced(function* (
  reserving: Reserving,
  entry?: PayerEntry,
  known?: Seen
): Effect.fn.Return<void, Refused> {
  const { payers, limits, checked, place } = reserving
  const seen = entry ?? (yield* payers.read(checked))
  const before = recordOf(checked, seen)
  yield* refuseWithoutPlace(checked, withPlace(before, place, limits))
  // Beside the write, which the chain takes longer than.
  const asking =
    known === undefined && isAskedFor(before, place)
      ? yield* Effect.forkChild(Effect.result(ask(reserving, before)), { startImmediately: true })
      : undefined
  let outcome: PlaceTaken["_tag"] = "Held"
  const take = (payer: PayerRecord) => {
    const decided = withPlace(payer, place, limits)
    outcome = decided._tag
    return decided._tag === "Taken" ? decided.record : undefined
  }
  const forget = asking === undefined ? Effect.void : Fiber.interrupt(asking)
  const undone = () => Effect.andThen(forget, giveBack(reserving))
  const after = yield* Effect.onError(payers.change(checked, take, seen), undone)
  yield* Effect.onError(refuseWithoutPlace(checked, { _tag: outcome }), () => forget)
  if (!isAskedFor(after, place)) return yield* forget
  const answered = asking === undefined ? Effect.succeed(known) : Effect.flatMap(Fiber.join(asking), Effect.fromResult)
  yield* Effect.onError(
    Effect.flatMap(answered, (asked) => covered(reserving, after, asked)),
    undone
  )
})

/** Whether the money is there for one who takes a place now, without taking it; what was seen then. */
export const foresee = (reserving: Reserving, entry: PayerEntry): Effect.Effect<Seen | undefined, Refused> => {
  const record = recordOf(reserving.checked, entry)
  if (!isAskedFor(record, reserving.place)) return Effect.undefined
  return Effect.flatMap(ask(reserving, record), (seen) => covered(reserving, record, seen))
}

/** What cannot be given back now is given back by the sweep. */
export const giveBack = ({ payers, checked, place }: Reserving) =>
  Effect.ignore(payers.change(checked, (payer) => withoutPlace(payer, place.claimKey, place.ticket)))

/** Another claim's money is, or was a moment ago, in the wallet that the simulation saw. */
const isAskedFor = (record: PayerRecord, place: Place) =>
  record.settledLast !== undefined || placesBefore(record, place).size > 0

const ask = ({ askFunds, place }: Reserving, record: PayerRecord): Effect.Effect<Seen | undefined, ChainUnavailable> =>
  askFunds === null
    ? Effect.undefined
    : Effect.map(askFunds([...placesBefore(record, place).keys()]), (funds) => ({
        funds,
        settledLast: record.settledLast
      }))

// A chain that does not tell which payments it has made is asked again: what lands is written down within a second.
const pausesMs = [0, 100, 300, 600]

const covered = Effect.fnUntraced(function* (
  reserving: Reserving,
  first: PayerRecord,
  asked: Seen | undefined
): Effect.fn.Return<Seen | undefined, Refused> {
  const { checked, payers, place, askFunds } = reserving
  if (askFunds === null || !isAskedFor(first, place)) return asked
  let record = first
  // Behind another settlement than the record knows now.
  let seen = asked?.settledLast === record.settledLast ? asked : yield* ask(reserving, record)
  for (const pauseMs of pausesMs) {
    if (seen !== undefined && seen.funds.balance >= amountNeeded(record, place, seen.funds)) return seen
    // As of one block, each payment either is in the wallet or has left it: only what has changed since can help.
    if (pauseMs > 0 && seen?.funds.spent !== null) break
    yield* Effect.sleep(pauseMs)
    record = recordOf(checked, yield* payers.read(checked))
    seen = yield* ask(reserving, record)
  }
  if (seen !== undefined && seen.funds.balance >= amountNeeded(record, place, seen.funds)) return seen
  const isUnfunded = seen !== undefined && seen.funds.balance < BigInt(place.amount ?? "0")
  return yield* refused(checked, isUnfunded ? "unfunded" : "exposure")
})

export const refuseWithoutPlace = (
  checked: CheckedPayment,
  { _tag }: Pick<PlaceTaken, "_tag">
): Effect.Effect<void, ClaimRefused> => {
  if (_tag === "Denied") return Effect.fail(refused(checked, "denied"))
  return _tag === "Full" ? Effect.fail(refused(checked, "exposure")) : Effect.void
}

export const refused = ({ claimKey, payer }: CheckedPayment, why: ClaimRefused["why"], holder?: string) =>
  new ClaimRefused({ why, claimKey, payer, ...(holder === undefined ? {} : { holder }) })
