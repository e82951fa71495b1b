/**
 * One payment, one call: takes payments for calls and moves them along until they are settled. Whoever writes
 * a revision first has it; nobody's clock, memory or cache decides. A holder's moves hold within one life of
 * a claim, so that renewing it beside its work is harmless; a sweep's hold for one revision only.
 */
import { Clock, Context, Effect, Layer, Option, type Stream } from "effect"
import { type BusError, Publisher } from "#bus"
import { type SettlementJob, subjects, type Payments } from "#contracts"
import { Metrics } from "#runtime"
import { acquaintance, type Asking, type Call, type Refusal, takeClaim } from "./take-claim.ts"
import { type Move, moveOf, type SweepMove, type SweepTimes } from "./claim.ts"
import {
  type PayerRecord,
  type Place,
  afterSettled,
  isGivenOut,
  type PlaceLimits,
  placeOf,
  withoutPlace,
  withPlace
} from "./payer.ts"
import { type Claim, type ClaimStore, openClaimStore, moveClaim } from "./ClaimStore.ts"
import { type ClaimLost, ExposureReached } from "./errors.ts"
import { claimMoves } from "../metrics.ts"
import { openPayerBook, type PayerBook, type PayerName } from "./PayerBook.ts"
import type { CheckedPayment } from "../scheme.ts"
import { jobId, settlementJob, settlementJobCodec } from "./settlement-job.ts"
export interface ClaimOptions {
  /** Answers that one payer may have, or be getting, before they are paid for. */
  readonly exposureMax: number
  /** Of these, whole ones that went out although nobody knew yet that they were paid for; without a word one. */
  readonly aheadMax?: number
  /** How long an ended claim is kept after its payment's own end. */
  readonly keptMs: number
}

type Moved = Effect.Effect<Claim, ClaimLost | BusError>

export class Claims extends Context.Service<
  Claims,
  {
    /**
     * Whether nothing speaks against a payment that this process knows: it has not met it, and refused its payer
     * nothing lately. True once for each.
     */
    readonly meet: (checked: CheckedPayment) => Effect.Effect<boolean>
    /** Takes a checked payment for one call: CLAIMED, for the time of a lease. `isUnmet`: as `meet` says. */
    readonly claim: (checked: CheckedPayment, call: Call, asking?: Asking) => Effect.Effect<Claim, Refusal>
    readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
    /** Every claim that is kept, for the books. */
    readonly all: Stream.Stream<Claim, BusError>
    /** Begins the lease anew. */
    readonly renew: (claim: Claim) => Moved
    /** Before the first byte of a stream goes out. */
    readonly serve: (claim: Claim) => Moved
    /**
     * A job for the settlers, whose first write makes the claim SETTLING; until then it is as free as before. Fails
     * with `StreamFull` when they are behind.
     */
    readonly ask: (claim: Claim, replyTo: SettlementJob["replyTo"]) => Effect.Effect<void, BusError>
    /** Never free again from here on. Where there is no job for the settlers, a sweep makes one later. */
    readonly commit: (claim: Claim) => Moved
    /** Both: never free again from here on, and a job for the settlers. */
    readonly settling: (claim: Claim, replyTo: SettlementJob["replyTo"]) => Moved
    /**
     * Remembers a signed transaction, before it is sent, of a claim that is to be settled. Only of the very revision:
     * the fence between settlers, and between them and a sweep that lets the claim go.
     */
    readonly prepared: (claim: Claim, transaction: string) => Moved
    readonly settled: (claim: Claim, transaction: string) => Moved
    /** Never to be had: the payer is denied from now on. */
    readonly uncollected: (claim: Claim, reason: string) => Moved
    /** As `uncollected`, for an answer that was not given out: the payer is denied only if it was meanwhile. */
    readonly withheld: (claim: Claim, reason: string) => Moved
    /** Nothing is charged; the same payment may be claimed again. */
    readonly release: (claim: Claim, reason: string) => Moved
    /** As `release`, of a claim that nobody has moved since: not one that another verifier has taken over. */
    readonly giveUp: (claim: Claim, reason: string) => Moved
    /** Has its place say that a whole answer is about to be given out although nobody knows yet that it is paid. */
    readonly expose: (claim: Claim) => Effect.Effect<void, ExposureReached | BusError>
    /** A sweep's move of a claim that is still at `revision`; nothing otherwise. */
    readonly sweep: (key: string, revision: number, due: SweepMove) => Effect.Effect<boolean, BusError>
    readonly payer: (name: PayerName) => Effect.Effect<Option.Option<PayerRecord>, BusError>
    /** Gives back a place that no claim stands for. */
    readonly vacate: (name: PayerName, place: Place) => Effect.Effect<void, BusError>
    /** Serves a denied payer again. */
    readonly forgive: (name: PayerName) => Effect.Effect<void, BusError>
  }
>()("starling/x402/Claims") {
  static readonly layer = (options: ClaimOptions) =>
    Layer.effect(
      Claims,
      Effect.gen(function* () {
        const store = yield* openClaimStore(options)
        const payers = yield* openPayerBook()
        const publisher = yield* Publisher
        const metrics = yield* Metrics
        const count = metrics.counter(claimMoves)
        const move = (claim: Claim, step: Move, isStrict = false) =>
          moveClaim(store, claim, step, isStrict).pipe(
            Effect.tap(() => Effect.sync(() => count.inc({ move: step._tag, outcome: "moved" }))),
            Effect.tapErrorTag("ClaimLost", () => Effect.sync(() => count.inc({ move: step._tag, outcome: "lost" })))
          )
        const ask = (claim: Claim, replyTo: SettlementJob["replyTo"]) => publishJob(publisher, claim, replyTo)
        const limits = { aheadMax: 1, ...options }
        const parts = { store, payers, move, ask, limits }
        const { meet, refused } = acquaintance()
        const now = (use: (nowMs: number) => void) => Effect.map(Clock.currentTimeMillis, use)
        return Claims.of({
          meet: (checked) => Effect.map(Clock.currentTimeMillis, (nowMs) => meet(checked, nowMs)),
          claim: yield* takeClaim({
            store,
            payers,
            limits,
            refusedNow: ({ why }, checked) => (why === "replay" ? Effect.void : now((nowMs) => refused(checked, nowMs)))
          }),
          read: store.read,
          all: store.all,
          ...holderMoves(parts),
          ...settlerMoves(parts),
          ...standings(parts)
        })
      })
    )
}

interface Parts {
  readonly store: ClaimStore
  readonly payers: PayerBook
  readonly move: (claim: Claim, step: Move, isStrict?: boolean) => Moved
  readonly ask: (claim: Claim, replyTo: SettlementJob["replyTo"]) => Effect.Effect<void, BusError>
  readonly limits: PlaceLimits
}

const commit = ({ move }: Parts, claim: Claim) =>
  Effect.flatMap(Clock.currentTimeMillis, (atMs) => move(claim, { _tag: "Settle", atMs }))

const holderMoves = (parts: Parts) => {
  const { payers, move, ask } = parts
  return {
    renew: (claim) => move(claim, { _tag: "Renew" }),
    serve: (claim) => move(claim, { _tag: "Serve" }),
    ask,
    commit: (claim) => commit(parts, claim),
    settling: (claim, replyTo) => Effect.tap(commit(parts, claim), (next) => ask(next, replyTo)),
    release: Effect.fn("Claims.release")(function* (claim, reason) {
      // Side by side: the next who takes the claim has a place of its own.
      const both = [vacate(payers, claim.record, claim), move(claim, { _tag: "Release", reason })] as const
      const [, next] = yield* Effect.all(both, { concurrency: 2 })
      return next
    }),
    giveUp: Effect.fn("Claims.giveUp")(function* (claim, reason) {
      const next = yield* move(claim, { _tag: "Release", reason }, true)
      // Only now: while the claim was anybody's its place was too.
      yield* vacate(payers, claim.record, claim)
      return next
    })
  } satisfies Partial<Claims["Service"]>
}

const settlerMoves = ({ store, payers, move, ask }: Parts) =>
  ({
    prepared: (claim, transaction) => move(claim, { _tag: "Prepare", transaction }, true),
    settled: Effect.fnUntraced(function* (claim, transaction) {
      const both = [move(claim, { _tag: "Settled", transaction }), payers.read(claim.record)] as const
      const [next, seen] = yield* Effect.all(both, { concurrency: 2 })
      // Only now: a place that is gone says that the chain has the transfer.
      yield* payers.change(claim.record, (payer) => afterSettled(payer, claim.key, claim.record.ticket), seen)
      return next
    }),
    uncollected: Effect.fn("Claims.uncollected")(function* (claim, reason) {
      // Denied first: a crash in between must not let the payer go on.
      const sinceMs = yield* Clock.currentTimeMillis
      yield* payers.change(claim.record, (payer) => ({
        ...(withoutPlace(payer, claim.key, null) ?? payer),
        denied: payer.denied ?? { claimKey: claim.key, reason, sinceMs }
      }))
      return yield* move(claim, { _tag: "Uncollected", reason }).pipe(
        Effect.tapErrorTag("ClaimLost", ({ state }) =>
          state === "SETTLED" ? payers.change(claim.record, (payer) => pardoned(payer, claim.key)) : Effect.void
        )
      )
    }),
    withheld: Effect.fn("Claims.withheld")(function* (claim, reason) {
      const next = yield* move(claim, { _tag: "Uncollected", reason })
      const sinceMs = yield* Clock.currentTimeMillis
      // Who gives an answer out takes a place first and looks at the claim after it: one of us sees the other.
      yield* payers.change(claim.record, (payer) => {
        const freed = withoutPlace(payer, claim.key, null)
        if (freed === undefined || !isGivenOut(payer, claim.key)) return freed
        return { ...freed, denied: freed.denied ?? { claimKey: claim.key, reason, sinceMs } }
      })
      return next
    }),
    sweep: Effect.fn("Claims.sweep")(function* (key, revision, due) {
      const found = Option.getOrUndefined(yield* store.read(key))
      if (found?.revision !== revision) return false
      const swept = yield* move(found, moveOf(due, yield* Clock.currentTimeMillis), true).pipe(
        Effect.asSome,
        Effect.catchTag("ClaimLost", () => Effect.succeedNone)
      )
      if (Option.isNone(swept)) return false
      // Only now: a claim that was renewed meanwhile keeps its place.
      if (due === "Release") yield* vacate(payers, found.record, found)
      else yield* ask(swept.value, null)
      return true
    })
  }) satisfies Partial<Claims["Service"]>

const standings = ({ payers, limits }: Parts) =>
  ({
    expose: Effect.fn("Claims.expose")(function* (claim) {
      const place = { ...placeOf(claim.key, claim.record), isGivenOut: true, isAhead: true as const }
      let isFull = false
      yield* payers.change(claim.record, (payer) => {
        const taken = withPlace(payer, place, limits)
        isFull = taken._tag === "Full" || taken._tag === "Denied"
        return taken._tag === "Taken" ? taken.record : undefined
      })
      if (isFull) return yield* new ExposureReached({ payer: claim.record.payer })
    }),
    payer: (name) =>
      Effect.map(
        payers.read(name),
        Option.map(({ value }) => value)
      ),
    vacate: (name, { claimKey, ticket }) =>
      payers.change(name, (payer) => {
        const freed = withoutPlace(payer, claimKey, ticket)
        // Its claim may be one that was settled: the wallet may have held less since.
        return freed && { ...freed, settledLast: ticket }
      }),
    forgive: (name) => payers.change(name, (payer) => (payer.denied === null ? undefined : { ...payer, denied: null }))
  }) satisfies Partial<Claims["Service"]>

const vacate = (payers: PayerBook, name: PayerName, { key, record: { ticket } }: Claim) =>
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
  yield* publisher.publish(subjects.settlements(claim.record.network), settlementJobCodec, job, {
    messageId: jobId(claim.record)
  })
})

// A settler that is at work has an end within a few blocks.
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
