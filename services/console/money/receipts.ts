/**
 * Receipts, read from their end or in order, and their sums. RECEIPTS keeps those of a chain and a payer on a subject
 * of their own; everything else is found by searching these. Sums are by day, model or payer, separately for each
 * asset.
 */
import { Effect, Option, Result, Stream } from "effect"
import { type BusError, type SourceMessage, StreamReader } from "#bus"
import {
  addressToken,
  inOneCase,
  isSameAddress,
  knownTokenOf,
  type PaymentNetwork,
  type Receipt
} from "#payments/contract"
import { isoTime, pageSizeMax, subjects } from "#base"
import type { ReceiptSum, ReceiptView, SumsBy } from "#console/api"
import { receiptCodec, type SeenClaim } from "#payments"

const stream = "RECEIPTS"

export interface ReceiptFilter {
  readonly network?: string | undefined
  readonly payer?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: Receipt["outcome"] | undefined
  readonly transaction?: string | undefined
  readonly claimKey?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

export interface Stored {
  readonly sequence: number
  readonly receipt: Receipt
}

const subjectOf = ({ network, payer }: ReceiptFilter) => {
  if (network === undefined) return subjects.receiptsAll
  return payer === undefined ? subjects.receiptsOf(network) : subjects.receipts(network, addressToken(network, payer))
}

/** Whether a receipt matches, regardless of its subject. Pure. */
export const isWanted = (filter: ReceiptFilter, receipt: Receipt): boolean => {
  const { network, payer, model, outcome, transaction, claimKey } = filter
  const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = filter
  const inCase = (text: string | null) => (text === null ? null : inOneCase(receipt.network, text))
  return (
    (network === undefined || receipt.network === network) &&
    (payer === undefined || isSameAddress(receipt.network, receipt.payer, payer)) &&
    (model === undefined || receipt.model === model) &&
    (outcome === undefined || receipt.outcome === outcome) &&
    (claimKey === undefined || receipt.claimKey === claimKey) &&
    (transaction === undefined || inCase(receipt.transaction) === inCase(transaction)) &&
    receipt.settledAtMs >= sinceMs &&
    receipt.settledAtMs <= untilMs
  )
}

/** None for an unreadable message. */
export const storedOf = (message: SourceMessage): Option.Option<Stored> =>
  Option.map(Result.getSuccess(receiptCodec.decode(message)), (receipt) => ({ sequence: message.sequence, receipt }))

// A receipt is stored when its settler reports that its payment ended; the clocks of the two differ by less.
const clockSkewMs = 60_000
const messagesAtOnce = 256

/** Where the receipts of a time span begin, and one past where they end. */
const boundsOf = Effect.fnUntraced(function* ({ sinceMs, untilMs }: ReceiptFilter) {
  const reader = yield* StreamReader
  const { firstSequence, lastSequence } = yield* reader.bounds(stream)
  const first = sinceMs === undefined ? firstSequence : yield* reader.firstAt(stream, sinceMs - clockSkewMs)
  const end = untilMs === undefined ? lastSequence + 1 : yield* reader.firstAt(stream, untilMs + clockSkewMs)
  return { first: Math.max(1, first), end }
})

interface Back extends ReceiptFilter {
  /** Excludes this sequence and later ones. */
  readonly before: number
  readonly limit: number
  readonly readMax: number
}

export interface ReadBack {
  readonly found: ReadonlyArray<Stored>
  /** Messages read. */
  readonly read: number
  /** The position to continue from; undefined when there is nothing older. */
  readonly next: number | undefined
}

/** The newest receipts of a filter, newest first: until this many are found, or this many messages are read. */
export const newestReceipts = Effect.fn("newestReceipts")(function* ({
  before,
  limit,
  readMax,
  ...filter
}: Back): Effect.fn.Return<ReadBack, BusError, StreamReader> {
  const reader = yield* StreamReader
  const { first, end } = yield* boundsOf(filter)
  const found: Array<Stored> = []
  let place = Math.min(before, end)
  let read = 0
  while (read < readMax) {
    const messagesMax = Math.min(messagesAtOnce, readMax - read)
    const messages = yield* reader.newest(stream, { before: place, subject: subjectOf(filter), messagesMax })
    for (const message of messages) {
      if (message.sequence < first) return { found, read, next: undefined }
      place = message.sequence
      read += 1
      const stored = storedOf(message)
      if (Option.isSome(stored) && isWanted(filter, stored.value.receipt)) found.push(stored.value)
      if (found.length === limit) return { found, read, next: place }
    }
    if (messages.length < messagesMax) return { found, read, next: undefined }
  }
  return { found, read, next: place }
})

/** A claim or a transaction is found only by reading: about eighty requests to the broker. */
export const readForOneMax = 20_480

/** The receipts of a claim, none of which is older than it. */
export const receiptsOfClaim = ({ key, record: { network, payer, claimedAtMs } }: SeenClaim) => {
  const back = { before: Number.MAX_SAFE_INTEGER, limit: pageSizeMax, readMax: readForOneMax }
  return newestReceipts({ ...back, network, payer, claimKey: key, sinceMs: claimedAtMs - clockSkewMs })
}

/** The range that a table covers, and the most messages in it. */
export const rangeOf = Effect.fn("rangeOf")(function* (filter: ReceiptFilter, after: number) {
  const { first, end } = yield* boundsOf(filter)
  const from = Math.max(first, after + 1)
  return { from, to: end - 1, count: Math.max(0, end - from) }
})

/** The receipts of a filter within a range, oldest first. */
export const receiptsIn = (filter: ReceiptFilter, { from, to }: { readonly from: number; readonly to: number }) =>
  to < from
    ? Stream.empty
    : Stream.unwrap(
        Effect.map(StreamReader, (reader) =>
          reader.range(stream, { fromSequence: from, toSequence: to, subject: subjectOf(filter) })
        )
      ).pipe(
        Stream.flatMap((message) => Stream.fromIterable(Option.toArray(storedOf(message)))),
        Stream.filter(({ receipt }) => isWanted(filter, receipt))
      )

type Networks = ReadonlyArray<Pick<PaymentNetwork, "Network" | "Asset" | "AssetSymbol" | "AssetDecimals">>

/** A token's name and decimals; null if neither the configuration nor the table knows it. */
export const tokenOf = (networks: Networks, { network, asset }: Pick<Receipt, "network" | "asset">) => {
  const isIt = (other: string) => isSameAddress(network, other, asset)
  const configured = networks.find(({ Network, Asset }) => Network === network && isIt(Asset))
  if (configured !== undefined) return { symbol: configured.AssetSymbol, decimals: configured.AssetDecimals }
  const known = knownTokenOf(network)
  return known !== undefined && isIt(known.asset)
    ? { symbol: known.symbol, decimals: known.decimals }
    : { symbol: null, decimals: null }
}

export const receiptView = (networks: Networks, { sequence, receipt }: Stored): ReceiptView => ({
  sequence,
  claimKey: receipt.claimKey,
  network: receipt.network,
  asset: receipt.asset,
  ...tokenOf(networks, receipt),
  amount: receipt.amount,
  payer: receipt.payer,
  payTo: receipt.payTo,
  outcome: receipt.outcome,
  transaction: receipt.transaction,
  reason: receipt.reason,
  model: receipt.model ?? null,
  requestedAt: isoTime(receipt.requestedAtMs),
  endedAt: isoTime(receipt.settledAtMs),
  providerCost: receipt.providerCost ?? null,
  scheme: receipt.scheme ?? "exact",
  ceiling: receipt.ceiling ?? null,
  refund: receipt.refund ?? null
})

const columns = [
  "sequence",
  "endedAt",
  "requestedAt",
  "outcome",
  "network",
  "symbol",
  "decimals",
  "amount",
  "asset",
  "payer",
  "payTo",
  "model",
  "transaction",
  "reason",
  "claimKey",
  "providerCost",
  "scheme",
  "ceiling",
  "refund"
] as const satisfies ReadonlyArray<keyof ReceiptView>

export const csvHead = `${columns.join(",")}\r\n`

/** One line by RFC 4180. Pure. */
export const csvLine = (view: ReceiptView): string => `${columns.map((column) => cell(view[column])).join(",")}\r\n`

const cell = (value: string | number | null): string => {
  if (value === null) return ""
  if (typeof value === "number") return String(value)
  // A spreadsheet would evaluate these.
  const text = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

type Token = Pick<ReceiptSum, "symbol" | "decimals">

interface Sum extends Pick<ReceiptSum, "key" | "network" | "asset"> {
  readonly token: Token
  settled: bigint
  settledCount: number
  uncollected: bigint
  uncollectedCount: number
  refunded: bigint
  refundedCount: number
  providerCost: bigint
  providerCostCount: number
  margin: bigint
}

const keyOf = (by: SumsBy, receipt: Receipt): string | null => {
  if (by === "day") return isoTime(receipt.settledAtMs).slice(0, "2026-01-01".length)
  return by === "model" ? (receipt.model ?? null) : inOneCase(receipt.network, receipt.payer)
}

// No token has more decimals than the configuration accepts.
const decimalsMax = 18

/** An amount that can be compared with those of other assets as if all were worth the same. */
const size = ({ settled, uncollected, refunded, token: { decimals } }: Sum) =>
  (settled + uncollected + refunded) * 10n ** BigInt(Math.max(0, decimalsMax - (decimals ?? decimalsMax)))

const before = (left: string | bigint, right: string | bigint) => (left < right ? 1 : left > right ? -1 : 0)

/** Days newest first, others largest first; no more than a page of them. */
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
      refunded: 0n,
      refundedCount: 0,
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

/** A margin covers only receipts with a known cost: others would look as if they cost nothing. */
const addCost = (sum: Sum, { outcome, amount, providerCost }: Receipt) => {
  if (providerCost === undefined) return
  if (outcome === "refunded") {
    sum.margin -= BigInt(amount)
    return
  }
  const cost = BigInt(providerCost)
  sum.providerCost += cost
  sum.providerCostCount += 1
  sum.margin += (outcome === "settled" ? BigInt(amount) : 0n) - cost
}

const viewOf = ({ token, settled, uncollected, refunded, providerCost, margin, ...sum }: Sum): ReceiptSum => ({
  ...sum,
  ...token,
  settled: String(settled),
  uncollected: String(uncollected),
  refunded: String(refunded),
  providerCost: sum.providerCostCount === 0 ? null : String(providerCost),
  margin: sum.providerCostCount === 0 ? null : String(margin)
})
