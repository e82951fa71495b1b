/**
 * Every transfer of the token to our account in final blocks, for the reconciliation from the chain's side. A position
 * is the block, and the place in it, of the last transfer that was read. The authorization's nonce is not given: a
 * transfer's event does not have it, and receipts are found by the transaction's hash.
 */
import { Effect, Option, Stream } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { ChainPosition, ChainTransfer } from "../../scheme.ts"
import type { EvmNode } from "./EvmNode.ts"
import type { EvmSettings } from "./settings.ts"
import { transferTopic, type TransferFacts, transferIn } from "./token.ts"
import { addressTopic } from "./encoding.ts"

export type TransfersOptions = Pick<EvmSettings, "network" | "asset" | "payTo" | "logBlocksMax" | "logPagesMax">

interface Place {
  readonly block: bigint
  readonly logIndex: bigint
}

const pattern = /^([0-9]{1,20}):([0-9]{1,10})$/u

const placeOf = (position: ChainPosition): Place | undefined => {
  const [, block, logIndex] = pattern.exec(position) ?? []
  return block === undefined || logIndex === undefined
    ? undefined
    : { block: BigInt(block), logIndex: BigInt(logIndex) }
}

/** Without a position, the reading begins as many blocks back as it may hold. */
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

// A page is decoded in one go, in a process that also settles: 256 logs take some milliseconds.
const pageLogs = 256
const pageBlocks = 128n

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/** The number of blocks for the next page, so that it has about `pageLogs` logs at most. */
const blocksAfter = (blocks: bigint, logs: number, most: bigint) => {
  if (logs > pageLogs) return blocks > 1n ? blocks / 2n : 1n
  return logs < pageLogs / 2 ? least(blocks * 2n, most) : blocks
}

/** Halves the number of blocks when they hold more logs than a node gives, down to one. */
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

const isAfter = ({ block, logIndex }: TransferFacts, after: Place) =>
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
