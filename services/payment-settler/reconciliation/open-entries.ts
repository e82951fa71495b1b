/**
 * Open entries are the transfers and receipts of one network that are not matched yet, read on from the end of the last
 * reading. An entry without a match that is old enough is a finding once. Only the checkpoint outlives the process; the
 * next reading begins with the oldest open entry.
 */
import { Clock, Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, type KvEntry, records } from "#bus"
import { isSameAddress, payerKeyOf, type PaymentNetwork, type Receipt } from "#payments/contract"
import { type ChainTransfer, type ChainUnavailable, channelsAddress } from "#payments"
import { Ledger, type StoredReceipt } from "../ledger.ts"
import type { SettlingNetwork } from "../networks.ts"
import { type Finding, hasTransfer, reconcile, type ReconciledClaim, transferKey } from "./findings.ts"

// The limit of one reading; the next one reads the rest.
const readMax = 20_000
// Findings remembered; beyond that, all are found once more.
const foundMax = 10_000

export interface Reading {
  /** Each is found once in a process's life. */
  readonly findings: ReadonlyArray<Finding>
  /** All current findings, whether found before or not. */
  readonly allFindings: ReadonlyArray<Finding>
  readonly transferred: bigint
  readonly receipted: bigint
  readonly isAtEnd: boolean
  /** Drops finished entries and moves the checkpoint behind them. Called after the findings are reported. */
  readonly commit: Effect.Effect<void, BusError>
}

/** Halves that an earlier reading found unmatched; a later one may find their other half. */
export interface Carried {
  readonly transfers: ReadonlyArray<ChainTransfer>
  readonly receipts: ReadonlyArray<Receipt>
}

export interface OpenEntries {
  readonly read: (
    claims: ReadonlyArray<ReconciledClaim>,
    carried: Carried
  ) => Effect.Effect<Reading, BusError | ChainUnavailable>
  /** The next reading may find it again. */
  readonly forget: (finding: Finding) => void
}

interface Account {
  readonly network: SettlingNetwork
  readonly graceMs: number
  readonly checkpoints: KvBucket<Checkpoint>
  readonly ledger: Ledger["Service"]
  stored: StoredCheckpoint
  position: Checkpoint["position"]
  receiptsFrom: number
  transfers: ReadonlyArray<ChainTransfer>
  receipts: ReadonlyArray<StoredReceipt>
  /** When this process has read a transfer. */
  readonly firstSeenMs: Map<string, number>
  readonly found: Set<string>
}

export const openEntriesOf = Effect.fn("openEntriesOf")(function* (
  network: SettlingNetwork,
  graceMs: number
): Effect.fn.Return<OpenEntries, BusError, Checkpoints | Ledger> {
  const checkpoints = yield* Checkpoints
  const ledger = yield* Ledger
  const stored = Option.getOrElse(yield* checkpoints.get(checkpointKey(network.entry)), () => beginning)
  const account: Account = {
    network,
    graceMs,
    checkpoints,
    ledger,
    stored,
    ...stored.value,
    transfers: [],
    receipts: [],
    firstSeenMs: new Map(),
    found: new Set()
  }
  return {
    read: (claims, carried) => read(account, claims, carried),
    forget: (finding) => void account.found.delete(findingName(finding))
  }
})

const read = Effect.fn("OpenEntries.read")(function* (
  account: Account,
  claims: ReadonlyArray<ReconciledClaim>,
  carried: Carried
) {
  const { graceMs, firstSeenMs, found } = account
  const sums = yield* readOn(account)
  const nowMs = yield* Clock.currentTimeMillis
  const patience: Patience = {
    isRecentTransfer: (transfer) => nowMs - (firstSeenMs.get(transferKey(transfer)) ?? nowMs) < graceMs,
    isRecentReceipt: ({ settledAtMs }) => nowMs - settledAtMs < graceMs
  }
  const { transfers, receipts } = withCarried({ transfers: account.transfers, receipts: receiptsOf(account) }, carried)
  const all = reconcile(claims, transfers, receipts, { nowMs, graceMs })
  const findings = all.filter((finding) => !isRecent(finding, patience) && !found.has(findingName(finding)))
  if (found.size > foundMax) found.clear()
  for (const finding of findings) found.add(findingName(finding))
  return { ...sums, findings, allFindings: all, commit: commit(account, patience) }
})

/** The window with carried halves, each once: a process that starts reads them again. Pure. */
export const withCarried = (window: Window, carried: Carried): Window => {
  const transfers = new Set(window.transfers.map(transferKey))
  const receipts = new Set(window.receipts.map(({ claimKey }) => claimKey))
  return {
    transfers: [...carried.transfers.filter((one) => !transfers.has(transferKey(one))), ...window.transfers],
    receipts: [...carried.receipts.filter(({ claimKey }) => !receipts.has(claimKey)), ...window.receipts]
  }
}

/** Sweeps of payment channels have no receipts: the channels' own books explain them. */
const isPayment = ({ payer }: ChainTransfer) => payer !== channelsAddress.toLowerCase()

const readOn = Effect.fnUntraced(function* (account: Account) {
  const { network, ledger, firstSeenMs } = account
  const nowMs = yield* Clock.currentTimeMillis
  // The receipts come last: a transfer that was read already has its receipt, or gets it while it is young.
  const moved = yield* Stream.runCollect(Stream.take(network.chain.transfers(account.position), readMax))
  const written = yield* Stream.runCollect(Stream.take(ledger.from(account.receiptsFrom), readMax))
  const own = written.filter(({ receipt }) => isOwn(network, receipt))
  for (const transfer of moved.filter(isPayment)) firstSeenMs.set(transferKey(transfer), nowMs)
  account.transfers = [...account.transfers, ...moved.filter(isPayment)]
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

/** A refund is a transfer from another account, which its own settler looks up on the chain. */
const isOwn = ({ entry }: SettlingNetwork, { network, payTo, outcome }: Receipt) =>
  outcome !== "refunded" && network === entry.Network && isSameAddress(network, payTo, entry.PayTo)

const receiptsOf = ({ receipts }: Account) => receipts.map(({ receipt }) => receipt)

const commit = Effect.fnUntraced(function* (account: Account, patience: Patience) {
  const { network, checkpoints, transfers, firstSeenMs, stored } = account
  const done = doneWith({ transfers, receipts: receiptsOf(account) }, patience)
  const last = transfers[done.transfers - 1]
  for (const transfer of transfers.slice(0, done.transfers)) firstSeenMs.delete(transferKey(transfer))
  account.transfers = transfers.slice(done.transfers)
  account.receipts = account.receipts.slice(done.receipts)
  const before = stored.value
  const checkpoint: Checkpoint = {
    position: last?.position ?? before.position,
    receiptsFrom: account.receipts[0]?.sequence ?? account.receiptsFrom
  }
  const isSame = checkpoint.position === before.position && checkpoint.receiptsFrom === before.receiptsFrom
  if (isSame) return
  const written = yield* records(checkpoints).replace(checkpointKey(network.entry), checkpoint, stored.revision)
  const { answer: isFirst, value = beginning.value, revision } = written
  // Another settler wrote first, or this one's reply was lost: the next reading replaces whatever is stored.
  account.stored = { value, revision }
  if (isFirst) return
  return yield* new BusUnavailable({ operation: "move the checkpoint of the books", detail: "another came first" })
})

const isRecent = (finding: Finding, patience: Patience): boolean => {
  if (finding._tag === "TransferWithoutReceipt") return patience.isRecentTransfer(finding.transfer)
  return finding._tag === "ReceiptWithoutTransfer" && patience.isRecentReceipt(finding.receipt)
}

/** The name that distinguishes a finding from others. */
export const findingName = (finding: Finding): string => {
  switch (finding._tag) {
    case "TransferWithoutReceipt":
    case "UncollectedButPaid":
    case "AmountDiffers":
      return `${finding._tag} ${transferKey(finding.transfer)}`
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
  readonly isRecentTransfer: (transfer: ChainTransfer) => boolean
  readonly isRecentReceipt: (receipt: Receipt) => boolean
}

/**
 * How many entries of each list, from the beginning, are finished. A transfer and its receipt are released together:
 * these are the longest beginnings of both lists in which no entry's other half lies beyond, and none is waited for.
 * Pure.
 */
export const doneWith = (
  { transfers, receipts }: Window,
  patience: Patience
): { readonly transfers: number; readonly receipts: number } => {
  const transferAt = new Map(transfers.map((transfer, index) => [transferKey(transfer), index]))
  const receiptAt = new Map(
    receipts.flatMap((receipt, index) => (hasTransfer(receipt) ? [[transferKey(receipt), index] as const] : []))
  )
  let done = { transfers: transfers.length, receipts: receipts.length }
  // Each round removes an entry, so the loop ends.
  for (;;) {
    const next = {
      transfers: firstWhere(transfers, done.transfers, (transfer) => {
        const other = receiptAt.get(transferKey(transfer))
        return other === undefined ? patience.isRecentTransfer(transfer) : other >= done.receipts
      }),
      receipts: firstWhere(receipts, done.receipts, (receipt) => {
        if (!hasTransfer(receipt)) return false
        const other = transferAt.get(transferKey(receipt))
        return other === undefined ? patience.isRecentReceipt(receipt) : other >= done.transfers
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

/** The position of a network's reconciliation, on the chain and in RECEIPTS. Stored beside the claims. */
const Checkpoint = Schema.Struct({
  position: Schema.NullOr(Schema.String),
  /** The sequence of the first receipt that is still open. */
  receiptsFrom: Schema.Int
})
interface Checkpoint extends Schema.Schema.Type<typeof Checkpoint> {}

type StoredCheckpoint = Pick<KvEntry<Checkpoint>, "value" | "revision">

const beginning: StoredCheckpoint = { value: { position: null, receiptsFrom: 1 }, revision: 0 }

type Receiver = Pick<PaymentNetwork, "Network" | "PayTo">

/** If two reconcilers write, one continues. */
export class Checkpoints extends Context.Service<Checkpoints, KvBucket<Checkpoint>>()(
  "starling/payment-settler/Checkpoints"
) {
  static readonly layer = Layer.effect(
    Checkpoints,
    Effect.flatMap(Kv, (kv) => kv.open("authorizations", Checkpoint))
  )
}

/** Each receiver has its own checkpoint. */
const checkpointKey = ({ Network, PayTo }: Receiver) => payerKeyOf(Network, PayTo).replace(/^payer\./u, "books.")
