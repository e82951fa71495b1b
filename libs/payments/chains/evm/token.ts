/**
 * The token's functions and events that settling needs, as call data, selectors and topics; and several reads of it in
 * one question, by the contract that every public chain has at the same address (Multicall3, tryAggregate).
 */
import { Effect } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { CheckedPayment, Funds } from "../../scheme.ts"
import type { EvmNode, Log, Reverted } from "./EvmNode.ts"
import {
  addressInWord,
  addressTopic,
  addressWord,
  bytesOf,
  type Hex,
  hexOf,
  isHash,
  isSameAddress,
  keccak256OfText,
  numberWord,
  readQuantity
} from "./encoding.ts"
import type { EvmPayment } from "./payment.ts"
import { isUsedIn, nonceBitmap, permit2Address, permitNonceOf } from "./permit2.ts"
import type { Authorization, CurveSignature } from "./signature.ts"

const selectorOf = (signature: string) => Buffer.from(keccak256OfText(signature).subarray(0, 4))
const topicOf = (signature: string) => hexOf(keccak256OfText(signature))

const transfer = selectorOf(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)
const state = selectorOf("authorizationState(address,bytes32)")
const balance = selectorOf("balanceOf(address)")
const allowed = selectorOf("allowance(address,address)")

export const transferTopic = topicOf("Transfer(address,address,uint256)")
const authorizationUsedTopic = topicOf("AuthorizationUsed(address,bytes32)")
const authorizationCanceledTopic = topicOf("AuthorizationCanceled(address,bytes32)")

/** The form with v, r, s: every token with these authorizations has it. Tokens want v as 27 or 28. */
export const transferWithAuthorization = (authorization: Authorization, { bytes, parity }: CurveSignature): Buffer =>
  Buffer.concat([
    transfer,
    addressWord(authorization.from),
    addressWord(authorization.to),
    numberWord(authorization.value),
    numberWord(authorization.validAfter),
    numberWord(authorization.validBefore),
    bytesOf(authorization.nonce),
    numberWord(27n + BigInt(parity)),
    bytes
  ])

export const authorizationState = (from: string, nonce: string): Buffer =>
  Buffer.concat([state, addressWord(from), bytesOf(nonce)])

export const balanceOf = (owner: string): Buffer => Buffer.concat([balance, addressWord(owner)])

/** Call data of the token's questions about itself. */
export const tokenQuestions = {
  separator: hexOf(selectorOf("DOMAIN_SEPARATOR()")),
  domain: hexOf(selectorOf("eip712Domain()")),
  name: hexOf(selectorOf("name()")),
  version: hexOf(selectorOf("version()")),
  decimals: hexOf(selectorOf("decimals()"))
} as const satisfies Readonly<Record<string, Hex>>

/**
 * Several reads in one question, by the contract that every public chain has at the same address (Multicall3,
 * tryAggregate). Only what its answer needs is read. Pure.
 */
export const manyCallsAddress = "0xcA11bde05977b3631167028862bE2a173976CA11"

const selector = Buffer.from(keccak256OfText("tryAggregate(bool,(address,bytes)[])").subarray(0, 4))

/** Each call may fail without failing the others. */
export const tryAggregate = (target: string, calls: ReadonlyArray<Uint8Array>): Buffer =>
  tryAggregateAll(calls.map((data) => ({ target, data })))

interface OneCall {
  readonly target: string
  readonly data: Uint8Array
}

/** The same for calls of several contracts. */
export const tryAggregateAll = (calls: ReadonlyArray<OneCall>): Buffer => {
  const parts = calls.map(({ target, data }) => callOf(target, data))
  let at = BigInt(calls.length) * 32n
  const offsets = parts.map((part) => {
    const offset = numberWord(at)
    at += BigInt(part.length)
    return offset
  })
  const head = [numberWord(0n), numberWord(64n), numberWord(BigInt(calls.length))]
  return Buffer.concat([selector, ...head, ...offsets, ...parts])
}

const callOf = (target: string, data: Uint8Array): Buffer => {
  const padding = Buffer.alloc((32 - (data.length % 32)) % 32)
  return Buffer.concat([addressWord(target), numberWord(64n), numberWord(BigInt(data.length)), data, padding])
}

/** Each answer, undefined where a call failed; undefined as a whole when it is no such answer. */
export const answersOf = (answer: string, count: number): ReadonlyArray<Buffer | undefined> | undefined => {
  const bytes = bytesOf(answer)
  const list = offsetAt(bytes, 0)
  if (list === undefined || offsetAt(bytes, list) !== count) return undefined
  const start = list + 32
  return Array.from({ length: count }, (_, index) => {
    const offset = offsetAt(bytes, start + index * 32)
    return offset === undefined ? undefined : answerAt(bytes, start + offset)
  })
}

/** The first word of each answer, undefined where a call failed; undefined as a whole when it is no such answer. */
export const wordsOf = (answer: string, count: number): ReadonlyArray<bigint | undefined> | undefined =>
  answersOf(answer, count)?.map((data) => (data === undefined ? undefined : wordAt(data, 0)))

const answerAt = (bytes: Buffer, at: number): Buffer | undefined => {
  const isSuccess = offsetAt(bytes, at) === 1
  const data = offsetAt(bytes, at + 32)
  const length = data === undefined ? undefined : offsetAt(bytes, at + data)
  if (!isSuccess || data === undefined || length === undefined) return undefined
  const from = at + data + 32
  return from + length <= bytes.length ? bytes.subarray(from, from + length) : undefined
}

const wordAt = (bytes: Buffer, at: number) =>
  at + 32 <= bytes.length ? readQuantity(`0x${bytes.toString("hex", at, at + 32)}`) : undefined

const offsetAt = (bytes: Buffer, at: number) => {
  const word = wordAt(bytes, at)
  return word === undefined || word > BigInt(bytes.length) ? undefined : Number(word)
}

export const allowance = (owner: string, spender: string): Buffer =>
  Buffer.concat([allowed, addressWord(owner), addressWord(spender)])

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

/** Whether the token's logs show the use of this very authorization. */
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

/** Undefined for a log that is no transfer of fungible tokens. */
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

/** The event with which an authorization was used up. */
export const authorizationTopics = (payer: string, nonce: string) => [
  [authorizationUsedTopic, authorizationCanceledTopic],
  addressTopic(payer),
  nonce.toLowerCase()
]

export const isCancellation = ({ topics }: Log): boolean => topics[0] === authorizationCanceledTopic

const operation = "read a balance"

/**
 * A payer's balance, and which of its authorizations it has already paid: one question, answered as of one block, so
 * that a transfer is never counted as both made and still to be made. Where the chain has no contract for several
 * reads, only the balance is given.
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

/** How the use of a claim's nonce is asked for: at the token, or at Permit2. */
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
