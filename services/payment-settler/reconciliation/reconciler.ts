/**
 * The reconciler compares the chain with the receipts of every network, at the start and on a timer, in one process at
 * a time by a lease. A payment that has not ended is settled or ended here; a missing receipt is written; a finding
 * that cannot be corrected here is logged as an error and counted, for an operator to look at. A network whose chain is
 * away holds up no other.
 */
import { Clock, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Leases, Mailbox } from "#bus"
import { Configuration, Metrics, supervise } from "#runtime"
import { type ChainUnavailable, type Claim, Claims } from "#x402"
import { Ledger } from "../ledger.ts"
import { findings, receiptedUnits, reconciledAt, repairs, transferredUnits } from "../metrics.ts"
import { Networks } from "../networks.ts"
import { Settler } from "../settler.ts"
import type { Finding, ReconciledClaim } from "./findings.ts"
import { Checkpoints, findingName, type OpenEntries, openEntriesOf } from "./open-entries.ts"

// The claims of one reading that are kept in memory.
const claimsMax = 200_000
// Longer than a payment can be on its way.
const recentMs = 900_000

export const reconciler = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const leases = yield* Leases
    const { instance } = yield* Mailbox
    const { PaymentSettler } = yield* Configuration
    const deps = yield* dependenciesOfReconciler
    if (networks.size === 0) return
    const counters = [deps.found, deps.repaired, deps.transferred, deps.receipted]
    for (const network of networks.keys()) for (const counter of counters) counter.begin({ network })

    const reconciling = Effect.gen(function* () {
      const entries = new Map<string, OpenEntries>()
      for (const [name, network] of networks) entries.set(name, yield* openEntriesOf(network, deps.graceMs))
      const once = Effect.catch(reconcileAll(deps, entries), (error) => Effect.logWarning(notCompared, error))
      yield* Effect.repeat(once, Schedule.spaced(PaymentSettler.ReconcileSeconds * 1_000))
    }).pipe(Effect.provide(yield* Effect.context<Checkpoints | Ledger>()))

    const whileHeld = leases.whileHeld({ key: "payment-books", holder: instance }, reconciling)
    yield* Effect.forkScoped(supervise("reconciliation", whileHeld))
  })
).pipe(Layer.provide(Checkpoints.layer))

const notCompared = "chain and receipts could not be compared to their end"

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
    transferred: metrics.counter(transferredUnits),
    receipted: metrics.counter(receiptedUnits),
    reconciledAt: metrics.gauge(reconciledAt)
  }
})

const reconcileAll = Effect.fnUntraced(function* (
  deps: Dependencies,
  entries: ReadonlyMap<string, OpenEntries>
): Effect.fn.Return<void, BusError> {
  const sinceMs = (yield* Clock.currentTimeMillis) - deps.graceMs - recentMs
  const claims = yield* deps.claims.all.pipe(
    Stream.filter((claim) => isOfInterest(claim, sinceMs)),
    Stream.map(reconciledClaim),
    Stream.take(claimsMax),
    Stream.runCollect
  )
  for (const [network, open] of entries) {
    const own = claims.filter((claim) => claim.network === network)
    yield* reconcileOne(deps, network, open, own).pipe(
      Effect.catch((error) => Effect.logWarning(notCompared, error)),
      Effect.annotateLogs({ network })
    )
  }
})

const reconcileOne = Effect.fnUntraced(function* (
  deps: Dependencies,
  network: string,
  open: OpenEntries,
  claims: ReadonlyArray<ReconciledClaim>
): Effect.fn.Return<void, BusError | ChainUnavailable> {
  const reading = yield* open.read(claims)
  deps.transferred.inc({ network }, Number(reading.transferred))
  deps.receipted.inc({ network }, Number(reading.receipted))
  yield* Effect.forEach(reading.findings, (finding) => treat(deps, network, open, finding), { discard: true })
  yield* reading.commit
  if (reading.isAtEnd) deps.reconciledAt.set({ network }, (yield* Clock.currentTimeMillis) / 1_000)
})

/** Reports a finding and corrects what can be corrected; what fails here keeps no other finding back. */
const treat = Effect.fnUntraced(function* (
  deps: Dependencies,
  network: string,
  open: OpenEntries,
  finding: Finding
): Effect.fn.Return<void> {
  // Old receipts are not in memory, so the stream decides whether it is there.
  if (finding._tag === "ClaimWithoutReceipt") {
    const completed = yield* Effect.result(complete(deps, network, finding.claim.key))
    if (completed._tag === "Success") return completed.success ? yield* report(deps, network, finding) : undefined
    open.forget(finding)
    return yield* Effect.logWarning(notRepaired, completed.failure)
  }
  yield* report(deps, network, finding)
  if (finding._tag === "SettlingOverdue") yield* settleOverdue(deps, finding.claim)
  if (finding._tag !== "TransferWithoutReceipt" || finding.claimKey === null) return
  const completing = complete(deps, network, finding.claimKey)
  // Its claim has ended without a receipt, which the next reading finds.
  yield* Effect.catch(completing, (error) => Effect.logWarning(notRepaired, error))
})

const notRepaired = "a finding could not be corrected"

const report = ({ found }: Dependencies, network: string, finding: Finding) => {
  found.inc({ network, finding: finding._tag })
  return Effect.logError("chain, claims and receipts differ").pipe(
    Effect.annotateLogs({ finding: findingName(finding) })
  )
}

const settleOverdue = Effect.fnUntraced(function* (
  { settler, repaired }: Dependencies,
  { key, network, requestedAtMs }: ReconciledClaim
) {
  const settling = yield* settler.settle({ claimKey: key, network, requestedAtMs })
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

const reconciledClaim = ({ key, record }: Claim): ReconciledClaim => ({
  key,
  state: record.state,
  network: record.network,
  payer: record.payer,
  transactions: record.transactions,
  validBeforeMs: record.validBeforeMs,
  requestedAtMs: record.requestedAtMs ?? record.claimedAtMs
})

const endOf = ({ record }: Claim) => {
  const transaction = record.transactions.at(-1) ?? null
  if (record.state === "SETTLED") return { outcome: "settled", transaction, reason: null } as const
  if (record.state === "UNCOLLECTED") return { outcome: "uncollected", transaction, reason: record.reason } as const
  return undefined
}
