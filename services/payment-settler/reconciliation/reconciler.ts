/**
 * The reconciler compares the chain with the receipts of every network, at the start and on a timer, in one process at
 * a time by a lease. A payment that has not ended is settled or ended here; a missing receipt is written; a finding
 * that cannot be corrected here is logged as an error and counted, for an operator to look at.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Leases, Mailbox } from "#bus"
import { Configuration, Metrics, supervise } from "#runtime"
import { type BookedClaim, type Claim, Claims, type Finding } from "#x402"
import { Ledger } from "../ledger.ts"
import { booksReadAt, booksReceipted, booksTransferred, findings, repairs } from "../metrics.ts"
import { Networks } from "../networks.ts"
import { Settler } from "../settler.ts"
import { Checkpoints } from "./checkpoints.ts"
import { nameOf, type OpenEntries, openEntriesOf } from "./open-entries.ts"

// The claims of one reading that are kept in memory.
const claimsMax = 200_000
// Longer than a payment can be on its way.
const recentMs = 900_000

export class Reconciler extends Context.Service<
  Reconciler,
  { /** How often everything was read to its end. */ readonly readings: () => number }
>()("starling/payment-settler/Reconciler") {
  static readonly layer = Layer.effect(
    Reconciler,
    Effect.gen(function* () {
      const networks = yield* Networks
      const leases = yield* Leases
      const { instance } = yield* Mailbox
      const { PaymentSettler } = yield* Configuration
      const deps = yield* dependenciesOfReconciler
      const { graceMs } = deps
      let readings = 0

      const keep = Effect.gen(function* () {
        const entries = new Map<string, OpenEntries>()
        for (const [name, network] of networks) entries.set(name, yield* openEntriesOf(network, graceMs))
        const once = readOnce(deps, entries).pipe(
          Effect.tap(() => Effect.sync(() => (readings += 1))),
          Effect.catch((error) => Effect.logWarning("the books could not be read to their end", error))
        )
        yield* Effect.repeat(once, Schedule.spaced(PaymentSettler.ReconcileSeconds * 1_000))
      }).pipe(Effect.provide(yield* Effect.context<Checkpoints | Ledger>()))

      if (networks.size > 0) {
        const keeping = leases.whileHeld({ key: "payment-books", holder: instance }, keep)
        yield* Effect.forkScoped(supervise("books", keeping))
      }
      return Reconciler.of({ readings: () => readings })
    })
  ).pipe(Layer.provide(Checkpoints.layer))
}

interface Dependencies extends Effect.Success<typeof dependenciesOfReconciler> {}

const dependenciesOfReconciler = Effect.gen(function* () {
  const { PaymentSettler } = yield* Configuration
  const metrics = yield* Metrics
  return {
    claims: yield* Claims,
    ledger: yield* Ledger,
    settler: yield* Settler,
    graceMs: PaymentSettler.BooksGraceSeconds * 1_000,
    found: metrics.counter(findings),
    repaired: metrics.counter(repairs),
    transferred: metrics.counter(booksTransferred),
    receipted: metrics.counter(booksReceipted),
    readAt: metrics.gauge(booksReadAt)
  }
})

const readOnce = Effect.fnUntraced(function* (deps: Dependencies, entries: ReadonlyMap<string, OpenEntries>) {
  const { claims, graceMs, transferred, receipted, readAt } = deps
  const sinceMs = (yield* Clock.currentTimeMillis) - graceMs - recentMs
  const kept = yield* claims.all.pipe(
    Stream.filter((claim) => isOfInterest(claim, sinceMs)),
    Stream.map(booked),
    Stream.take(claimsMax),
    Stream.runCollect
  )
  for (const [network, open] of entries) {
    const reading = yield* open.read(kept.filter((claim) => claim.network === network))
    transferred.inc({ network }, Number(reading.transferred))
    receipted.inc({ network }, Number(reading.receipted))
    yield* Effect.forEach(reading.findings, (finding) => treat(deps, network, finding), { discard: true })
    if (reading.isAtEnd) readAt.set({ network }, (yield* Clock.currentTimeMillis) / 1_000)
  }
})

const treat = Effect.fnUntraced(function* (
  deps: Dependencies,
  network: string,
  finding: Finding
): Effect.fn.Return<void, BusError> {
  if (finding._tag === "SettlingOverdue") {
    yield* report(deps, network, finding)
    return yield* settleOverdue(deps, network, finding.claim.key)
  }
  // Old receipts are not in memory, so the stream decides whether it is there.
  if (finding._tag === "ClaimWithoutReceipt") {
    if (yield* complete(deps, network, finding.claim.key)) yield* report(deps, network, finding)
    return
  }
  yield* report(deps, network, finding)
  if (finding._tag === "TransferWithoutReceipt" && finding.claimKey !== null) {
    yield* complete(deps, network, finding.claimKey)
  }
})

const report = ({ found }: Dependencies, network: string, finding: Finding) => {
  found.inc({ network, finding: finding._tag })
  return Effect.logError("the books do not fit").pipe(Effect.annotateLogs({ network, finding: nameOf(finding) }))
}

const settleOverdue = Effect.fnUntraced(function* (
  { settler, repaired }: Dependencies,
  network: string,
  claimKey: string
) {
  const settling = yield* settler.settle(claimKey, { onSettled: () => Effect.void })
  if (settling._tag === "Ended") repaired.inc({ network, repair: settling.how })
})

/** Writes the receipt of a claim that has ended without one. False when it has one. */
const complete = Effect.fnUntraced(function* (deps: Dependencies, network: string, claimKey: string) {
  const { claims, ledger, repaired } = deps
  const claim = Option.getOrUndefined(yield* claims.read(claimKey))
  const end = claim === undefined ? undefined : endOf(claim)
  if (claim === undefined || end === undefined) return false
  const isNew = yield* ledger.write(claim, end, true)
  if (isNew) repaired.inc({ network, repair: "receipt" })
  return isNew
})

/** A claim that ended long ago was read when it did. */
const isOfInterest = ({ record }: Claim, sinceMs: number) =>
  record.state === "SETTLING" || (record.requestedAtMs ?? 0) >= sinceMs

const booked = ({ key, record }: Claim): BookedClaim => ({
  key,
  state: record.state,
  network: record.network,
  payer: record.payer,
  amount: record.amount,
  transactions: record.transactions,
  validBeforeMs: record.validBeforeMs
})

const endOf = ({ record }: Claim) => {
  const transaction = record.transactions.at(-1) ?? null
  if (record.state === "SETTLED") return { outcome: "settled", transaction, reason: null } as const
  if (record.state === "UNCOLLECTED") return { outcome: "uncollected", transaction, reason: record.reason } as const
  return undefined
}
