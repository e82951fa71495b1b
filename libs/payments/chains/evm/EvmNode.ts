/**
 * Questions to a chain's node, with decoded answers. A revert is an answer of its own; every other fault, of the
 * transport or of the node, is `ChainUnavailable` and says nothing about a payment.
 */
import { Effect, Schema } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import { type JsonRpc, type RpcError, RpcRejected } from "../json-rpc.ts"
import { type Hex, hexOf, quantityOf, textIn } from "./encoding.ts"

/**
 * The call ran and the contract refused. `text` is its reason, empty if it gave none; `selector` is the first four
 * bytes of a declared error, in hex.
 */
export class Reverted extends Schema.TaggedError<Reverted>()("Reverted", {
  text: Schema.String,
  selector: Schema.optionalKey(Schema.String)
}) {}

/** A node's limit on logs, or ours: a question over fewer blocks may succeed. */
export class TooManyLogs extends Schema.TaggedError<TooManyLogs>()("TooManyLogs", { detail: Schema.String }) {}

const HexText = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]*$/u))
const Quantity = HexText.check(Schema.isMaxLength(66))

export const Log = Schema.Struct({
  address: HexText,
  topics: Schema.Array(HexText).check(Schema.isMaxLength(4)),
  data: HexText,
  transactionHash: HexText,
  blockNumber: Quantity,
  logIndex: Quantity
})
export interface Log extends Schema.Schema.Type<typeof Log> {}

export const TransactionReceipt = Schema.Struct({
  transactionHash: HexText,
  status: Quantity,
  blockNumber: Quantity,
  logs: Schema.Array(Log)
})
export interface TransactionReceipt extends Schema.Schema.Type<typeof TransactionReceipt> {}

const Block = Schema.Struct({
  number: Quantity,
  timestamp: Quantity,
  baseFeePerGas: Schema.optionalKey(Quantity)
})

interface BlockFacts {
  readonly number: bigint
  /** Unix seconds. */
  readonly timestamp: bigint
  readonly baseFeeWei: bigint
}

type BlockTag = "latest" | "finalized" | bigint

interface LogFilter {
  readonly address: string
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly topics: ReadonlyArray<string | ReadonlyArray<string> | null>
}

export interface CallOptions {
  /** The caller; unspecified by default. */
  readonly from?: string
  readonly block?: "latest" | "finalized"
  /** Code placed at these addresses for this call only. */
  readonly code?: Readonly<Record<string, string>>
}

export interface CalledTransaction {
  readonly to: string | null
  readonly input: string
}

const callOf = (
  { to, data, from }: { readonly to: string; readonly data: Hex; readonly from: string | undefined },
  block: string,
  code: CallOptions["code"]
): ReadonlyArray<unknown> => {
  const call = from === undefined ? { to, data } : { from, to, data }
  if (code === undefined) return [call, block]
  return [call, block, Object.fromEntries(Object.entries(code).map(([address, hex]) => [address, { code: hex }]))]
}

export class EvmNode {
  readonly #rpc: JsonRpc

  constructor(rpc: JsonRpc) {
    this.#rpc = rpc
  }

  /** Calls a contract on top of the newest block, or of another one. */
  readonly call = (
    to: string,
    data: Uint8Array,
    { from, block = "latest", code }: CallOptions = {}
  ): Effect.Effect<string, Reverted | ChainUnavailable> =>
    this.#rpc.call("eth_call", callOf({ to, data: hexOf(data), from }, block, code)).pipe(
      Effect.mapError((error) => revertIn(error) ?? unavailable("call the token", error)),
      Effect.flatMap((answer) => Effect.mapError(decodeHex(answer), () => otherShape("call the token")))
    )

  /** The code at an address, `0x` where there is none. */
  readonly code = (address: string): Effect.Effect<string, ChainUnavailable> =>
    this.#ask("read code", "eth_getCode", [address, "latest"], decodeHex)

  readonly hasCode = (address: string): Effect.Effect<boolean, ChainUnavailable> =>
    Effect.map(this.code(address), (code) => code.length > 2)

  readonly receipt = (hash: string): Effect.Effect<TransactionReceipt | null, ChainUnavailable> =>
    this.#ask("read a receipt", "eth_getTransactionReceipt", [hash], decodeReceipt)

  /**
   * Whether the node holds the transaction and it can still enter a block. One that lost its nonce to another never
   * can, though some nodes keep listing it.
   */
  readonly isWaiting = Effect.fnUntraced(function* (
    this: EvmNode,
    hash: string
  ): Effect.fn.Return<boolean, ChainUnavailable> {
    const found = yield* this.#ask("look for a transaction", "eth_getTransactionByHash", [hash], decodeTransaction)
    if (found === null || (found.blockNumber ?? null) !== null) return false
    return (yield* this.transactionCount(found.from, "latest")) <= Number(found.nonce)
  })

  /** What a transaction in a block called, and with what data; null for one that is not in a block. */
  readonly transaction = (hash: string): Effect.Effect<CalledTransaction | null, ChainUnavailable> =>
    Effect.map(this.#ask("read a transaction", "eth_getTransactionByHash", [hash], decodeTransaction), (found) =>
      found === null || (found.blockNumber ?? null) === null
        ? null
        : { to: found.to ?? null, input: found.input ?? "0x" }
    )

  readonly logs = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, TooManyLogs | ChainUnavailable> => {
    const { fromBlock, toBlock } = filter
    const range = { ...filter, fromBlock: quantityOf(fromBlock), toBlock: quantityOf(toBlock) }
    return this.#rpc.call("eth_getLogs", [range]).pipe(
      Effect.mapError((error) =>
        error._tag === "RpcRejected" || error.why === "too long"
          ? new TooManyLogs({ detail: error.message })
          : unavailable("read logs", error)
      ),
      Effect.flatMap((answer) => Effect.mapError(decodeLogs(answer), () => otherShape("read logs")))
    )
  }

  readonly block = (tag: BlockTag): Effect.Effect<BlockFacts, ChainUnavailable> =>
    Effect.map(
      this.#ask(
        "read a block",
        "eth_getBlockByNumber",
        [typeof tag === "bigint" ? quantityOf(tag) : tag, false],
        decodeBlock
      ),
      ({ number, timestamp, baseFeePerGas }) => ({
        number: BigInt(number),
        timestamp: BigInt(timestamp),
        baseFeeWei: BigInt(baseFeePerGas ?? "0x0")
      })
    )

  readonly chainId: Effect.Effect<bigint, ChainUnavailable> = Effect.suspend(() =>
    Effect.map(this.#ask("read the chain's id", "eth_chainId", [], decodeQuantity), BigInt)
  )

  /** The number of an account's transactions: those in blocks, or including those that wait. */
  readonly transactionCount = (address: string, tag: "latest" | "pending"): Effect.Effect<number, ChainUnavailable> =>
    Effect.map(this.#ask("read an account's nonce", "eth_getTransactionCount", [address, tag], decodeQuantity), Number)

  readonly balance = (address: string): Effect.Effect<bigint, ChainUnavailable> =>
    Effect.map(this.#ask("read an account's balance", "eth_getBalance", [address, "latest"], decodeQuantity), BigInt)

  readonly tipWei: Effect.Effect<bigint, ChainUnavailable> = Effect.suspend(() =>
    Effect.map(this.#ask("read the tip", "eth_maxPriorityFeePerGas", [], decodeQuantity), BigInt)
  )

  /** Sends the transaction and returns at once: the caller interprets refusals itself. */
  readonly send = (raw: Hex): Effect.Effect<void, RpcError> =>
    Effect.asVoid(this.#rpc.call("eth_sendRawTransaction", [raw]))

  /**
   * Sends the transaction and answers when it is in a block, on nodes that have this method (EIP-7966). Nodes disagree
   * on how to set their own limit, so it is not set and ours ends the wait with `RpcUnavailable`, whose `why` says so.
   */
  readonly sendAndWait = (raw: Hex, waitMs: number): Effect.Effect<TransactionReceipt, RpcError | ChainUnavailable> =>
    this.#rpc
      .call("eth_sendRawTransactionSync", [raw], waitMs)
      .pipe(
        Effect.flatMap((answer) => Effect.mapError(decodeSyncReceipt(answer), () => otherShape("send a transaction")))
      )

  #ask<A>(
    operation: string,
    method: string,
    params: ReadonlyArray<unknown>,
    decode: (answer: unknown) => Effect.Effect<A, unknown>
  ): Effect.Effect<A, ChainUnavailable> {
    return this.#rpc.call(method, params).pipe(
      Effect.mapError((error) => unavailable(operation, error)),
      Effect.flatMap((answer) => Effect.mapError(decode(answer), () => otherShape(operation)))
    )
  }
}

const decodeHex = Schema.decodeUnknownEffect(HexText)
const decodeQuantity = Schema.decodeUnknownEffect(Quantity)
const decodeLogs = Schema.decodeUnknownEffect(Schema.Array(Log))
const decodeBlock = Schema.decodeUnknownEffect(Block)
const decodeReceipt = Schema.decodeUnknownEffect(Schema.NullOr(TransactionReceipt))
const decodeSyncReceipt = Schema.decodeUnknownEffect(TransactionReceipt)
const decodeTransaction = Schema.decodeUnknownEffect(
  Schema.NullOr(
    Schema.Struct({
      from: HexText,
      nonce: Quantity,
      blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)),
      to: Schema.optionalKey(Schema.NullOr(HexText)),
      input: Schema.optionalKey(HexText)
    })
  )
)

const unavailable = (operation: string, error: RpcError) => new ChainUnavailable({ operation, detail: error.message })

const otherShape = (operation: string) =>
  new ChainUnavailable({ operation, detail: "the node's answer has another shape" })

// Nodes agree on code 3, with the revert reason as data; older ones give it only in the message.
const revertCode = 3
const revertWord = /\breverted\b|\bvm execution error\b/iu
// Error(string).
const errorSelector = "0x08c379a0"
const revertTextMax = 1_024

const revertIn = (error: RpcError): Reverted | undefined => {
  if (!(error instanceof RpcRejected)) return undefined
  if (error.code !== revertCode && !revertWord.test(error.detail)) return undefined
  const text = revertText(error.data)
  if (text !== undefined) return new Reverted({ text })
  const selector = typeof error.data === "string" ? declaredError.exec(error.data)?.[1]?.toLowerCase() : undefined
  return new Reverted({ text: error.detail, ...(selector === undefined ? {} : { selector }) })
}

const declaredError = /^(0x[0-9a-fA-F]{8})(?:[0-9a-fA-F]{64})*$/u

const revertText = (data: unknown): string | undefined => {
  if (typeof data !== "string" || !data.startsWith(errorSelector)) return undefined
  const text = textIn(`0x${data.slice(errorSelector.length)}`)
  return text !== undefined && text.length > revertTextMax ? undefined : text
}
