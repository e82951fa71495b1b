/** Finds payers, claims and transactions, with the receipts of what was paid. */
import { Effect, Option, Schema } from "effect"
import { isoTime } from "#base"
import { ClaimReader, decimalAmount, type SeenClaim } from "#payments"
import { ClaimKey, type PaymentNetwork, type Receipt } from "#payments/contract"
import {
  newestReceipts,
  readForOneMax,
  type ReceiptFilter,
  receiptsOfClaim,
  type Stored,
  storedOf,
  tokenOf
} from "../money/receipts.ts"
import { messageAt, type Thing } from "./trace.ts"

type Networks = ReadonlyArray<PaymentNetwork>

const paid = (networks: Networks, part: Pick<Receipt, "network" | "asset" | "amount">) => {
  const { symbol, decimals } = tokenOf(networks, part)
  return decimals === null
    ? `${part.amount} units`
    : `${decimalAmount(BigInt(part.amount), decimals)} ${symbol ?? ""}`.trimEnd()
}

const receiptThing = (networks: Networks, { sequence, receipt }: Stored): Thing => {
  const { outcome, network, reason, model, settledAtMs, transaction } = receipt
  const at = isoTime(settledAtMs)
  const sold = model === undefined ? "" : ` for ${model}`
  return {
    kind: "receipt",
    id: String(sequence),
    at,
    text: `${outcome}, ${paid(networks, receipt)}${sold}${reason === null ? "" : `: ${reason}`}`,
    below: transaction === null ? [] : [{ kind: "transaction", id: transaction, at, text: `on ${network}`, below: [] }]
  }
}

const claimThing = (networks: Networks, { key, record }: SeenClaim, below: ReadonlyArray<Thing>): Thing => ({
  kind: "claim",
  id: key,
  at: isoTime(record.claimedAtMs),
  text: `a call${record.model === undefined ? "" : ` of ${record.model}`}, ${paid(networks, record)}, ${record.state}${record.reason === null ? "" : `: ${record.reason}`}`,
  below
})

/** Each claim with its receipts below it, below its payer. A claim that has ended and expired is known by its receipts. */
export const payersOf = (
  networks: Networks,
  receipts: ReadonlyArray<Stored>,
  claims: ReadonlyArray<SeenClaim>
): ReadonlyArray<Thing> => {
  const payers = new Map<string, Map<string, { claim?: SeenClaim; readonly receipts: Array<Stored> }>>()
  const entryOf = (network: string, payer: string, key: string) => {
    const name = `${payer} on ${network}`
    const calls = payers.get(name) ?? new Map<string, { claim?: SeenClaim; readonly receipts: Array<Stored> }>()
    payers.set(name, calls)
    const entry = calls.get(key) ?? { receipts: [] }
    calls.set(key, entry)
    return entry
  }
  for (const claim of claims) entryOf(claim.record.network, claim.record.payer, claim.key).claim = claim
  for (const stored of receipts) {
    const { network, payer, claimKey } = stored.receipt
    entryOf(network, payer, claimKey).receipts.push(stored)
  }
  return [...payers].map(([name, calls]) => ({
    kind: "payer",
    id: name.slice(0, name.indexOf(" ")),
    at: null,
    text: name.slice(name.indexOf(" ") + 1),
    below: [...calls].map(([key, { claim, receipts: own }]) => {
      const below = own.map((stored) => receiptThing(networks, stored))
      if (claim !== undefined) return claimThing(networks, claim, below)
      return { kind: "claim", id: key, at: null, text: "a call whose claim has ended and is not kept", below }
    })
  }))
}

const noteOn = (next: number | undefined, read: number) =>
  next === undefined ? [] : [`Only the newest ${read} receipts were looked through.`]

/** The newest receipts of a filter. */
const traced = Effect.fnUntraced(function* (filter: ReceiptFilter, limit: number) {
  const back = { before: Number.MAX_SAFE_INTEGER, limit, readMax: readForOneMax }
  const { found, next, read } = yield* newestReceipts({ ...filter, ...back })
  return { found, notes: found.length === 0 || found.length === limit ? noteOn(next, read) : [] }
})

const callsMax = 50

export const byPayer = Effect.fnUntraced(function* (networks: Networks, payer: string) {
  const { found, notes } = yield* traced({ payer }, callsMax)
  const { claims } = yield* (yield* ClaimReader).list({ payer }, { from: undefined, limit: callsMax })
  return { things: payersOf(networks, found, claims), notes }
})

export const byTransaction = Effect.fnUntraced(function* (networks: Networks, transaction: string) {
  const { found, notes } = yield* traced({ transaction }, callsMax)
  return { things: payersOf(networks, found, yield* claimsOf(found)), notes }
})

const claimsOf = Effect.fnUntraced(function* (receipts: ReadonlyArray<Stored>) {
  const { read } = yield* ClaimReader
  const keys = [...new Set(receipts.map(({ receipt }) => receipt.claimKey))]
  return (yield* Effect.forEach(keys, read, { concurrency: 4 })).flatMap(Option.toArray)
})

const isKey = Schema.is(ClaimKey)

export const byClaim = Effect.fnUntraced(function* (networks: Networks, claimKey: string) {
  if (!isKey(claimKey)) return { things: [], notes: [] }
  const claim = yield* (yield* ClaimReader).read(claimKey)
  if (Option.isNone(claim)) {
    const { found, notes } = yield* traced({ claimKey }, callsMax)
    return { things: payersOf(networks, found, []), notes }
  }
  const { found, next, read } = yield* receiptsOfClaim(claim.value)
  return { things: payersOf(networks, found, [claim.value]), notes: noteOn(next, read) }
})

/** A receipt by its number, with its claim and payer. */
export const receiptAt = Effect.fnUntraced(function* (networks: Networks, sequence: number) {
  const stored = Option.flatMap(yield* messageAt("RECEIPTS", sequence), storedOf).pipe(Option.toArray)
  return { things: payersOf(networks, stored, yield* claimsOf(stored)), notes: [] }
})
