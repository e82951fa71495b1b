/**
 * Every transfer into our token account in final blocks, for the reconciliation from the chain's side. A position is
 * the signature of the last transaction read. Nodes list the newest first, so the pages are walked back to the position
 * and returned from there. Over a long distance only the oldest part is kept in memory; the rest is listed again when
 * that part has been read.
 */
import { createHash } from "node:crypto"
import { Effect, Option, Stream } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { ChainPosition, ChainTransfer } from "../../scheme.ts"
import { readTransfer } from "./instructions.ts"
import type { LandedTransaction, ListedSignature, SolanaNode } from "./SolanaNode.ts"
import { decodeTransaction } from "./transaction.ts"

export interface TransfersOptions {
  readonly network: string
  readonly asset: string
  readonly payTo: string
  /** The token account of `payTo`. */
  readonly account: string
  /** Signatures in one page: 1,000 is the maximum that nodes return. */
  readonly pageSize: number
}

/** Ten thousand signatures of at most 88 characters: about two megabytes. */
const pagesKept = 10
/** A million transactions; a reader that is further behind must start over. */
const pagesMax = 1_000

export const transfersFrom = (rpc: SolanaNode, options: TransfersOptions, from: ChainPosition | null) =>
  Stream.paginate(from, (position) => stretchAfter(rpc, options, position)).pipe(
    Stream.rechunk(1),
    Stream.mapEffect(({ signature }) =>
      Effect.map(rpc.transaction(signature, "finalized"), (landed) =>
        landed === null ? [] : transfersOf(options, signature, landed)
      )
    ),
    Stream.flattenIterable
  )

/** The oldest part after a position, oldest first, and the next position if there is more. */
const stretchAfter = Effect.fnUntraced(function* (
  rpc: SolanaNode,
  { account, pageSize }: TransfersOptions,
  until: ChainPosition | null
) {
  const kept: Array<ReadonlyArray<ListedSignature>> = []
  let before: string | null = null
  for (let page = 0; page < pagesMax; page += 1) {
    const range = { before, until, limit: pageSize }
    const listed: ReadonlyArray<ListedSignature> = yield* rpc.signatures(account, range, "finalized")
    kept.push(listed)
    if (kept.length > pagesKept) kept.shift()
    if (listed.length < pageSize) return stretchOf(kept.flat(), page >= pagesKept)
    before = listed.at(-1)?.signature ?? null
  }
  const detail = `more than ${pagesMax * pageSize} transactions since ${until ?? "the beginning"}`
  return yield* new ChainUnavailable({ operation: "getSignaturesForAddress", detail })
})

/** A failed transaction moved no money, but counts for the position. */
const stretchOf = (newestFirst: ReadonlyArray<ListedSignature>, hasMore: boolean) => {
  const next = hasMore ? Option.fromNullishOr(newestFirst[0]?.signature) : Option.none<ChainPosition>()
  return [newestFirst.filter(({ err }) => err === null).toReversed(), next] as const
}

/**
 * Read from its instructions if they show it; otherwise (a program made the transfer) from the change of the balances.
 */
export const transfersOf = (
  { network, asset, payTo, account }: TransfersOptions,
  signature: string,
  landed: LandedTransaction
): ReadonlyArray<ChainTransfer> => {
  if (landed.meta.err !== null) return []
  const common = { transaction: signature, network, asset, payTo, position: signature }
  const decoded = decodeTransaction(Buffer.from(landed.transaction[0], "base64"))
  const shown = decoded?.instructions.flatMap((instruction) => readTransfer(decoded, instruction) ?? []) ?? []
  const ours = shown.filter(({ destination, mint }) => destination === account && mint === asset)
  if (decoded !== undefined && ours.length > 0) {
    const nonce = createHash("sha256").update(decoded.message).digest("hex")
    return ours.map(({ authority, amount }) => ({ ...common, payer: authority, amount, nonce }))
  }
  const gained = changeOf(landed, asset, payTo)
  if (gained <= 0n) return []
  return [{ ...common, payer: largestLoser(landed, asset) ?? payTo, amount: gained, nonce: null }]
}

type Balances = LandedTransaction["meta"]["preTokenBalances"]

const sum = (balances: Balances, asset: string, owner: string) =>
  balances
    .filter((balance) => balance.mint === asset && balance.owner === owner)
    .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)

const changeOf = ({ meta }: LandedTransaction, asset: string, owner: string) =>
  sum(meta.postTokenBalances, asset, owner) - sum(meta.preTokenBalances, asset, owner)

const largestLoser = (landed: LandedTransaction, asset: string) => {
  const owners = new Set(landed.meta.preTokenBalances.flatMap(({ owner }) => owner ?? []))
  const changes = [...owners].map((owner) => ({ owner, change: changeOf(landed, asset, owner) }))
  const [first] = changes.toSorted((one, other) => (one.change < other.change ? -1 : 1))
  return first !== undefined && first.change < 0n ? first.owner : undefined
}
