/**
 * The channel contract of one network: its state of a channel, whether a call would succeed, sending a call and
 * awaiting it, and what happened to channels since a block. It stores nothing about any channel, and holds no key.
 */
import { Clock, Effect, Option, type Scope } from "effect"
import type { ConfiguredHttp } from "#egress"
import type { Metrics } from "#runtime"
import { ChainUnavailable, SettlementPending } from "../../../errors.ts"
import type { SettlerLease } from "../../../scheme.ts"
import { type JsonRpcOptions, openJsonRpc } from "../../json-rpc.ts"
import { EvmNode, type Log, type Reverted, type TooManyLogs, type TransactionReceipt } from "../EvmNode.ts"
import { isSameAddress, numberInWord, readQuantity } from "../encoding.ts"
import type { EvmPrepared } from "../payment.ts"
import { isUsedIn, nonceBitmap, permit2Address } from "../permit2.ts"
import { sendForReceipt } from "../send.ts"
import { chainIdOf, evmDefaults } from "../settings.ts"
import { domainSeparator } from "../signature.ts"
import { allowance, answersOf, authorizationState, manyCallsAddress, tryAggregate } from "../token.ts"
import { FeeSource, prepareCall } from "../transaction.ts"
import {
  channelQuestions,
  channelsAddress,
  channelsDomain,
  type ChannelOnChain,
  channelStateIn,
  channelTopics,
  receiverQuestion,
  settledTopic,
  wordAt
} from "./contract.ts"

/** A channel's state on the chain, as of the block or later. */
export interface SeenChannel extends ChannelOnChain {
  readonly block: number
}

/** The total claimed for a receiver, and the part moved to it. */
export interface ReceiverTotals {
  readonly totalClaimed: bigint
  readonly totalSettled: bigint
}

/** `refused`: the call ran and the contract rejected it; nothing has changed. */
export type CallOutcome =
  | { readonly _tag: "Made"; readonly receipt: TransactionReceipt }
  | { readonly _tag: "Refused"; readonly transaction: string }

export interface ChannelContract {
  readonly network: string
  readonly chainId: bigint
  /** The hash of the domain of everything that is signed for the contract. */
  readonly separator: Uint8Array
  readonly state: (channelId: string) => Effect.Effect<SeenChannel, ChainUnavailable>
  readonly totals: (receiver: string, token: string) => Effect.Effect<ReceiverTotals, ChainUnavailable>
  /** Whether a payer's authorization was used up, by a deposit or otherwise. */
  readonly isAuthorizationUsed: (
    token: string,
    payer: string,
    nonce: string
  ) => Effect.Effect<boolean, ChainUnavailable>
  readonly isPermitUsed: (payer: string, nonce: bigint) => Effect.Effect<boolean, ChainUnavailable>
  /** How much of a payer's token Permit2 may move. */
  readonly approvedForPermit2: (token: string, payer: string) => Effect.Effect<bigint, ChainUnavailable>
  /** Whether the call would succeed now. */
  readonly simulate: (data: Uint8Array) => Effect.Effect<void, Reverted | ChainUnavailable>
  /** Signs and sends nothing: the transaction's name is known from here on. */
  readonly prepare: (
    call: { readonly data: Uint8Array; readonly gas: bigint },
    lease: SettlerLease
  ) => Effect.Effect<EvmPrepared, ChainUnavailable>
  /** Sends and awaits. Pending: it may be on its way. */
  readonly send: (prepared: EvmPrepared) => Effect.Effect<CallOutcome, SettlementPending | ChainUnavailable>
  /** The outcome of a transaction signed before, awaited while it is on its way; none if no node has it. */
  readonly outcomeOf: (
    transaction: string
  ) => Effect.Effect<Option.Option<CallOutcome>, SettlementPending | ChainUnavailable>
  /** Unix seconds and number of the newest block, and of the newest that is final. */
  readonly head: Effect.Effect<{ readonly block: number; readonly timestamp: number }, ChainUnavailable>
  /** The channels that changed in these blocks, each once. */
  readonly changed: (fromBlock: number, toBlock: number) => Effect.Effect<ReadonlyArray<string>, ChainUnavailable>
}

interface ContractOptions {
  readonly network: string
  readonly rpcUrls: JsonRpcOptions["urls"]
}

const connectionsMax = 16

export const openChannelContract = Effect.fn("openChannelContract")(function* ({
  network,
  rpcUrls
}: ContractOptions): Effect.fn.Return<ChannelContract, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const { rpcDeadlineMs, feeWeiMax, receiptDeadlineMs, resendMs, logBlocksMax } = evmDefaults
  const rpc = yield* openJsonRpc({ network, urls: rpcUrls, deadlineMs: rpcDeadlineMs, connectionsMax })
  const node = new EvmNode(rpc)
  const chainId = chainIdOf(network)
  const signing = { fees: new FeeSource(node, feeWeiMax), chainId }
  const sending = { receiptDeadlineMs, resendMs, waiters: { isKnown: true, now: 0, atOnceMax: connectionsMax / 2 } }
  return {
    network,
    chainId,
    separator: domainSeparator(channelsDomain(chainId)),
    state: (channelId) => stateOf(node, channelId),
    totals: (receiver, token) => totalsOf(node, receiver, token),
    isAuthorizationUsed: (token, payer, nonce) =>
      Effect.map(answered(node.call(token, authorizationState(payer, nonce))), (text) => readQuantity(text) !== 0n),
    isPermitUsed: (payer, nonce) =>
      Effect.map(answered(node.call(permit2Address, nonceBitmap(payer, nonce))), (word) =>
        isUsedIn(nonce)(numberInWord(word))
      ),
    approvedForPermit2: (token, payer) =>
      Effect.map(answered(node.call(token, allowance(payer, permit2Address))), (word) => readQuantity(word) ?? 0n),
    simulate: (data) => Effect.asVoid(node.call(channelsAddress, data)),
    prepare: (call, lease) => prepareCall(signing, { to: channelsAddress, ...call }, lease),
    send: (prepared) => Effect.map(sendForReceipt(node, sending, prepared), outcomeIn),
    outcomeOf: (transaction) => awaitOutcome(node, transaction, receiptDeadlineMs),
    head: Effect.map(node.block("latest"), ({ number, timestamp }) => ({
      block: Number(number),
      timestamp: Number(timestamp)
    })),
    changed: (fromBlock, toBlock) => changedIn(node, logBlocksMax, fromBlock, toBlock)
  }
})

const outcomeIn = (receipt: TransactionReceipt): CallOutcome =>
  readQuantity(receipt.status) === 1n
    ? { _tag: "Made", receipt }
    : { _tag: "Refused", transaction: receipt.transactionHash }

const pollMs = 250

const awaitOutcome = Effect.fnUntraced(function* (
  node: EvmNode,
  transaction: string,
  withinMs: number
): Effect.fn.Return<Option.Option<CallOutcome>, SettlementPending | ChainUnavailable> {
  const untilMs = (yield* Clock.currentTimeMillis) + withinMs
  while ((yield* Clock.currentTimeMillis) < untilMs) {
    const isWaiting = yield* node.isWaiting(transaction)
    // Asked afterwards: it may have entered a block between the two questions.
    const receipt = yield* node.receipt(transaction)
    if (receipt !== null) return Option.some(outcomeIn(receipt))
    if (!isWaiting) return Option.none()
    yield* Effect.sleep(pollMs)
  }
  return yield* new SettlementPending({ transaction, detail: "no receipt in time" })
})

const answered = (call: Effect.Effect<string, Reverted | ChainUnavailable>) =>
  Effect.catchTag(call, "Reverted", ({ text }) => otherAnswer(`it refuses to answer: ${text}`))

const otherAnswer = (detail: string) => new ChainUnavailable({ operation: "read a channel", detail })

/** In one question, so that all of it is from one block; one by one on a chain without a contract for that. */
const stateOf = Effect.fnUntraced(function* (
  node: EvmNode,
  channelId: string
): Effect.fn.Return<SeenChannel, ChainUnavailable> {
  const { number } = yield* node.block("latest")
  const questions = channelQuestions(channelId)
  const together = yield* Effect.option(node.call(manyCallsAddress, tryAggregate(channelsAddress, questions)))
  const answers = together._tag === "Some" ? answersOf(together.value, questions.length) : undefined
  const known = answers?.every((each) => each !== undefined)
    ? channelStateIn(answers.filter((each) => each !== undefined))
    : undefined
  const found = known ?? channelStateIn(yield* oneByOne(node, questions))
  if (found === undefined) return yield* otherAnswer("the contract's answer has another shape")
  return { ...found, block: Number(number) }
})

const oneByOne = (node: EvmNode, questions: ReadonlyArray<Uint8Array>) =>
  Effect.forEach(questions, (question) =>
    Effect.map(answered(node.call(channelsAddress, question)), (text) => Buffer.from(text.slice(2), "hex"))
  )

const totalsOf = Effect.fnUntraced(function* (
  node: EvmNode,
  receiver: string,
  token: string
): Effect.fn.Return<ReceiverTotals, ChainUnavailable> {
  const text = yield* answered(node.call(channelsAddress, receiverQuestion(receiver, token)))
  const bytes = Buffer.from(text.slice(2), "hex")
  if (bytes.length !== 64) return yield* otherAnswer("the contract's answer has another shape")
  return { totalClaimed: wordAt(bytes, 0), totalSettled: wordAt(bytes, 1) }
})

/** Pages shrink when a node finds too many logs in one. */
const changedIn = Effect.fnUntraced(function* (
  node: EvmNode,
  blocksMax: bigint,
  fromBlock: number,
  toBlock: number
): Effect.fn.Return<ReadonlyArray<string>, ChainUnavailable> {
  const found = new Set<string>()
  let blocks = blocksMax
  for (let from = BigInt(fromBlock); from <= BigInt(toBlock);) {
    const last = from + blocks - 1n < BigInt(toBlock) ? from + blocks - 1n : BigInt(toBlock)
    const filter = { address: channelsAddress, fromBlock: from, toBlock: last, topics: [Object.values(channelTopics)] }
    const page = yield* Effect.result(node.logs(filter))
    if (page._tag === "Success") {
      for (const { topics } of page.success) if (topics[1] !== undefined) found.add(topics[1].toLowerCase())
      from = last + 1n
    } else if (page.failure._tag === "ChainUnavailable" || blocks === 1n) return yield* unavailable(page.failure)
    else blocks = blocks / 4n > 1n ? blocks / 4n : 1n
  }
  return [...found]
})

const unavailable = (error: TooManyLogs | ChainUnavailable) =>
  error._tag === "ChainUnavailable" ? error : new ChainUnavailable({ operation: "read logs", detail: error.detail })

/** The amount that a sweep's receipt shows as moved to the receiver; zero if there was nothing to move. */
export const sweptIn = (logs: ReadonlyArray<Log>): bigint => {
  const log = logs.find(({ address, topics }) => isSameAddress(address, channelsAddress) && topics[0] === settledTopic)
  return log === undefined ? 0n : (readQuantity(log.data) ?? 0n)
}

/** In whole seconds, like the chain's clock. */
export const nowSeconds = Effect.map(Clock.currentTimeMillis, (nowMs) => Math.floor(nowMs / 1_000))
