/**
 * One payment, one call: takes payments for calls and moves them along until they are settled. The first write of a
 * revision wins; no clock, memory or cache of one process decides. A holder's moves hold within one life of a claim, so
 * that renewing it beside its work is harmless; a sweep's hold for one revision only.
 */
import { Clock, Context, Effect, Layer, Option, type Stream } from "effect"
import { type BusError, Publisher } from "#bus"
import { payerKeyOf, type Payments, type SettlementJob, subjects } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { claimMoves } from "../metrics.ts"
import { facilitatorOf } from "../quote.ts"
import type { CheckedPayment } from "../scheme.ts"
import { type Claim, jobId, moveClaim, openClaimStore, settlementJob, settlementJobCodec } from "./ClaimStore.ts"
import {
  afterSettled,
  isGivenOut,
  openPayerStore,
  type PayerStore,
  type PayerName,
  type PayerRecord,
  type Place,
  type PlaceLimits,
  placeOf,
  withoutPlace,
  withPlace
} from "./PayerStore.ts"
import { type ClaimLost, type ClaimMove, ExposureReached, placeAfter, type SweepTimes } from "./claim.ts"
import { type Call, type Refusal, takeClaim, type TakeOptions } from "./take-claim.ts"

interface ClaimOptions {
  /** Answers that one payer may have, or be getting, before they are paid for. */
  readonly exposureMax: number
  /** The part of these that may be whole answers given out before their payment was known. One by default. */
  readonly aheadMax?: number
  /** How long an ended claim is kept after its payment's own end. */
  readonly keptMs: number
}

type Moved = Effect.Effect<Claim, ClaimLost | BusError>

export class Claims extends Context.Service<
  Claims,
  {
    /**
     * Whether nothing known to this process speaks against a payment: it has not seen the payment before, and has
     * refused its payer nothing lately. True once for each.
     */
    readonly isFirstSeen: (checked: CheckedPayment) => Effect.Effect<boolean>
    /** Takes a checked payment for one call: CLAIMED, for the time of a lease. */
    readonly claim: (checked: CheckedPayment, call: Call, options?: TakeOptions) => Effect.Effect<Claim, Refusal>
    readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
    /** Every claim in the bucket, for the reconciliation. */
    readonly all: Stream.Stream<Claim, BusError>
    /**
     * Moves a claim along its table, and its payer's record with it. Holds within one life of the claim: a renewal
     * beside a holder's work is harmless.
     */
    readonly move: (claim: Claim, move: ClaimMove) => Moved
    /** Like `move`, for a claim that has not moved since it was read: not one that another verifier has taken over. */
    readonly moveAsRead: (claim: Claim, move: ClaimMove) => Moved
    /**
     * Stores a job for the settlers, whose first write makes the claim SETTLING if it is not yet; until then the claim
     * is as free as before. Fails with `StreamFull` when the settlers are behind.
     */
    readonly requestSettlement: (claim: Claim, replyTo: SettlementJob["replyTo"]) => Effect.Effect<void, BusError>
    /** Notes in the claim's place that a whole answer is about to be given out before its payment is known. */
    readonly expose: (claim: Claim) => Effect.Effect<void, ExposureReached | BusError>
    readonly payer: (name: PayerName) => Effect.Effect<Option.Option<PayerRecord>, BusError>
    /** Serves a payer again that was denied for this claim; for when the chain has its transfer after all. */
    readonly pardon: (name: PayerName, claimKey: string) => Effect.Effect<void, BusError>
    /** Gives back a place that no claim stands for. */
    readonly vacate: (name: PayerName, place: Place) => Effect.Effect<void, BusError>
  }
>()("starling/x402/Claims") {
  static readonly configuredLayer = Layer.unwrap(
    Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments)))
  )

  static readonly layer = (options: ClaimOptions) =>
    Layer.effect(
      Claims,
      Effect.gen(function* () {
        const store = yield* openClaimStore(options)
        const payers = yield* openPayerStore()
        const publisher = yield* Publisher
        const metrics = yield* Metrics
        const count = metrics.counter(claimMoves)
        const partsOf = (isAsRead: boolean): Parts => ({
          payers,
          isAsRead,
          write: (claim, step) =>
            moveClaim(store, claim, step, isAsRead).pipe(
              Effect.tap(() => Effect.sync(() => count.inc({ move: countedAs(step), outcome: "moved" }))),
              Effect.tapErrorTag("ClaimLost", () =>
                Effect.sync(() => count.inc({ move: countedAs(step), outcome: "lost" }))
              )
            )
        })
        const [inItsLife, asRead] = [partsOf(false), partsOf(true)]
        const limits = { aheadMax: 1, ...options }
        const seen = firstSeen()
        const now = <A>(use: (nowMs: number) => A) => Effect.map(Clock.currentTimeMillis, use)
        return Claims.of({
          isFirstSeen: (checked) => now((nowMs) => seen.isFirst(checked, nowMs)),
          claim: yield* takeClaim({
            store,
            payers,
            limits,
            refusedNow: ({ why }, checked) =>
              why === "replay" ? Effect.void : now((nowMs) => seen.refused(checked, nowMs))
          }),
          read: store.read,
          all: store.all,
          move: (claim, step) => moveWithPlace(inItsLife, claim, step),
          moveAsRead: (claim, step) => moveWithPlace(asRead, claim, step),
          requestSettlement: (claim, replyTo) => publishJob(publisher, claim, replyTo),
          expose: (claim) => expose(payers, limits, claim),
          payer: (name) =>
            Effect.map(
              payers.read(name),
              Option.map(({ value }) => value)
            ),
          pardon: (name, claimKey) => payers.change(name, (payer) => pardoned(payer, claimKey)),
          vacate: (name, { claimKey, ticket }) =>
            payers.change(name, (payer) => {
              const freed = withoutPlace(payer, claimKey, ticket)
              // The claim may be one that was settled, so the wallet may hold less since.
              return freed && { ...freed, settledLast: ticket }
            })
        })
      })
    )
}

/** Both ends without the money count as one. */
const countedAs = ({ _tag }: ClaimMove) => (_tag === "Withheld" ? "Uncollected" : _tag)

interface Parts {
  readonly payers: PayerStore
  readonly write: (claim: Claim, step: ClaimMove) => Moved
  readonly isAsRead: boolean
}

/** Moves the claim and its payer's record. The order of the two writes decides what a crash in between leaves. */
const moveWithPlace = (parts: Parts, claim: Claim, step: ClaimMove): Moved => {
  switch (placeAfter(step)) {
    case "kept":
      return parts.write(claim, step)
    case "free":
      return parts.isAsRead ? releaseAsRead(parts, claim, step) : release(parts, claim, step)
    case "spent":
      return spend(parts, claim, step)
    case "owed":
      return deny(parts, claim, step)
    case "owed if given out":
      return denyIfGivenOut(parts, claim, step)
  }
}

const release = Effect.fn("Claims.release")(function* ({ payers, write }: Parts, claim: Claim, step: ClaimMove) {
  // Written side by side: the next life of the claim has a place of its own.
  const both = [vacate(payers, claim.record, claim), write(claim, step)] as const
  const [, next] = yield* Effect.all(both, { concurrency: 2 })
  return next
})

const releaseAsRead = Effect.fn("Claims.releaseAsRead")(function* (
  { payers, write }: Parts,
  claim: Claim,
  step: ClaimMove
) {
  const next = yield* write(claim, step)
  // The place goes second: a claim that was moved meanwhile keeps it.
  yield* vacate(payers, claim.record, claim)
  return next
})

const spend = Effect.fnUntraced(function* ({ payers, write }: Parts, claim: Claim, step: ClaimMove) {
  const both = [write(claim, step), payers.read(claim.record)] as const
  const [next, seen] = yield* Effect.all(both, { concurrency: 2 })
  // The place goes second: a place that is gone says that the chain has the transfer.
  yield* payers.change(claim.record, (payer) => afterSettled(payer, claim.key, claim.record.ticket), seen)
  return next
})

const deny = Effect.fn("Claims.uncollected")(function* ({ payers, write }: Parts, claim: Claim, step: ClaimMove) {
  // The denial goes first: a crash in between must not let the payer go on.
  const sinceMs = yield* Clock.currentTimeMillis
  yield* payers.change(claim.record, (payer) =>
    denied(withoutPlace(payer, claim.key, null) ?? payer, { claim, step, sinceMs })
  )
  return yield* write(claim, step).pipe(
    Effect.tapErrorTag("ClaimLost", ({ state }) =>
      state === "SETTLED" ? payers.change(claim.record, (payer) => pardoned(payer, claim.key)) : Effect.void
    )
  )
})

const denyIfGivenOut = Effect.fn("Claims.withheld")(function* (
  { payers, write }: Parts,
  claim: Claim,
  step: ClaimMove
) {
  const next = yield* write(claim, step)
  const sinceMs = yield* Clock.currentTimeMillis
  // The gateway that gives the answer out takes a place first and reads the claim after it, so one of the two sees the
  // other.
  yield* payers.change(claim.record, (payer) => {
    const freed = withoutPlace(payer, claim.key, null)
    return freed === undefined || !isGivenOut(payer, claim.key) ? freed : denied(freed, { claim, step, sinceMs })
  })
  return next
})

interface Denial {
  readonly claim: Claim
  readonly step: ClaimMove
  readonly sinceMs: number
}

const denied = (payer: PayerRecord, { claim, step, sinceMs }: Denial): PayerRecord => {
  const reason = "reason" in step ? step.reason : step._tag
  return { ...payer, denied: payer.denied ?? { claimKey: claim.key, reason, sinceMs } }
}

const expose = Effect.fn("Claims.expose")(function* (payers: PayerStore, limits: PlaceLimits, claim: Claim) {
  const place = { ...placeOf(claim.key, claim.record), isGivenOut: true, isAhead: true as const }
  let isFull = false
  yield* payers.change(claim.record, (payer) => {
    const taken = withPlace(payer, place, limits)
    isFull = taken._tag === "Full" || taken._tag === "Denied"
    return taken._tag === "Taken" ? taken.record : undefined
  })
  if (isFull) return yield* new ExposureReached({ payer: claim.record.payer })
})

const vacate = (payers: PayerStore, name: PayerName, { key, record: { ticket } }: Claim) =>
  payers.change(name, (payer) => withoutPlace(payer, key, ticket))

const pardoned = (payer: PayerRecord, claimKey: string) =>
  payer.denied?.claimKey === claimKey ? { ...payer, denied: null } : undefined

const publishJob = Effect.fnUntraced(function* (
  publisher: Publisher["Service"],
  claim: Claim,
  replyTo: SettlementJob["replyTo"]
): Effect.fn.Return<void, BusError> {
  const job = settlementJob(claim, replyTo, yield* Clock.currentTimeMillis)
  if (job === undefined) return
  const subject = subjects.settlements(claim.record.network, facilitatorOf(job.requirements))
  yield* publisher.publish(subject, settlementJobCodec, job, { messageId: jobId(claim.record) })
})

// A working settler reaches an end within a few blocks.
const settleWithinMs = 30_000

export const claimOptionsOf = (section: Pick<Payments, "ExposureMax" | "AheadMax" | "KeptHours">): ClaimOptions => ({
  exposureMax: section.ExposureMax,
  aheadMax: section.AheadMax,
  keptMs: section.KeptHours * 3_600_000
})

export const sweepTimesOf = (section: Pick<Payments, "LeaseSeconds">): SweepTimes => ({
  leaseMs: section.LeaseSeconds * 1_000,
  settleWithinMs
})

interface FirstSeen {
  /** True once for a payment, and only while its payer has had no refusal. */
  readonly isFirst: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// Some ten minutes of a thousand calls a minute: a replay comes within a payment's time.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an unpaid answer keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

/**
 * This process's memory of payments: one that is new to it, from a payer with no recent refusal, is taken without
 * reading its claim first. It is a hint alone: the write to the bucket decides which call has a payment.
 */
export const firstSeen = (): FirstSeen => {
  const seen = recentKeys(payments)
  const refused = recentKeys(payers)
  const nameOf = ({ network, payer }: PayerName) => payerKeyOf(network, payer)
  return {
    isFirst: (checked, nowMs) => {
      const isNew = !seen.has(checked.claimKey, nowMs)
      seen.add(checked.claimKey, nowMs)
      return isNew && !refused.has(nameOf(checked), nowMs)
    },
    refused: (payer, nowMs) => refused.add(nameOf(payer), nowMs)
  }
}

interface RecentKeys {
  /** Moves a key that is there already to the end. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

/** Recently seen keys, in bounded memory: the oldest are dropped first. */
export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In the order of adding, which a map keeps.
  const addedAtMs = new Map<string, number>()
  return {
    add: (key, nowMs) => {
      addedAtMs.delete(key)
      addedAtMs.set(key, nowMs)
      const [oldest] = addedAtMs.keys()
      if (addedAtMs.size > keysMax && oldest !== undefined) addedAtMs.delete(oldest)
    },
    has: (key, nowMs) => {
      const atMs = addedAtMs.get(key)
      return atMs !== undefined && nowMs - atMs < keptMs
    }
  }
}
