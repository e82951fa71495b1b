/**
 * The contract that holds payment channels (x402's scheme `batch-settlement`): its addresses, the texts signed for it
 * (EIP-712), its functions as call data, and its events. The addresses are the same on every public chain. Pure.
 */
import { setNewest } from "#base"
import {
  type Argument,
  callOf,
  encoderOf,
  type Hex,
  hashOfWords,
  hexOf,
  keccak256OfText,
  numberInWord,
  topicOf
} from "../encoding.ts"
import { permitDigest, permitTypeOf } from "../permit2.ts"
import { signatureParts, typedDigest, typedMessage } from "../signature.ts"

export const channelsAddress = "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003"
/** Collects deposits authorized by EIP-3009. */
export const depositCollectorAddress = "0x4020806089470a89826cB9fB1f4059150b550004"
/** Collects deposits by Permit2. */
export const permit2CollectorAddress = "0x4020425FAf3B746C082C2f942b4E5159887B0005"

/** The parties of a channel. They never change: its id is their hash. Addresses in any case. */
export interface ChannelConfig {
  readonly payer: string
  /** The key that signs vouchers; zero if the payer's account signs them itself. */
  readonly payerAuthorizer: string
  readonly receiver: string
  /** Signs claims and refunds for the receiver. */
  readonly receiverAuthorizer: string
  readonly token: string
  readonly withdrawDelay: number
  readonly salt: string
}

/** A channel's voucher with the total that is claimed from it. */
export interface VoucherClaim {
  readonly config: ChannelConfig
  readonly maxClaimable: bigint
  readonly signature: string
  readonly totalClaimed: bigint
}

const configText =
  "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
const entryText = "ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
const configType = keccak256OfText(configText)
const voucherType = keccak256OfText("Voucher(bytes32 channelId,uint128 maxClaimableAmount)")
const refundType = keccak256OfText("Refund(bytes32 channelId,uint256 nonce,uint128 amount)")
const entryType = keccak256OfText(entryText)
const batchType = keccak256OfText(`ClaimBatch(ClaimEntry[] claims)${entryText}`)

/** The domain of everything that is signed for the contract. */
export const channelsDomain = (chainId: bigint) => ({
  name: "x402 Batch Settlement",
  version: "1",
  chainId,
  asset: channelsAddress
})

// A config takes half a kilobyte; those beyond are hashed again.
const idsKeptMax = 4_096
const keptIds = new WeakMap<Uint8Array, Map<string, Hex>>()

/** `separator`: the hash of `channelsDomain`, here and below. Every call on a channel includes its config. */
export const channelIdOf = (separator: Uint8Array, config: ChannelConfig): Hex => {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config
  const key = `${payer} ${payerAuthorizer} ${receiver} ${receiverAuthorizer} ${token} ${withdrawDelay} ${salt}`
  const kept = keptIds.get(separator) ?? new Map<string, Hex>()
  keptIds.set(separator, kept)
  const known = kept.get(key)
  if (known !== undefined) return known
  const id = hexOf(typedDigest(separator, hashOfWords(configType, ...partsOf(config))))
  setNewest(kept, key, id, idsKeptMax)
  return id
}

/** A channel's id, for callers that have the contract. */
export const channelIdIn = ({ separator }: { readonly separator: Uint8Array }, config: ChannelConfig): Hex =>
  channelIdOf(separator, config)

export const voucherDigest = (separator: Uint8Array, channelId: string, maxClaimable: bigint): Uint8Array =>
  typedDigest(separator, hashOfWords(voucherType, channelId, maxClaimable))

/** The bytes whose hash the receiver's authorizer signs, here and in `claimBatchMessage`. */
export const refundMessage = (separator: Uint8Array, channelId: string, nonce: bigint, amount: bigint): Uint8Array =>
  typedMessage(separator, hashOfWords(refundType, channelId, nonce, amount))

export const claimBatchMessage = (separator: Uint8Array, claims: ReadonlyArray<VoucherClaim>): Uint8Array => {
  const entries = claims.map(({ config, maxClaimable, totalClaimed }) =>
    hashOfWords(entryType, channelIdOf(separator, config), maxClaimable, totalClaimed)
  )
  return typedMessage(separator, hashOfWords(batchType, hashOfWords(...entries)))
}

const partsOf = ({ payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt }: ChannelConfig) =>
  [payer, payerAuthorizer, receiver, receiverAuthorizer, token, BigInt(withdrawDelay), salt] as const

const configShape = "(address,address,address,address,address,uint40,bytes32)"
const deposit = callOf(`deposit(${configShape},uint128,address,bytes)`)
const claim = callOf(`claimWithSignature(((${configShape},uint128),bytes,uint128)[],bytes)`)
const refund = callOf(`refundWithSignature(${configShape},uint128,uint256,bytes)`)
const multicall = callOf("multicall(bytes[])")
const questions = ["channels(bytes32)", "pendingWithdrawals(bytes32)", "refundNonce(bytes32)"].map(callOf)

/** Moves everything claimed for a receiver to it; takes the receiver and the token. */
export const settleCall = callOf("settle(address,address)")

/** Takes a receiver and a token. */
export const receiverQuestion = callOf("receivers(address,address)")

/** An authorization by which the payer's token pays a deposit. */
export interface Erc3009Deposit {
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly salt: string
  readonly signature: string
}

/** The authorization's nonce: it pays only into this channel. */
export const depositNonce = (channelId: string, salt: string): Hex => hexOf(hashOfWords(channelId, salt))

/** A deposit by Permit2. */
export interface Permit2Deposit {
  readonly nonce: bigint
  /** Unix seconds: the latest block time at which it is valid. */
  readonly deadline: bigint
  readonly signature: string
  /** An approval of Permit2 over the deposit's amount, signed for the token (EIP-2612): r, s, v. */
  readonly approval: { readonly deadline: bigint; readonly signature: Uint8Array } | null
}

const depositWitnessText = "DepositWitness(bytes32 channelId)"
const depositWitnessType = keccak256OfText(depositWitnessText)
const depositTransferType = permitTypeOf(
  `DepositWitness witness)${depositWitnessText}TokenPermissions(address token,uint256 amount)`
)

interface DepositTransfer extends Pick<Permit2Deposit, "nonce" | "deadline"> {
  readonly channelId: string
  readonly token: string
  readonly amount: bigint
}

/** What a payer signs for a deposit by Permit2. `domain`: the hash of Permit2's domain on the chain. */
export const permit2DepositDigest = (domain: Uint8Array, { channelId, ...transfer }: DepositTransfer): Uint8Array => {
  const witness = hashOfWords(depositWitnessType, channelId)
  return permitDigest(domain, depositTransferType, { ...transfer, spender: permit2CollectorAddress }, witness)
}

export const depositCall = (config: ChannelConfig, amount: bigint, by: Erc3009Deposit | Permit2Deposit): Buffer =>
  "salt" in by
    ? deposit(partsOf(config), amount, depositCollectorAddress, hexOf(erc3009Data(by)))
    : deposit(partsOf(config), amount, permit2CollectorAddress, hexOf(permit2Data(by, amount)))

const erc3009Words = encoderOf("uint256, uint256, bytes32, bytes")
const erc3009Data = ({ validAfter, validBefore, salt, signature }: Erc3009Deposit) =>
  erc3009Words(validAfter, validBefore, salt, signature)

const permit2Words = encoderOf("uint256, uint256, bytes, bytes")
const permit2Data = ({ nonce, deadline, signature, approval }: Permit2Deposit, amount: bigint) =>
  permit2Words(nonce, deadline, signature, approval === null ? "0x" : hexOf(approvalData(approval, amount)))

const approvalWords = encoderOf("uint256, uint256, uint8, bytes32, bytes32")
const approvalData = ({ deadline, signature }: NonNullable<Permit2Deposit["approval"]>, amount: bigint) => {
  const { r, s, v } = signatureParts(signature)
  return approvalWords(amount, deadline, v, r, s)
}

export const claimCall = (claims: ReadonlyArray<VoucherClaim>, signature: Uint8Array): Buffer => {
  const rows = claims.map((row): Argument => [[partsOf(row.config), row.maxClaimable], row.signature, row.totalClaimed])
  return claim(rows, hexOf(signature))
}

export const refundCall = (config: ChannelConfig, amount: bigint, nonce: bigint, signature: Uint8Array): Buffer =>
  refund(partsOf(config), amount, nonce, hexOf(signature))

/** All of the calls in one transaction, or none. */
export const multicallOf = (calls: ReadonlyArray<Uint8Array>): Buffer => multicall(calls.map(hexOf))

/** The questions whose answers are a channel's state, in the order in which `channelStateIn` reads them. */
export const channelQuestions = (channelId: string): ReadonlyArray<Buffer> =>
  questions.map((question) => question(channelId))

/** A channel as the chain has it. */
export interface ChannelOnChain {
  /** All deposits, less what was withdrawn or refunded. */
  readonly balance: bigint
  readonly totalClaimed: bigint
  /** The amount of a withdrawal that has begun; 0 without one. */
  readonly withdrawAmount: bigint
  /** Unix seconds; 0 without one. */
  readonly withdrawRequestedAt: number
  readonly refundNonce: bigint
}

/** Undefined if any answer is missing. */
export const channelStateIn = (answers: ReadonlyArray<Uint8Array>): ChannelOnChain | undefined => {
  const [channel, withdrawal, nonce] = answers
  if (channel?.length !== 64 || withdrawal?.length !== 64 || nonce?.length !== 32) return undefined
  return {
    balance: wordAt(channel, 0),
    totalClaimed: wordAt(channel, 1),
    withdrawAmount: wordAt(withdrawal, 0),
    withdrawRequestedAt: Number(wordAt(withdrawal, 1)),
    refundNonce: wordAt(nonce, 0)
  }
}

const wordBytes = 32

/** The number in one word of an answer or of an event's data. */
export const wordAt = (bytes: Uint8Array, index: number): bigint =>
  numberInWord(hexOf(bytes.subarray(index * wordBytes, (index + 1) * wordBytes)))

/** The events by which a channel changes; the channel's id is the topic after them. */
export const channelTopics = {
  deposited: topicOf("Deposited(bytes32,address,uint128,uint128)"),
  claimed: topicOf("Claimed(bytes32,address,uint128,uint128)"),
  refunded: topicOf("Refunded(bytes32,address,uint128)"),
  withdrawInitiated: topicOf("WithdrawInitiated(bytes32,uint128,uint40)"),
  withdrawFinalized: topicOf("WithdrawFinalized(bytes32,address,uint128)")
} as const

/** A sweep of claimed money; receiver and token are the topics after it. */
export const settledTopic = topicOf("Settled(address,address,address,uint128)")
