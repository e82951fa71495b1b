/**
 * What the chain says about a payment, whoever submitted it: made, still collectable, used up without us, or over. An
 * authorization's use is one bit that never reverts, so an unused one that has expired in a final block can never be
 * collected.
 *
 * It also reads every transfer of the token to our account in final blocks, for the reconciliation from the chain's
 * side. A position is the block, and the index in it, of the last transfer read. The authorization's nonce is not
 * given, because a transfer's event does not have it; receipts are found by the transaction's hash.
 */
import { Clock, Effect, Option, Stream } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { ChainPosition, ChainStatus, ChainTransfer } from "../../scheme.ts"
import { type EvmNode, type Log, Reverted } from "./EvmNode.ts"
import { clockSkewSeconds, type EvmPayment } from "./payment.ts"
import type { EvmSettings } from "./settings.ts"
import { addressTopic, isHash, readQuantity } from "./encoding.ts"
import {
  authorizationState,
  authorizationTopics,
  hasTransfer,
  hasUse,
  isCancellation,
  type TransferFacts,
  transferIn,
  transferTopic
} from "./token.ts"

export type LookOptions = Pick<EvmSettings, "logBlocksMax" | "logPagesMax">

export const look = Effect.fn("evm.look")(function* (
  node: EvmNode,
  options: LookOptions,
  payment: EvmPayment,
  transaction: string | null
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  if (transaction !== null && (yield* isMadeBy(node, payment, transaction))) return { _tag: "Settled", transaction }
  if (yield* isUsed(node, payment)) return yield* howUsed(node, options, payment)
  const end = { validBeforeMs: payment.validBeforeMs, endSeconds: payment.authorization.validBefore }
  return yield* statusOfUnused(node, { ...end, isUsed: isUsed(node, payment), transaction })
})

const isMadeBy = Effect.fnUntraced(function* (
  node: EvmNode,
  payment: EvmPayment,
  transaction: string
): Effect.fn.Return<boolean, ChainUnavailable> {
  // A facilitator can name any transaction, even an older payment of the same payer and amount.
  if (!isHash(transaction)) return false
  const receipt = yield* node.receipt(transaction)
  if (receipt === null || readQuantity(receipt.status) !== 1n) return false
  return hasTransfer(receipt.logs, payment) && hasUse(receipt.logs, payment)
})

const isUsed = ({ call }: EvmNode, { asset, payer, authorization }: EvmPayment) =>
  call(asset, authorizationState(payer, authorization.nonce)).pipe(
    // A token without such a state has not used the authorization.
    Effect.catchIf(
      (error) => error instanceof Reverted,
      () => Effect.succeed("0x0")
    ),
    Effect.map((answer) => (readQuantity(answer) ?? 0n) !== 0n)
  )

const howUsed = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions,
  payment: EvmPayment
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  const event = yield* eventOf(node, options, payment)
  if (event === undefined) return { _tag: "Undecided", detail: "it is used, and its event is not found yet" }
  const { transactionHash } = event
  const isPaid = !isCancellation(event) && (yield* isMadeBy(node, payment, transactionHash))
  return isPaid ? { _tag: "Settled", transaction: transactionHash } : { _tag: "Spent", transaction: transactionHash }
})

/** Searches backwards from the newest block to where the authorization cannot have been signed yet. */
const eventOf = Effect.fnUntraced(function* (
  node: EvmNode,
  { logBlocksMax, logPagesMax }: LookOptions,
  { asset, payer, authorization, requirements }: EvmPayment
): Effect.fn.Return<Log | undefined, ChainUnavailable> {
  const notBefore = authorization.validBefore - BigInt(requirements.maxTimeoutSeconds) - clockSkewSeconds
  const topics = authorizationTopics(payer, authorization.nonce)
  let toBlock = (yield* node.block("latest")).number
  for (let page = 0; page < logPagesMax; page += 1) {
    const fromBlock = toBlock >= logBlocksMax ? toBlock - logBlocksMax + 1n : 0n
    // There is at most one event: a node that finds too many has a limit on blocks.
    const [event] = yield* node
      .logs({ address: asset, topics, fromBlock, toBlock })
      .pipe(Effect.catchTag("TooManyLogs", ({ detail }) => new ChainUnavailable({ operation: "read logs", detail })))
    if (event !== undefined) return event
    if (fromBlock === 0n || (yield* node.block(fromBlock)).timestamp < notBefore) return undefined
    toBlock = fromBlock - 1n
  }
  return undefined
})

interface Unused {
  readonly validBeforeMs: number
  /** The timestamp from which no block can hold it. */
  readonly endSeconds: bigint
  readonly isUsed: Effect.Effect<boolean, ChainUnavailable>
  readonly transaction: string | null
}

/** The standing of a payment that was just seen unused. */
export const statusOfUnused = Effect.fnUntraced(function* (
  node: EvmNode,
  { validBeforeMs, endSeconds, isUsed, transaction }: Unused
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  const nowMs = yield* Clock.currentTimeMillis
  if (nowMs < validBeforeMs) {
    const isWaiting = transaction !== null && (yield* node.isWaiting(transaction))
    return isWaiting ? { _tag: "Undecided", detail: "its transaction waits for a block" } : { _tag: "Unused" }
  }
  const final = yield* node.block("finalized")
  if (final.timestamp < endSeconds) {
    return { _tag: "Undecided", detail: "its time is over, but not yet in a final block" }
  }
  // Asked again after that block: it may have been used since the first question.
  if (yield* isUsed) return { _tag: "Undecided", detail: "it was used at the last moment" }
  return { _tag: "Expired" }
})

export type TransfersOptions = Pick<EvmSettings, "network" | "asset" | "payTo" | "logBlocksMax" | "logPagesMax">

interface LogPosition {
  readonly block: bigint
  readonly logIndex: bigint
}

const pattern = /^([0-9]{1,20}):([0-9]{1,10})$/u

const placeOf = (position: ChainPosition): LogPosition | undefined => {
  const [, block, logIndex] = pattern.exec(position) ?? []
  return block === undefined || logIndex === undefined
    ? undefined
    : { block: BigInt(block), logIndex: BigInt(logIndex) }
}

/** Without a position, reading begins as many blocks back as one search may span. */
export const transfers = (
  node: EvmNode,
  options: TransfersOptions,
  from: ChainPosition | null
): Stream.Stream<ChainTransfer, ChainUnavailable> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const after = from === null ? undefined : placeOf(from)
      if (from !== null && after === undefined) {
        return yield* new ChainUnavailable({ operation: "read transfers", detail: `${from} is no position` })
      }
      const newest = (yield* node.block("finalized")).number
      const reach = options.logBlocksMax * BigInt(options.logPagesMax)
      const begin = after?.block ?? (newest > reach ? newest - reach : 0n)
      const start: Pages = { fromBlock: begin, blocks: least(pageBlocks, options.logBlocksMax) }
      return Stream.paginate(start, (pages) => page(node, options, pages, newest)).pipe(
        Stream.filter((facts) => after === undefined || isAfter(facts, after)),
        Stream.map((facts) => transferOf(options, facts))
      )
    })
  )

/** The start of the next question, and its number of blocks. */
interface Pages {
  readonly fromBlock: bigint
  readonly blocks: bigint
}

// A page is decoded in one go, in a process that also settles: 256 logs take a few milliseconds.
const pageLogs = 256
const pageBlocks = 128n

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/** The number of blocks for the next page, so that it has about `pageLogs` logs at most. */
const blocksAfter = (blocks: bigint, logs: number, most: bigint) => {
  if (logs > pageLogs) return blocks > 1n ? blocks / 2n : 1n
  return logs < pageLogs / 2 ? least(blocks * 2n, most) : blocks
}

/** Halves the number of blocks when they hold more logs than a node returns, down to one. */
const page = (
  node: EvmNode,
  options: TransfersOptions,
  { fromBlock, blocks }: Pages,
  newest: bigint
): Effect.Effect<readonly [ReadonlyArray<TransferFacts>, Option.Option<Pages>], ChainUnavailable> => {
  if (fromBlock > newest) return Effect.succeed([[], Option.none()])
  const { asset, payTo, logBlocksMax } = options
  const last = fromBlock + blocks - 1n
  const toBlock = least(last, newest)
  const topics = [transferTopic, null, addressTopic(payTo)]
  return node.logs({ address: asset, topics, fromBlock, toBlock }).pipe(
    Effect.map((logs) => {
      const next = { fromBlock: toBlock + 1n, blocks: blocksAfter(blocks, logs.length, logBlocksMax) }
      return [
        logs.flatMap((log) => transferIn(log) ?? []),
        toBlock < newest ? Option.some(next) : Option.none()
      ] as const
    }),
    Effect.catchTag("TooManyLogs", ({ detail }) =>
      blocks === 1n
        ? new ChainUnavailable({ operation: "read transfers", detail })
        : page(node, options, { fromBlock, blocks: blocks / 2n }, newest)
    )
  )
}

const isAfter = ({ block, logIndex }: TransferFacts, after: LogPosition) =>
  block > after.block || (block === after.block && logIndex > after.logIndex)

const transferOf = (
  { network, asset, payTo }: TransfersOptions,
  { payer, amount, transaction, block, logIndex }: TransferFacts
): ChainTransfer => ({
  transaction,
  network,
  asset: asset.toLowerCase(),
  payer,
  payTo: payTo.toLowerCase(),
  amount,
  nonce: null,
  position: `${block}:${logIndex}`
})
