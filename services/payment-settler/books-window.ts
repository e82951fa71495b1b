/**
 * What of the books is done with. Pure. A transfer and the receipt of it are let go together: the longest beginnings
 * of both lists are found of which no half's other half lies beyond, and nothing is still waited for.
 */
import type { Receipt } from "#contracts"
import type { ChainTransfer } from "#x402"

export interface Window {
  readonly transfers: ReadonlyArray<ChainTransfer>
  readonly receipts: ReadonlyArray<Receipt>
}

export interface Patience {
  /** Whether a transfer without a receipt is still waited with. */
  readonly isYoungTransfer: (transfer: ChainTransfer) => boolean
  readonly isYoungReceipt: (receipt: Receipt) => boolean
}

/** Of one network; a transaction may hold transfers of several payers. */
export const pairKey = ({ transaction, payer }: { readonly transaction: string | null; readonly payer: string }) =>
  `${transaction} ${payer.startsWith("0x") ? payer.toLowerCase() : payer}`

/** How many of each list, from the beginning, are done with. */
export const doneWith = (
  { transfers, receipts }: Window,
  patience: Patience
): { readonly transfers: number; readonly receipts: number } => {
  const transferAt = new Map(transfers.map((transfer, index) => [pairKey(transfer), index]))
  const receiptAt = new Map(
    receipts.flatMap((receipt, index) => (receipt.outcome === "settled" ? [[pairKey(receipt), index] as const] : []))
  )
  let done = { transfers: transfers.length, receipts: receipts.length }
  // Each round takes something away, so it ends.
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
