/**
 * Permit2, the contract by which payers sign transfers of any token: its address, the typed data of a transfer with a
 * witness, and its nonces, which have no order: each is one bit of its owner's map. Pure.
 */
import { callOf, hashOfWords, keccak256OfText, topicOf } from "./encoding.ts"
import { typedDigest } from "./signature.ts"

/** The same on every public chain. */
export const permit2Address = "0x000000000022d473030f116ddee9f6b43ac78ba3"

/** A transfer as its owner signed it; addresses in any case. */
export interface PermitTransfer {
  readonly token: string
  /** The maximum that can be transferred. */
  readonly amount: bigint
  /** The account that may transfer it. */
  readonly spender: string
  readonly nonce: bigint
  /** Unix seconds: the latest block time at which it is valid. */
  readonly deadline: bigint
}

const domainType = keccak256OfText("EIP712Domain(string name,uint256 chainId,address verifyingContract)")
const nameHash = keccak256OfText("Permit2")
const permissionsType = keccak256OfText("TokenPermissions(address token,uint256 amount)")
const transferText =
  "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,"

export const permitDomain = (chainId: bigint): Uint8Array => hashOfWords(domainType, nameHash, chainId, permit2Address)

/** The hash of a transfer's type with its witness, the same for all payments of a scheme. */
export const permitTypeOf = (typeText: string): Uint8Array => keccak256OfText(`${transferText}${typeText}`)

/** The 32 bytes under the payer's signature. */
export const permitDigest = (
  domain: Uint8Array,
  type: Uint8Array,
  { token, amount, spender, nonce, deadline }: PermitTransfer,
  witnessHash: Uint8Array
): Uint8Array => {
  const permitted = hashOfWords(permissionsType, token, amount)
  return typedDigest(domain, hashOfWords(type, permitted, spender, nonce, deadline, witnessHash))
}

const bitmap = callOf("nonceBitmap(address,uint256)")

/** Call data: the word of its owner's map that holds a nonce. */
export const nonceBitmap = (owner: string, nonce: bigint): Buffer => bitmap(owner, nonce >> 8n)

/** Whether a nonce is used, according to that word. */
export const isUsedIn =
  (nonce: bigint) =>
  (word: bigint): boolean =>
    ((word >> (nonce & 0xffn)) & 1n) === 1n

export const invalidationTopic = topicOf("UnorderedNonceInvalidation(address,uint256,uint256)")

const nonceName = /^permit2-([0-9a-f]{64})$/u

/** A nonce's name in the key of a claim: distinct from the token's own authorizations, however the payer wrote it. */
export const permitNonceName = (nonce: bigint): string => `permit2-${nonce.toString(16).padStart(64, "0")}`

/** Undefined for the name of another kind of nonce. */
export const permitNonceOf = (name: string): bigint | undefined => {
  const digits = nonceName.exec(name)?.[1]
  return digits === undefined ? undefined : BigInt(`0x${digits}`)
}
