/**
 * The reconciliation's findings, from both sides: every claim and receipt against the chain, every transfer to us
 * against the receipts. A payment in progress is not a finding until it has expired. Pure.
 */
import { claimKeyOf, inOneCase, type Receipt } from "#payments/contract"
import type { ChainTransfer, ClaimState } from "#payments"

/** The part of a claim that the reconciliation reads. */
export interface ReconciledClaim {
  readonly key: string
  readonly state: ClaimState
  readonly network: string
  readonly payer: string
  readonly transactions: ReadonlyArray<string>
  readonly validBeforeMs: number
  /** When its settlement was first requested. */
  readonly requestedAtMs: number
}

export type Finding =
  /** Money without a receipt: a settlement whose end was not recorded, or a gift. */
  | { readonly _tag: "TransferWithoutReceipt"; readonly transfer: ChainTransfer; readonly claimKey: string | null }
  /** A receipt says paid, and the chain shows no such transfer. */
  | { readonly _tag: "ReceiptWithoutTransfer"; readonly receipt: Receipt }
  | { readonly _tag: "AmountDiffers"; readonly receipt: Receipt; readonly transfer: ChainTransfer }
  /** One payment with two ends. */
  | { readonly _tag: "ReceiptsDisagree"; readonly claimKey: string; readonly receipts: ReadonlyArray<Receipt> }
  /** One transfer counted for two payments. */
  | { readonly _tag: "TransferCountedTwice"; readonly transaction: string; readonly claimKeys: ReadonlyArray<string> }
  /** Abandoned, and paid after all. */
  | { readonly _tag: "UncollectedButPaid"; readonly claimKey: string; readonly transfer: ChainTransfer }
  /** The claim ended without a receipt. */
  | { readonly _tag: "ClaimWithoutReceipt"; readonly claim: ReconciledClaim }
  /** It has expired, but the claim has not ended. */
  | { readonly _tag: "SettlingOverdue"; readonly claim: ReconciledClaim }

interface ReconcileTimes {
  readonly nowMs: number
  /** Time after a payment expires: for finality, and for the settlers' last check. */
  readonly graceMs: number
}

export const reconcile = (
  claims: ReadonlyArray<ReconciledClaim>,
  transfers: ReadonlyArray<ChainTransfer>,
  receipts: ReadonlyArray<Receipt>,
  times: ReconcileTimes
): ReadonlyArray<Finding> => {
  const paid = receipts.filter(hasTransfer)
  return [
    ...disagreements(receipts),
    ...countedTwice(paid),
    ...againstChain(paid, transfers),
    ...unreceipted(claims, transfers, receipts),
    ...unended(claims, receipts, times)
  ]
}

/** Whether the chain must have a transfer for it: a payment of which nothing was charged has none. */
export const hasTransfer = ({ outcome, transaction }: Pick<Receipt, "outcome" | "transaction">) =>
  outcome === "settled" && transaction !== null

/** What a transfer and its receipt share. One transaction may hold transfers of several payers. */
export const transferKey = (of: {
  readonly network: string
  readonly transaction: string | null
  readonly payer: string
}) => `${of.network} ${of.transaction} ${inOneCase(of.network, of.payer)}`

const disagreements = (receipts: ReadonlyArray<Receipt>): ReadonlyArray<Finding> =>
  [...Map.groupBy(receipts, ({ claimKey }) => claimKey)].flatMap(([claimKey, own]) => {
    // Two writes of the same receipt have the same content.
    const ends = new Set(own.map(({ outcome, transaction }) => `${outcome} ${transaction}`))
    return ends.size > 1 ? [{ _tag: "ReceiptsDisagree" as const, claimKey, receipts: own }] : []
  })

const countedTwice = (paid: ReadonlyArray<Receipt>): ReadonlyArray<Finding> =>
  [...Map.groupBy(paid, transferKey)].flatMap(([, own]) => {
    const claimKeys = [...new Set(own.map(({ claimKey }) => claimKey))]
    const transaction = own[0]?.transaction ?? ""
    return claimKeys.length > 1 ? [{ _tag: "TransferCountedTwice" as const, transaction, claimKeys }] : []
  })

const againstChain = (
  paid: ReadonlyArray<Receipt>,
  transfers: ReadonlyArray<ChainTransfer>
): ReadonlyArray<Finding> => {
  const made = Map.groupBy(transfers, transferKey)
  return paid.flatMap((receipt): ReadonlyArray<Finding> => {
    const own = made.get(transferKey(receipt)) ?? []
    const [first] = own
    if (first === undefined) return [{ _tag: "ReceiptWithoutTransfer", receipt }]
    if (own.some(({ amount }) => amount === BigInt(receipt.amount))) return []
    return [{ _tag: "AmountDiffers", receipt, transfer: first }]
  })
}

const unreceipted = (
  claims: ReadonlyArray<ReconciledClaim>,
  transfers: ReadonlyArray<ChainTransfer>,
  receipts: ReadonlyArray<Receipt>
): ReadonlyArray<Finding> => {
  const known = new Set(receipts.filter(({ outcome }) => outcome === "settled").map(transferKey))
  const uncollected = new Set(receipts.flatMap((one) => (one.outcome === "uncollected" ? [one.claimKey] : [])))
  const byKey = new Map(claims.map((claim) => [claim.key, claim]))
  const byTransaction = new Map(
    claims.flatMap((claim) =>
      claim.transactions.map((transaction) => [transferKey({ ...claim, transaction }), claim] as const)
    )
  )
  // A third party that submits a payment before us uses its own transaction; the nonce it used identifies the payment.
  const claimOf = ({ nonce, ...transfer }: ChainTransfer) =>
    byTransaction.get(transferKey(transfer)) ??
    (nonce === null ? undefined : byKey.get(claimKeyOf({ ...transfer, nonce })))
  return transfers.flatMap((transfer): ReadonlyArray<Finding> => {
    if (known.has(transferKey(transfer))) return []
    const claim = claimOf(transfer)
    if (claim !== undefined && (claim.state === "UNCOLLECTED" || uncollected.has(claim.key))) {
      return [{ _tag: "UncollectedButPaid", claimKey: claim.key, transfer }]
    }
    // A settler may be writing its receipt right now.
    if (claim?.state === "SETTLING") return []
    return [{ _tag: "TransferWithoutReceipt", transfer, claimKey: claim?.key ?? null }]
  })
}

const unended = (
  claims: ReadonlyArray<ReconciledClaim>,
  receipts: ReadonlyArray<Receipt>,
  { nowMs, graceMs }: ReconcileTimes
): ReadonlyArray<Finding> => {
  const receipted = new Set(receipts.map(({ claimKey }) => claimKey))
  return claims.flatMap((claim): ReadonlyArray<Finding> => {
    const isOver = nowMs > claim.validBeforeMs + graceMs
    if (claim.state === "SETTLING") return isOver ? [{ _tag: "SettlingOverdue", claim }] : []
    const hasEnd = claim.state === "SETTLED" || claim.state === "UNCOLLECTED"
    return hasEnd && !receipted.has(claim.key) ? [{ _tag: "ClaimWithoutReceipt", claim }] : []
  })
}
