/**
 * The open part of one network's books: transfers and receipts that are not done with, read on from where the last
 * reading ended. What does not fit and is old enough is told once. Only the mark outlives the process; whoever
 * reads on begins with the oldest that was open.
 */
import { Clock, Effect, Stream } from "effect"
import type { BusError } from "#bus"
import type { Receipt } from "#contracts"
import { type BookedClaim, type ChainTransfer, type ChainUnavailable, type Finding, reconcile } from "#x402"
import { type BookMark, BookMarks, type StoredMark } from "./BookMarks.ts"
import { doneWith, pairKey, type Patience } from "./books-window.ts"
import { Ledger, type StoredReceipt } from "./Ledger.ts"
import type { SettlingNetwork } from "./Networks.ts"

/** Of one reading: what is more is read the next time. */
const readMax = 20_000
/** Findings remembered as told; beyond that all are told once more. */
const toldMax = 10_000

export interface Reading {
  /** Each told once in a process' life. */
  readonly findings: ReadonlyArray<Finding>
  readonly transferred: bigint
  readonly receipted: bigint
  readonly isAtEnd: boolean
}

export interface Books {
  readonly read: (claims: ReadonlyArray<BookedClaim>) => Effect.Effect<Reading, BusError | ChainUnavailable>
}

export const openBooks = Effect.fn("openBooks")(function* (
  { entry, scheme }: SettlingNetwork,
  graceMs: number
): Effect.fn.Return<Books, BusError, BookMarks | Ledger> {
  const marks = yield* BookMarks
  const ledger = yield* Ledger
  let stored: StoredMark = yield* marks.read(entry)
  let { position, receiptsFrom } = stored.mark
  let transfers: ReadonlyArray<ChainTransfer> = []
  let receipts: ReadonlyArray<StoredReceipt> = []
  const firstSeen = new Map<string, number>()
  const told = new Set<string>()

  const readOn = Effect.fnUntraced(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    // The receipts last: a transfer that is read has its receipt already, or gets it while it is young.
    const moved = yield* Stream.runCollect(Stream.take(scheme.transfers(position), readMax))
    const written = yield* Stream.runCollect(Stream.take(ledger.from(receiptsFrom), readMax))
    const own = written.filter(({ receipt }) => isOwn(receipt))
    for (const transfer of moved) firstSeen.set(pairKey(transfer), nowMs)
    transfers = [...transfers, ...moved]
    receipts = [...receipts, ...own]
    position = moved.at(-1)?.position ?? position
    receiptsFrom = (written.at(-1)?.sequence ?? receiptsFrom - 1) + 1
    return {
      transferred: moved.reduce((sum, { amount }) => sum + amount, 0n),
      receipted: own.reduce(
        (sum, { receipt }) => sum + (receipt.outcome === "settled" ? BigInt(receipt.amount) : 0n),
        0n
      ),
      isAtEnd: moved.length < readMax && written.length < readMax
    }
  })

  const isOwn = ({ network, payTo }: Receipt) =>
    network === entry.Network &&
    (network.startsWith("eip155:") ? payTo.toLowerCase() === entry.PayTo.toLowerCase() : payTo === entry.PayTo)

  const letGo = Effect.fnUntraced(function* (patience: Patience) {
    const done = doneWith({ transfers, receipts: receipts.map(({ receipt }) => receipt) }, patience)
    const last = transfers[done.transfers - 1]
    for (const transfer of transfers.slice(0, done.transfers)) firstSeen.delete(pairKey(transfer))
    transfers = transfers.slice(done.transfers)
    receipts = receipts.slice(done.receipts)
    const mark: BookMark = {
      position: last?.position ?? stored.mark.position,
      receiptsFrom: receipts[0]?.sequence ?? receiptsFrom
    }
    const isSame = mark.position === stored.mark.position && mark.receiptsFrom === stored.mark.receiptsFrom
    if (!isSame) stored = yield* marks.write(entry, mark, stored.revision)
  })

  const read: Books["read"] = Effect.fn("Books.read")(function* (claims) {
    const sums = yield* readOn()
    const nowMs = yield* Clock.currentTimeMillis
    const patience: Patience = {
      isYoungTransfer: (transfer) => nowMs - (firstSeen.get(pairKey(transfer)) ?? nowMs) < graceMs,
      isYoungReceipt: ({ settledAtMs }) => nowMs - settledAtMs < graceMs
    }
    const { findings } = reconcile(
      claims,
      transfers,
      receipts.map(({ receipt }) => receipt),
      { nowMs, graceMs }
    )
    const ripe = findings.filter((finding) => !isYoung(finding, patience) && !told.has(nameOf(finding)))
    if (told.size > toldMax) told.clear()
    for (const finding of ripe) told.add(nameOf(finding))
    yield* letGo(patience)
    return { ...sums, findings: ripe }
  })
  return { read }
})

const isYoung = (finding: Finding, patience: Patience): boolean => {
  if (finding._tag === "TransferWithoutReceipt") return patience.isYoungTransfer(finding.transfer)
  return finding._tag === "ReceiptWithoutTransfer" && patience.isYoungReceipt(finding.receipt)
}

/** What tells a finding from the others. */
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
