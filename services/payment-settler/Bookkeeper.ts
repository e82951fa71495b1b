/**
 * Reads the books of every network from both sides, at the start and on a timer, one bookkeeper at a time by a lease.
 * A payment that nobody has ended is settled or ended here; a receipt that is missing is written; what cannot be
 * put right by itself is logged as an error and counted: somebody has to look.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Leases, Mailbox } from "#bus"
import { Configuration, Metrics, supervise } from "#runtime"
import { type BookedClaim, type Claim, Claims, type Finding } from "#x402"
import { BookMarks } from "./BookMarks.ts"
import { type Books, nameOf, openBooks } from "./Books.ts"
import { Ledger } from "./Ledger.ts"
import { booksReadAt, booksReceipted, booksTransferred, findings as findingsCounter, repairs } from "./metrics.ts"
import { Networks } from "./Networks.ts"
import { Settler } from "./Settler.ts"

/** Claims of one reading that are kept in memory. */
const claimsMax = 200_000
/** Longer than a payment can be on its way. */
const recentMs = 900_000

export class Bookkeeper extends Context.Service<
  Bookkeeper,
  { /** How often the books were read to their end. */ readonly readings: () => number }
>()("starling/payment-settler/Bookkeeper") {
  static readonly layer = Layer.effect(
    Bookkeeper,
    Effect.gen(function* () {
      const networks = yield* Networks
      const claims = yield* Claims
      const ledger = yield* Ledger
      const settler = yield* Settler
      const leases = yield* Leases
      const { instance } = yield* Mailbox
      const { PaymentSettler } = yield* Configuration
      const metrics = yield* Metrics
      const counted = metrics.counter(findingsCounter)
      const repaired = metrics.counter(repairs)
      const transferred = metrics.counter(booksTransferred)
      const receipted = metrics.counter(booksReceipted)
      const readAt = metrics.gauge(booksReadAt)
      const graceMs = PaymentSettler.BooksGraceSeconds * 1_000
      let readings = 0

      const lookUp = Effect.fnUntraced(function* (network: string, claimKey: string) {
        const settling = yield* settler.settle(claimKey, () => Effect.void)
        if (settling._tag === "Ended") repaired.inc({ network, repair: settling.how })
      })

      /** Of a claim that has ended and has no receipt. False when it has one. */
      const complete = Effect.fnUntraced(function* (network: string, claimKey: string) {
        const claim = Option.getOrUndefined(yield* claims.read(claimKey))
        const end = claim === undefined ? undefined : endOf(claim)
        if (claim === undefined || end === undefined) return false
        const isNew = yield* ledger.write(claim, end, true)
        if (isNew) repaired.inc({ network, repair: "receipt" })
        return isNew
      })

      const report = (network: string, finding: Finding) => {
        counted.inc({ network, finding: finding._tag })
        return Effect.logError("the books do not fit").pipe(Effect.annotateLogs({ network, finding: nameOf(finding) }))
      }

      const treat = Effect.fnUntraced(function* (network: string, finding: Finding): Effect.fn.Return<void, BusError> {
        if (finding._tag === "SettlingOverdue") {
          yield* report(network, finding)
          return yield* lookUp(network, finding.claim.key)
        }
        // Receipts of long ago are not in memory; what counts is whether it is there.
        if (finding._tag === "ClaimWithoutReceipt") {
          if (yield* complete(network, finding.claim.key)) yield* report(network, finding)
          return
        }
        yield* report(network, finding)
        if (finding._tag === "TransferWithoutReceipt" && finding.claimKey !== null) {
          yield* complete(network, finding.claimKey)
        }
      })

      const readOnce = Effect.fnUntraced(function* (books: ReadonlyMap<string, Books>) {
        const sinceMs = (yield* Clock.currentTimeMillis) - graceMs - recentMs
        const kept = yield* claims.all.pipe(
          Stream.filter((claim) => isOfInterest(claim, sinceMs)),
          Stream.map(booked),
          Stream.take(claimsMax),
          Stream.runCollect
        )
        for (const [network, book] of books) {
          const reading = yield* book.read(kept.filter((claim) => claim.network === network))
          transferred.inc({ network }, Number(reading.transferred))
          receipted.inc({ network }, Number(reading.receipted))
          yield* Effect.forEach(reading.findings, (finding) => treat(network, finding), { discard: true })
          if (reading.isAtEnd) readAt.set({ network }, (yield* Clock.currentTimeMillis) / 1_000)
        }
        readings += 1
      })

      const keep = Effect.gen(function* () {
        const books = new Map<string, Books>()
        for (const [name, network] of networks) books.set(name, yield* openBooks(network, graceMs))
        const once = readOnce(books).pipe(
          Effect.catch((error) => Effect.logWarning("the books could not be read to their end", error))
        )
        yield* Effect.repeat(once, Schedule.spaced(PaymentSettler.ReconcileSeconds * 1_000))
      }).pipe(Effect.provide(yield* Effect.context<BookMarks | Ledger>()))

      if (networks.size > 0) {
        const keeping = leases.whileHeld({ key: "payment-books", holder: instance }, keep)
        yield* Effect.forkScoped(supervise("books", keeping))
      }
      return Bookkeeper.of({ readings: () => readings })
    })
  ).pipe(Layer.provide(BookMarks.layer))
}

/** What ended long ago was in the books when it did. */
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
