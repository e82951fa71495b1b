/**
 * The reconciler compares the chain with the receipts of every network, at the start and on a timer, in one process at
 * a time under a lease. It settles or ends a payment that has not ended, and writes a missing receipt. Every finding is
 * counted once, logged as an error, and kept in the books for an operator until it is mended, accepted, or no longer
 * found. A network whose chain is unavailable does not delay the others.
 */
import { Clock, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import { type BusError, Leases, Mailbox } from "#bus"
import {
  type BookFinding,
  type BookState,
  type FindingEnd,
  findingKinds,
  type PaymentNetwork
} from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics, supervise } from "#runtime"
import { type ChainUnavailable, type Claim, Claims } from "#payments"
import { Ledger } from "../ledger.ts"
import { findings, receiptedUnits, reconciledAt, openFindings, transferredUnits } from "../metrics.ts"
import { Networks, type SettlingNetwork } from "../networks.ts"
import { Settler } from "../settler.ts"
import { bookFinding, Books, carriedOf, findingId, type KeptFinding, type Receiver, resolvedIds } from "./Books.ts"
import type { Finding, ReconciledClaim } from "./findings.ts"
import { Checkpoints, findingName, type OpenEntries, openEntriesOf } from "./open-entries.ts"

// How many claims of one reading are kept in memory.
const claimsMax = 200_000
// Longer than any payment takes.
const recentMs = 900_000

export const reconciler = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const leases = yield* Leases
    const { instance } = yield* Mailbox
    const { PaymentSettler } = yield* Configuration
    const metrics = yield* Metrics
    if (networks.size === 0) return
    const counters = [metrics.counter(findings), metrics.counter(transferredUnits), metrics.counter(receiptedUnits)]
    for (const network of networks.keys()) for (const counter of counters) counter.begin({ network })

    const reconciling = Effect.gen(function* () {
      const accounts: Array<Account> = []
      for (const [name, network] of networks) {
        const open = yield* openEntriesOf(network, PaymentSettler.BooksGraceSeconds * 1_000)
        accounts.push({
          network: name,
          settling: network,
          receiver: network.entry,
          open,
          unkept: new Map(),
          notKept: 0
        })
      }
      const once = Effect.catch(reconcileAll(accounts), (error) => Effect.logWarning(notCompared, error))
      yield* Effect.repeat(once, Schedule.spaced(PaymentSettler.ReconcileSeconds * 1_000))
    }).pipe(
      // The process that takes the lease reports the open findings.
      Effect.ensuring(
        Effect.sync(() => [...networks.keys()].forEach((network) => setOpenFindings(metrics, network, [])))
      )
    )

    const whileHeld = leases.whileHeld({ key: "payment-books", holder: instance }, reconciling)
    yield* Effect.forkScoped(supervise("reconciliation", whileHeld))
  })
).pipe(Layer.provide(Checkpoints.layer))

/** One network's part of the reconciliation. */
interface Account {
  readonly network: string
  readonly settling: Pick<SettlingNetwork, "chain" | "addresses">
  readonly receiver: Receiver & Pick<PaymentNetwork, "Asset">
  readonly open: OpenEntries
  /** Findings that are counted but not in the books yet, by id. */
  readonly unkept: Map<string, BookFinding>
  /** How many findings have no room in the books. */
  notKept: number
}

const notCompared = "chain and receipts could not be compared to their end"

const reconcileAll = Effect.fnUntraced(function* (accounts: ReadonlyArray<Account>) {
  const { PaymentSettler } = yield* Configuration
  const sinceMs = (yield* Clock.currentTimeMillis) - PaymentSettler.BooksGraceSeconds * 1_000 - recentMs
  const claims = yield* (yield* Claims).all.pipe(
    Stream.filter((claim) => isOfInterest(claim, sinceMs)),
    Stream.map(reconciledClaim),
    Stream.take(claimsMax),
    Stream.runCollect
  )
  for (const account of accounts) {
    const own = claims.filter((claim) => claim.network === account.network)
    const reconciling = Effect.gen(function* () {
      const reconciled = yield* Effect.result(reconcileOne(account, own))
      if (Result.isFailure(reconciled)) yield* Effect.logWarning(notCompared, reconciled.failure)
      const trouble = Result.isFailure(reconciled) ? troubleText(reconciled.failure) : null
      const isAtEnd = Result.isSuccess(reconciled) && reconciled.success
      yield* Effect.catch(note(account, { isAtEnd, trouble }), (error) =>
        Effect.logWarning("the state of the books could not be kept", error)
      )
      yield* Effect.catch(reportOpen(account), (error) =>
        Effect.logWarning("the open findings could not be counted", error)
      )
    })
    yield* Effect.annotateLogs(reconciling, { network: account.network })
  }
})

/** True when chain and receipts were read to the end. */
const reconcileOne = Effect.fnUntraced(function* (account: Account, claims: ReadonlyArray<ReconciledClaim>) {
  const { network, open } = account
  const metrics = yield* Metrics
  const books = yield* Books
  const kept = yield* books.all(account.receiver)
  const openFindings = kept.map(({ value }) => value).filter(({ end }) => end === null)
  const reading = yield* open.read(claims, carriedOf(openFindings))
  metrics.counter(transferredUnits).inc({ network }, Number(reading.transferred))
  metrics.counter(receiptedUnits).inc({ network }, Number(reading.receipted))
  const known = new Set(kept.filter(isKnown).map(({ value }) => value.id))
  const fresh = reading.findings.filter((finding) => !known.has(findingId(account.receiver, finding)))
  yield* Effect.forEach(fresh, (finding) => treat(account, finding), { discard: true })
  yield* keepFindings(account, kept.length)
  // A reading of claims that stops early says nothing about the rest.
  if (claims.length < claimsMax) {
    const names = new Set(reading.allFindings.map((finding) => findingId(account.receiver, finding)))
    const over = resolvedIds(openFindings, names)
    yield* Effect.forEach(over, (id) => books.end(id, { how: "resolved" }), { discard: true })
  }
  yield* reading.commit
  if (reading.isAtEnd) metrics.gauge(reconciledAt).set({ network }, (yield* Clock.currentTimeMillis) / 1_000)
  return reading.isAtEnd
})

/** Whether a finding need not be reported again: it is still open, or an operator has explained it. */
const isKnown = ({ value: { end } }: KeptFinding) => end === null || end.how === "accepted"

/** Writes findings into the books. A finding that cannot be written is retried, and the checkpoint stays before it. */
const keepFindings = Effect.fnUntraced(function* (account: Account, before: number) {
  const books = yield* Books
  let others = before
  for (const [id, finding] of account.unkept) {
    const isKept = yield* books.keep(finding, others)
    account.unkept.delete(id)
    if (isKept) others += 1
    else account.notKept += 1
  }
})

/** Counts the open findings: those in the books, and those that could not be written there yet. */
const reportOpen = Effect.fnUntraced(function* ({ network, receiver, unkept }: Account) {
  const kept = yield* (yield* Books).all(receiver)
  const all = new Map([...kept.map(({ value }) => [value.id, value] as const), ...unkept])
  const open = [...all.values()].filter(({ end }) => end === null)
  setOpenFindings(yield* Metrics, network, open)
})

const setOpenFindings = (metrics: Metrics["Service"], network: string, open: ReadonlyArray<BookFinding>) => {
  for (const finding of findingKinds) {
    metrics.gauge(openFindings).set({ network, finding }, open.filter(({ kind }) => kind === finding).length)
  }
}

const note = Effect.fnUntraced(function* (
  { settling, receiver, notKept }: Account,
  { isAtEnd, trouble }: Pick<BookState, "trouble"> & { readonly isAtEnd: boolean }
) {
  const nowMs = yield* Clock.currentTimeMillis
  const books = yield* Books
  const before = Option.getOrUndefined(yield* books.state(receiver))
  const keys = yield* Effect.forEach(settling.addresses, (address) => balanceOf(settling, address), { concurrency: 4 })
  yield* books.note({
    network: receiver.Network,
    payTo: receiver.PayTo,
    asset: receiver.Asset,
    holder: (yield* Mailbox).instance,
    triedAtMs: nowMs,
    comparedAtMs: isAtEnd ? nowMs : (before?.comparedAtMs ?? null),
    trouble,
    notKept,
    keys
  })
})

const balanceOf = ({ chain }: Account["settling"], address: string) =>
  chain.feeBalance(address).pipe(
    Effect.map((balance) => ({ address, balance: String(balance) })),
    Effect.orElseSucceed(() => ({ address, balance: null }))
  )

const troubleCharactersMax = 1_000

/** A node's address can contain a key. */
const troubleText = ({ message }: BusError | ChainUnavailable) =>
  message.slice(0, troubleCharactersMax).replaceAll(/\b\w+:\/\/\S+/gu, "<address>")

/** Reports a finding and corrects what can be corrected; a failure here does not delay other findings. */
const treat = Effect.fnUntraced(function* (account: Account, finding: Finding) {
  const { open } = account
  // Old receipts are not in memory, so the stream decides whether it exists.
  if (finding._tag === "ClaimWithoutReceipt") {
    const completed = yield* Effect.result(complete(finding.claim.key))
    if (completed._tag === "Success") {
      return completed.success ? yield* report(account, finding, "receipt-written") : undefined
    }
    open.forget(finding)
    return yield* Effect.logWarning(notRepaired, completed.failure)
  }
  if (finding._tag === "SettlingOverdue") {
    return yield* report(account, finding, yield* settleOverdue(finding.claim))
  }
  yield* report(account, finding, null)
})

const notRepaired = "a finding could not be corrected"

/** Counts and logs a finding, and queues it for the books. `how`: it was mended at once. */
const report = Effect.fnUntraced(function* (
  { network, receiver, unkept }: Account,
  finding: Finding,
  how: FindingEnd | null
) {
  const metrics = yield* Metrics
  metrics.counter(findings).inc({ network, finding: finding._tag })
  const atMs = yield* Clock.currentTimeMillis
  const kept = bookFinding(receiver, finding, atMs)
  unkept.set(kept.id, how === null ? kept : { ...kept, end: { how, atMs, by: null, reason: null } })
  yield* Effect.logError("chain, claims and receipts differ").pipe(
    Effect.annotateLogs({ network, finding: findingName(finding), id: kept.id })
  )
})

const settleOverdue = Effect.fnUntraced(function* ({ key, network, requestedAtMs }: ReconciledClaim) {
  const settling = yield* (yield* Settler).settle({ claimKey: key, network, requestedAtMs })
  return settling._tag === "Ended" ? settling.how : null
})

/** Writes the receipt of a claim that ended without one. False if it has one. */
export const complete = Effect.fnUntraced(function* (claimKey: string) {
  const claim = Option.getOrUndefined(yield* (yield* Claims).read(claimKey))
  const end = claim === undefined ? undefined : endOf(claim)
  if (claim === undefined || end === undefined) return false
  return yield* (yield* Ledger).write(claim, end, true)
})

/** A claim that ended long ago was read at that time. */
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
