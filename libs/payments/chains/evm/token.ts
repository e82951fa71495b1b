/**
 * The token's functions and events that settling needs, as call data, selectors and topics; and several reads of it in
 * one question, through the contract that every public chain has at the same address (Multicall3, tryAggregate).
 */
import { Effect } from "effect"
import { decodeAbiParameters, parseAbiParameters } from "viem/utils"
import { ChainUnavailable } from "../../errors.ts"
import type { CheckedPayment, Funds } from "../../scheme.ts"
import type { EvmNode, Log, Reverted } from "./EvmNode.ts"
import {
  addressInWord,
  addressTopic,
  bytesOf,
  callOf,
  type Hex,
  hexOf,
  isHash,
  isSameAddress,
  readIn,
  readQuantity,
  selectorOf,
  topicOf
} from "./encoding.ts"
import type { EvmPayment } from "./payment.ts"
import { isUsedIn, nonceBitmap, permit2Address, permitNonceOf } from "./permit2.ts"
import type { Authorization, CurveSignature } from "./signature.ts"

export const transferTopic = topicOf("Transfer(address,address,uint256)")
const authorizationUsedTopic = topicOf("AuthorizationUsed(address,bytes32)")
const authorizationCanceledTopic = topicOf("AuthorizationCanceled(address,bytes32)")

const transfer = callOf(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)

/** The form with v, r, s: every token with these authorizations has it. Tokens require v as 27 or 28. */
export const transferWithAuthorization = (
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  { bytes, parity }: CurveSignature
): Buffer => {
  const [r, s] = [hexOf(bytes.subarray(0, 32)), hexOf(bytes.subarray(32))]
  return transfer(from, to, value, validAfter, validBefore, nonce, 27 + parity, r, s)
}

/** Takes a payer and its authorization's nonce. */
export const authorizationState = callOf("authorizationState(address,bytes32)")

/** Takes an owner. */
export const balanceOf = callOf("balanceOf(address)")

/** Takes an owner and a spender. */
export const allowance = callOf("allowance(address,address)")

/** Call data of the token's questions about itself. */
export const tokenQuestions = {
  separator: selectorOf("DOMAIN_SEPARATOR()"),
  domain: selectorOf("eip712Domain()"),
  name: selectorOf("name()"),
  version: selectorOf("version()"),
  decimals: selectorOf("decimals()")
} as const satisfies Readonly<Record<string, Hex>>

/**
 * Several reads in one question, through the contract that every public chain has at the same address (Multicall3,
 * tryAggregate). Only the needed part of its answer is read. Pure.
 */
export const manyCallsAddress = "0xcA11bde05977b3631167028862bE2a173976CA11"

const aggregate = callOf("tryAggregate(bool,(address,bytes)[])")

/** Each call can fail without failing the others. */
export const tryAggregate = (target: string, calls: ReadonlyArray<Uint8Array>): Buffer =>
  tryAggregateAll(calls.map((data) => ({ target, data })))

interface OneCall {
  readonly target: string
  readonly data: Uint8Array
}

/** The same for calls of several contracts. */
export const tryAggregateAll = (calls: ReadonlyArray<OneCall>): Buffer =>
  aggregate(
    false,
    calls.map(({ target, data }) => [target, hexOf(data)])
  )

const outcomes = parseAbiParameters("(bool isSuccess, bytes data)[]")

/** Each answer, undefined where a call failed; undefined altogether if it is not such an answer. */
export const answersOf = (answer: string, count: number): ReadonlyArray<Buffer | undefined> | undefined => {
  const found = readIn(() => decodeAbiParameters(outcomes, answer as Hex)[0])
  if (found?.length !== count) return undefined
  return found.map(({ isSuccess, data }) => (isSuccess ? bytesOf(data) : undefined))
}

/** The first word of each answer, undefined where a call failed; undefined altogether if it is not such an answer. */
export const wordsOf = (answer: string, count: number): ReadonlyArray<bigint | undefined> | undefined =>
  answersOf(answer, count)?.map((data) =>
    data === undefined || data.length < 32 ? undefined : readQuantity(hexOf(data.subarray(0, 32)))
  )

/** Whether the token's logs show the required transfer. */
export const hasTransfer = (
  logs: ReadonlyArray<Log>,
  payment: Pick<CheckedPayment, "asset" | "payer" | "payTo" | "charge">
): boolean =>
  logs.some(
    ({ address, topics, data }) =>
      isSameAddress(address, payment.asset) &&
      topics[0] === transferTopic &&
      topics[1] === addressTopic(payment.payer) &&
      topics[2] === addressTopic(payment.payTo) &&
      readQuantity(data) === payment.charge
  )

/** Whether the token's logs show the use of this exact authorization. */
export const hasUse = (logs: ReadonlyArray<Log>, { asset, payer, authorization }: EvmPayment): boolean =>
  logs.some(
    ({ address, topics }) =>
      isSameAddress(address, asset) &&
      topics[0] === authorizationUsedTopic &&
      topics[1] === addressTopic(payer) &&
      topics[2]?.toLowerCase() === authorization.nonce.toLowerCase()
  )

/** Transfers and authorizations in the logs of a receipt. Pure. */
export interface TransferFacts {
  readonly payer: string
  readonly amount: bigint
  readonly transaction: string
  readonly block: bigint
  readonly logIndex: bigint
}

/** Undefined for a log that is not a transfer of fungible tokens. */
export const transferIn = ({
  topics,
  data,
  transactionHash,
  blockNumber,
  logIndex
}: Log): TransferFacts | undefined => {
  const amount = readQuantity(data)
  const from = topics[1]
  if (topics[0] !== transferTopic || topics.length !== 3 || amount === undefined || from === undefined) return undefined
  return {
    payer: addressInWord(from),
    amount,
    transaction: transactionHash,
    block: BigInt(blockNumber),
    logIndex: BigInt(logIndex)
  }
}

/** The event that records an authorization's use. */
export const authorizationTopics = (payer: string, nonce: string) => [
  [authorizationUsedTopic, authorizationCanceledTopic],
  addressTopic(payer),
  nonce.toLowerCase()
]

export const isCancellation = ({ topics }: Log): boolean => topics[0] === authorizationCanceledTopic

const operation = "read a balance"

/**
 * A payer's balance, and which of its authorizations it has already paid: one question, answered as of one block, so
 * that a transfer is never counted as both made and still due. On a chain without a contract for several reads, only
 * the balance is returned.
 */
export const funds = Effect.fnUntraced(function* (
  node: EvmNode,
  { asset, payer }: Pick<EvmPayment, "asset" | "payer">,
  claimKeys: ReadonlyArray<string>
): Effect.fn.Return<Funds, ChainUnavailable> {
  const authorizations = claimKeys.flatMap((claimKey) => {
    const asked = useOf({ asset, payer }, claimKey.slice(claimKey.lastIndexOf(".") + 1))
    return asked === undefined ? [] : [{ claimKey, ...asked }]
  })
  const owned = balanceOf(payer)
  if (authorizations.length > 0) {
    const calls = [{ target: asset, data: owned }, ...authorizations]
    const answer = yield* unlessReverted(node.call(manyCallsAddress, tryAggregateAll(calls)))
    const [balance, ...states] = (answer === undefined ? undefined : wordsOf(answer, calls.length)) ?? []
    if (balance !== undefined) {
      const used = authorizations.filter(({ isUsed }, index) => isUsed(states[index] ?? 0n))
      return { balance, spent: new Set(used.map(({ claimKey }) => claimKey)) }
    }
  }
  const answer = yield* unlessReverted(node.call(asset, owned))
  const balance = answer === undefined ? undefined : readQuantity(answer)
  if (balance === undefined) return yield* new ChainUnavailable({ operation, detail: "the token does not tell" })
  return { balance, spent: claimKeys.length === 0 ? new Set() : null }
})

/** How to ask whether a claim's nonce is used: at the token, or at Permit2. */
const useOf = ({ asset, payer }: Pick<EvmPayment, "asset" | "payer">, nonce: string) => {
  if (isHash(nonce)) {
    return { target: asset, data: authorizationState(payer, nonce), isUsed: (word: bigint) => word !== 0n }
  }
  const ofPermit = permitNonceOf(nonce)
  if (ofPermit === undefined) return undefined
  return { target: permit2Address, data: nonceBitmap(payer, ofPermit), isUsed: isUsedIn(ofPermit) }
}

const unlessReverted = (call: Effect.Effect<string, Reverted | ChainUnavailable>) =>
  Effect.catchTag(call, "Reverted", () => Effect.undefined)
