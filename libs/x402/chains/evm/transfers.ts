/**
 * Every transfer of the token to our account, as final blocks have it, for the reconciliation from the chain's side.
 * A position is the block and the place in it of the last transfer that was read. The authorization's nonce is not
 * told: the event of a transfer does not have it, and its transaction's hash is what receipts are found by.
 */
import { Effect, Option, Stream } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { ChainPosition, ChainTransfer } from "../../scheme.ts"
import type { EvmNode } from "./EvmNode.ts"
import type { EvmSettings } from "./settings.ts"
import { finalBlock } from "./look.ts"
import { transferTopic, type TransferFacts, transferIn } from "./token.ts"
import { addressTopic } from "./encoding.ts"

export type TransfersOptions = Pick<
  EvmSettings,
  "network" | "asset" | "payTo" | "finality" | "logBlocksMax" | "logPagesMax"
>

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

/** Without a position it begins as many blocks back as one reading may hold. */
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
      const newest = (yield* finalBlock(node, options.finality)).number
      const reach = options.logBlocksMax * BigInt(options.logPagesMax)
      const begin = after?.block ?? (newest > reach ? newest - reach : 0n)
      const start: Pages = { fromBlock: begin, blocks: least(pageBlocks, options.logBlocksMax) }
      return Stream.paginate(start, (pages) => page(node, options, pages, newest)).pipe(
        Stream.filter((facts) => after === undefined || isAfter(facts, after)),
        Stream.map((facts) => transferOf(options, facts))
      )
    })
  )

/** Where the next question begins, and over how many blocks it goes. */
interface Pages {
  readonly fromBlock: bigint
  readonly blocks: bigint
}

// A page is decoded in one go, in a process that settles meanwhile: 256 logs take some milliseconds.
const pageLogs = 256
const pageBlocks = 128n

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/** How many blocks the next page has, so that it has some `pageLogs` at the most. */
const blocksAfter = (blocks: bigint, logs: number, most: bigint) => {
  if (logs > pageLogs) return blocks > 1n ? blocks / 2n : 1n
  return logs < pageLogs / 2 ? least(blocks * 2n, most) : blocks
}

/** Half as many blocks where there are more logs in them than anybody tells, down to one. */
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
