/**
 * Open entries are the transfers and receipts of one network that are not matched yet, read on from the end of the last
 * reading. An entry without a match that is old enough is reported once. Only the checkpoint outlives the process; the
 * next reading begins with the oldest open entry.
 */
import { Clock, Effect, Stream } from "effect"
import type { BusError } from "#bus"
import { isSameAddress, type Receipt } from "#contracts"
import { type BookedClaim, type ChainTransfer, type ChainUnavailable, type Finding, reconcile } from "#x402"
import { Ledger, type StoredReceipt } from "../ledger.ts"
import type { SettlingNetwork } from "../networks.ts"
import { type Checkpoint, Checkpoints, type StoredCheckpoint } from "./checkpoints.ts"

// The limit of one reading; the next one reads the rest.
const readMax = 20_000
// Findings remembered as reported; beyond that all are reported once more.
const reportedMax = 10_000

interface Reading {
  /** Each is reported once in a process's life. */
  readonly findings: ReadonlyArray<Finding>
  readonly transferred: bigint
  readonly receipted: bigint
  readonly isAtEnd: boolean
}

export interface OpenEntries {
  readonly read: (claims: ReadonlyArray<BookedClaim>) => Effect.Effect<Reading, BusError | ChainUnavailable>
}

interface Account {
  readonly network: SettlingNetwork
  readonly graceMs: number
  readonly checkpoints: Checkpoints["Service"]
  readonly ledger: Ledger["Service"]
  stored: StoredCheckpoint
  position: Checkpoint["position"]
  receiptsFrom: number
  transfers: ReadonlyArray<ChainTransfer>
  receipts: ReadonlyArray<StoredReceipt>
  /** When this process has read a transfer. */
  readonly firstSeenMs: Map<string, number>
  readonly reported: Set<string>
}

export const openEntriesOf = Effect.fn("openEntriesOf")(function* (
  network: SettlingNetwork,
  graceMs: number
): Effect.fn.Return<OpenEntries, BusError, Checkpoints | Ledger> {
  const checkpoints = yield* Checkpoints
  const ledger = yield* Ledger
  const stored = yield* checkpoints.read(network.entry)
  const account: Account = {
    network,
    graceMs,
    checkpoints,
    ledger,
    stored,
    ...stored.checkpoint,
    transfers: [],
    receipts: [],
    firstSeenMs: new Map(),
    reported: new Set()
  }
  return { read: (claims) => read(account, claims) }
})

const read = Effect.fn("OpenEntries.read")(function* (account: Account, claims: ReadonlyArray<BookedClaim>) {
  const { graceMs, firstSeenMs, reported } = account
  const sums = yield* readOn(account)
  const nowMs = yield* Clock.currentTimeMillis
  const patience: Patience = {
    isYoungTransfer: (transfer) => nowMs - (firstSeenMs.get(pairKey(transfer)) ?? nowMs) < graceMs,
    isYoungReceipt: ({ settledAtMs }) => nowMs - settledAtMs < graceMs
  }
  const { findings } = reconcile(claims, account.transfers, receiptsOf(account), { nowMs, graceMs })
  const ripe = findings.filter((finding) => !isYoung(finding, patience) && !reported.has(nameOf(finding)))
  if (reported.size > reportedMax) reported.clear()
  for (const finding of ripe) reported.add(nameOf(finding))
  yield* letGo(account, patience)
  return { ...sums, findings: ripe }
})

const readOn = Effect.fnUntraced(function* (account: Account) {
  const { network, ledger, firstSeenMs } = account
  const nowMs = yield* Clock.currentTimeMillis
  // The receipts come last: a transfer that was read has its receipt already, or gets it while it is young.
  const moved = yield* Stream.runCollect(Stream.take(network.scheme.transfers(account.position), readMax))
  const written = yield* Stream.runCollect(Stream.take(ledger.from(account.receiptsFrom), readMax))
  const own = written.filter(({ receipt }) => isOwn(network, receipt))
  for (const transfer of moved) firstSeenMs.set(pairKey(transfer), nowMs)
  account.transfers = [...account.transfers, ...moved]
  account.receipts = [...account.receipts, ...own]
  account.position = moved.at(-1)?.position ?? account.position
  account.receiptsFrom = (written.at(-1)?.sequence ?? account.receiptsFrom - 1) + 1
  return {
    transferred: moved.reduce((sum, { amount }) => sum + amount, 0n),
    receipted: own.reduce(
      (sum, { receipt }) => sum + (receipt.outcome === "settled" ? BigInt(receipt.amount) : 0n),
      0n
    ),
    isAtEnd: moved.length < readMax && written.length < readMax
  }
})

const isOwn = ({ entry }: SettlingNetwork, { network, payTo }: Receipt) =>
  network === entry.Network && isSameAddress(network, payTo, entry.PayTo)

const receiptsOf = ({ receipts }: Account) => receipts.map(({ receipt }) => receipt)

const letGo = Effect.fnUntraced(function* (account: Account, patience: Patience) {
  const { network, checkpoints, transfers, firstSeenMs, stored } = account
  const done = doneWith({ transfers, receipts: receiptsOf(account) }, patience)
  const last = transfers[done.transfers - 1]
  for (const transfer of transfers.slice(0, done.transfers)) firstSeenMs.delete(pairKey(transfer))
  account.transfers = transfers.slice(done.transfers)
  account.receipts = account.receipts.slice(done.receipts)
  const before = stored.checkpoint
  const checkpoint: Checkpoint = {
    position: last?.position ?? before.position,
    receiptsFrom: account.receipts[0]?.sequence ?? account.receiptsFrom
  }
  const isSame = checkpoint.position === before.position && checkpoint.receiptsFrom === before.receiptsFrom
  if (!isSame) account.stored = yield* checkpoints.write(network.entry, checkpoint, stored.revision)
})

const isYoung = (finding: Finding, patience: Patience): boolean => {
  if (finding._tag === "TransferWithoutReceipt") return patience.isYoungTransfer(finding.transfer)
  return finding._tag === "ReceiptWithoutTransfer" && patience.isYoungReceipt(finding.receipt)
}

/** The name that distinguishes a finding from others. */
export const nameOf = (finding: Finding): string => {
  switch (finding._tag) {
    case "TransferWithoutReceipt":
    case "UncollectedButPaid":
    case "AmountDiffers":
      return `${finding._tag} ${pairKey(finding.transfer)}`
    case "ReceiptWithoutTransfer":
      return `${finding._tag} ${finding.receipt.claimKey}`
    case "ReceiptsDisagree":
      return `${finding._tag} ${finding.claimKey}`
    case "TransferCountedTwice":
      return `${finding._tag} ${finding.transaction}`
    case "ClaimWithoutReceipt":
    case "SettlingOverdue":
      return `${finding._tag} ${finding.claim.key}`
  }
}

interface Window {
  readonly transfers: ReadonlyArray<ChainTransfer>
  readonly receipts: ReadonlyArray<Receipt>
}

interface Patience {
  /** Whether a transfer without a receipt may still get one. */
  readonly isYoungTransfer: (transfer: ChainTransfer) => boolean
  readonly isYoungReceipt: (receipt: Receipt) => boolean
}

/** Within one network; a transaction may hold transfers of several payers. */
const pairKey = ({ transaction, payer }: { readonly transaction: string | null; readonly payer: string }) =>
  `${transaction} ${payer.startsWith("0x") ? payer.toLowerCase() : payer}`

/**
 * How many entries of each list, from the beginning, are done with. A transfer and its receipt are released together:
 * these are the longest beginnings of both lists in which no entry's other half lies beyond, and none is waited for.
 * Pure.
 */
export const doneWith = (
  { transfers, receipts }: Window,
  patience: Patience
): { readonly transfers: number; readonly receipts: number } => {
  const transferAt = new Map(transfers.map((transfer, index) => [pairKey(transfer), index]))
  const receiptAt = new Map(
    receipts.flatMap((receipt, index) => (receipt.outcome === "settled" ? [[pairKey(receipt), index] as const] : []))
  )
  let done = { transfers: transfers.length, receipts: receipts.length }
  // Each round removes something, so the loop ends.
  for (;;) {
    const next = {
      transfers: firstWhere(transfers, done.transfers, (transfer) => {
        const other = receiptAt.get(pairKey(transfer))
        return other === undefined ? patience.isYoungTransfer(transfer) : other >= done.receipts
      }),
      receipts: firstWhere(receipts, done.receipts, (receipt) => {
        if (receipt.outcome !== "settled") return false
        const other = transferAt.get(pairKey(receipt))
        return other === undefined ? patience.isYoungReceipt(receipt) : other >= done.transfers
      })
    }
    if (next.transfers === done.transfers && next.receipts === done.receipts) return done
    done = next
  }
}

const firstWhere = <A>(list: ReadonlyArray<A>, end: number, is: (one: A) => boolean): number => {
  const found = list.slice(0, end).findIndex(is)
  return found === -1 ? end : found
}
