/**
 * Takes a payment for a call. The key is created, or a released one taken again by its revision: of any number
 * who try at once one succeeds. What is given out before it is paid for also takes one of the payer's places;
 * who finds none lets the claim go again. An unmet payment is created at once, beside a look at its payer; of any other
 * a look at both comes first, so that those who will be refused anyway write nothing. Who asks a second time for the same
 * call, because whoever was asked first has fallen silent, takes the claim over: its revision moves, so that the
 * silent one can undo nothing.
 */
import { Clock, Effect, Option, Result } from "effect"
import { type BusError, BusUnavailable } from "#bus"
import type { AnswerKind } from "#contracts"
import { Metrics } from "#runtime"
import { canBeTaken, moved, takesPlace } from "./claim-policy.ts"
import type { ClaimRecord, PayerRecord } from "./claim-record.ts"
import type { Claim, ClaimStore } from "./ClaimStore.ts"
import { ClaimRefused } from "./errors.ts"
import { claimsTaken } from "../metrics.ts"
import { type PayerBook, type PayerEntry, recordOf } from "./PayerBook.ts"
import { type PlaceTaken, withPlace } from "./payer-policy.ts"
import type { CheckedPayment } from "../scheme.ts"

/**
 * What a payment is claimed for. `binding`: SHA-256 over method, path and body. `holder`: the gateway's instance.
 * `ticket`: drawn for this call alone.
 */
export interface Call {
  readonly binding: string
  readonly kind: AnswerKind
  readonly holder: string
  readonly ticket: string
}

interface Parts {
  readonly store: ClaimStore
  readonly payers: PayerBook
  readonly exposureMax: number
  /** Who is refused is looked at first from now on. */
  readonly refusedNow: (refusal: ClaimRefused, checked: CheckedPayment) => Effect.Effect<void>
}

export const takeClaim = Effect.fnUntraced(function* (parts: Parts) {
  const outcomes = (yield* Metrics).counter(claimsTaken)
  const count = (outcome: string) => Effect.sync(() => outcomes.inc({ outcome }))
  return Effect.fnUntraced(
    function* (checked: CheckedPayment, call: Call, isUnmet = false): Effect.fn.Return<Claim, ClaimRefused | BusError> {
      const fresh = newRecord(checked, call, yield* Clock.currentTimeMillis)
      return yield* isUnmet ? takeUnmet(parts, checked, fresh) : takeAsFound(parts, checked, fresh)
    },
    (taking, checked) =>
      taking.pipe(
        Effect.tap(({ record }) => count(record.moves === 0 ? "claimed" : "retaken")),
        Effect.tapErrorTag("ClaimRefused", (refusal) =>
          Effect.andThen(count(refusal.why), parts.refusedNow(refusal, checked))
        )
      )
  )
})

const takeAsFound = Effect.fnUntraced(function* (
  parts: Parts,
  checked: CheckedPayment,
  fresh: ClaimRecord
): Effect.fn.Return<Claim, ClaimRefused | BusError> {
  const { store, payers, exposureMax } = parts
  const reads = [payers.read(checked), store.read(checked.claimKey)] as const
  const [seen, found] = yield* Effect.all(reads, { concurrency: 2 })
  const record = Option.isSome(found) ? taken(found.value.record, fresh) : fresh
  if (record === undefined) return yield* refused(checked, "replay")
  const wanted = placeWanted(record, checked.claimKey, exposureMax)
  yield* refuseWithoutPlace(checked, wanted(recordOf(checked, seen)))
  const claim = yield* write(store, checked, record, Option.getOrUndefined(found))
  return yield* placed(parts, checked, claim, seen)
})

/** What is there already is found by the write; what is refused after it is let go again. */
const takeUnmet = Effect.fnUntraced(function* (
  parts: Parts,
  checked: CheckedPayment,
  fresh: ClaimRecord
): Effect.fn.Return<Claim, ClaimRefused | BusError> {
  const { store, payers, exposureMax } = parts
  const both = [Effect.result(payers.read(checked)), Effect.result(store.write(checked.claimKey, fresh, 0))] as const
  const [seen, created] = yield* Effect.all(both, { concurrency: 2 })
  if (Result.isFailure(created)) {
    if (created.failure._tag === "RevisionConflict") return yield* takeAsFound(parts, checked, fresh)
    return yield* created.failure
  }
  const claim = created.success
  const mayHave = Effect.flatMap(Effect.fromResult(seen), (entry) =>
    refuseWithoutPlace(checked, placeWanted(fresh, checked.claimKey, exposureMax)(recordOf(checked, entry)))
  )
  yield* Effect.tapError(mayHave, () => letGo(store, claim))
  return yield* placed(parts, checked, claim, Result.getOrThrow(seen))
})

/** In one of the payer's places, where it takes one. */
const placed = (
  { store, payers, exposureMax }: Parts,
  checked: CheckedPayment,
  claim: Claim,
  seen: PayerEntry
): Effect.Effect<Claim, ClaimRefused | BusError> => {
  if (!takesPlace(claim.record)) return Effect.succeed(claim)
  const wanted = placeWanted(claim.record, checked.claimKey, exposureMax)
  return takePlace(payers, checked, wanted, seen).pipe(
    Effect.tapError(() => letGo(store, claim)),
    Effect.as(claim)
  )
}

const newRecord = (checked: CheckedPayment, call: Call, nowMs: number): ClaimRecord => ({
  state: "CLAIMED",
  network: checked.network,
  asset: checked.asset,
  payer: checked.payer,
  payTo: checked.payTo,
  amount: checked.amount.toString(),
  ...call,
  moves: 0,
  validBeforeMs: checked.validBeforeMs,
  claimedAtMs: nowMs,
  requestedAtMs: null,
  transactions: [],
  asked: 0,
  reason: null,
  payment: { payload: checked.payload, requirements: checked.requirements }
})

/** The record that takes the place of what was found; undefined where that is somebody else's. */
const taken = (found: ClaimRecord, fresh: ClaimRecord): ClaimRecord | undefined => {
  if (canBeTaken(found)) return { ...fresh, moves: 1 }
  return found.state === "CLAIMED" && found.ticket === fresh.ticket ? moved(found, { _tag: "Renew" }) : undefined
}

/** Who loses the write has met somebody who uses the same payment, or the silent one, who has just woken up. */
const write = (
  store: ClaimStore,
  checked: CheckedPayment,
  record: ClaimRecord,
  found: Claim | undefined
): Effect.Effect<Claim, ClaimRefused | BusError> =>
  Effect.catchTag(store.write(checked.claimKey, record, found?.revision ?? 0), "RevisionConflict", () =>
    Effect.fail(found?.record.state === "CLAIMED" ? awake : refused(checked, "replay"))
  )

const awake = new BusUnavailable({ operation: "take a claim over", detail: "whoever has it moves it still" })

type Wanted = (payer: PayerRecord) => PlaceTaken

const placeWanted = (record: ClaimRecord, claimKey: string, exposureMax: number): Wanted => {
  const place = { claimKey, ticket: record.ticket }
  return (payer) =>
    takesPlace(record) || payer.denied !== null ? withPlace(payer, place, exposureMax) : { _tag: "Held" }
}

const takePlace = Effect.fnUntraced(function* (
  payers: PayerBook,
  checked: CheckedPayment,
  wanted: Wanted,
  seen: PayerEntry
): Effect.fn.Return<void, ClaimRefused | BusError> {
  let outcome: PlaceTaken["_tag"] = "Held"
  const take = (payer: PayerRecord) => {
    const decided = wanted(payer)
    outcome = decided._tag
    return decided._tag === "Taken" ? decided.record : undefined
  }
  yield* payers.change(checked, take, seen)
  yield* refuseWithoutPlace(checked, { _tag: outcome })
})

const refuseWithoutPlace = (
  checked: CheckedPayment,
  { _tag }: Pick<PlaceTaken, "_tag">
): Effect.Effect<void, ClaimRefused> => {
  if (_tag === "Denied") return Effect.fail(refused(checked, "denied"))
  return _tag === "Full" ? Effect.fail(refused(checked, "exposure")) : Effect.void
}

const refused = ({ claimKey, payer }: CheckedPayment, why: ClaimRefused["why"]) =>
  new ClaimRefused({ why, claimKey, payer })

/** What cannot be let go now is let go by the sweep. */
const letGo = (store: ClaimStore, { key, record, revision }: Claim) => {
  const next = moved(record, { _tag: "Release", reason: "no place" })
  return next === undefined ? Effect.void : Effect.ignore(store.write(key, next, revision))
}
