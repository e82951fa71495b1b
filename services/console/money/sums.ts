/** Sums of receipts by day, model or payer, each asset by itself. Whole numbers of any size. Pure. */
import { inOneCase, isoTime, pageSizeMax, type Receipt } from "#contracts"
import type { ReceiptSum, SumsBy } from "#contracts/console"

type Token = Pick<ReceiptSum, "symbol" | "decimals">

interface Sum extends Pick<ReceiptSum, "key" | "network" | "asset"> {
  readonly token: Token
  settled: bigint
  settledCount: number
  uncollected: bigint
  uncollectedCount: number
  providerCost: bigint
  providerCostCount: number
  margin: bigint
}

const keyOf = (by: SumsBy, receipt: Receipt): string | null => {
  if (by === "day") return isoTime(receipt.settledAtMs).slice(0, "2026-01-01".length)
  return by === "model" ? (receipt.model ?? null) : inOneCase(receipt.network, receipt.payer)
}

// No token has more decimals than the configuration takes.
const decimalsMax = 18

/** An amount that can be compared with those of other assets as if all were worth the same. */
const size = ({ settled, uncollected, token: { decimals } }: Sum) =>
  (settled + uncollected) * 10n ** BigInt(Math.max(0, decimalsMax - (decimals ?? decimalsMax)))

const before = (left: string | bigint, right: string | bigint) => (left < right ? 1 : left > right ? -1 : 0)

/** Days newest first, others the largest first; no more than a page of them. */
export const sumsOf = (
  by: SumsBy,
  receipts: Iterable<Receipt>,
  tokenOf: (receipt: Receipt) => Token
): { readonly items: ReadonlyArray<ReceiptSum>; readonly leftOut: number } => {
  const sums = new Map<string, Sum>()
  for (const receipt of receipts) {
    const key = keyOf(by, receipt)
    const asset = inOneCase(receipt.network, receipt.asset)
    const name = JSON.stringify([key, receipt.network, asset])
    const sum = sums.get(name) ?? {
      key,
      network: receipt.network,
      asset: receipt.asset,
      token: tokenOf(receipt),
      settled: 0n,
      settledCount: 0,
      uncollected: 0n,
      uncollectedCount: 0,
      providerCost: 0n,
      providerCostCount: 0,
      margin: 0n
    }
    sums.set(name, sum)
    sum[receipt.outcome] += BigInt(receipt.amount)
    sum[`${receipt.outcome}Count`] += 1
    addCost(sum, receipt)
  }
  const sorted = [...sums.values()].toSorted((left, right) =>
    by === "day"
      ? before(left.key ?? "", right.key ?? "") || before(size(left), size(right))
      : before(size(left), size(right))
  )
  return { items: sorted.slice(0, pageSizeMax).map(viewOf), leftOut: Math.max(0, sorted.length - pageSizeMax) }
}

/** A margin is of the receipts whose cost is known alone: others would look as if they cost nothing. */
const addCost = (sum: Sum, { outcome, amount, providerCost }: Receipt) => {
  if (providerCost === undefined) return
  const cost = BigInt(providerCost)
  sum.providerCost += cost
  sum.providerCostCount += 1
  sum.margin += (outcome === "settled" ? BigInt(amount) : 0n) - cost
}

const viewOf = ({ token, settled, uncollected, providerCost, margin, ...sum }: Sum): ReceiptSum => ({
  ...sum,
  ...token,
  settled: String(settled),
  uncollected: String(uncollected),
  providerCost: sum.providerCostCount === 0 ? null : String(providerCost),
  margin: sum.providerCostCount === 0 ? null : String(margin)
})
