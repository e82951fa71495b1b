/**
 * The proxy contract of `upto`, at the same address on every chain: of a signed maximum it transfers any amount to the
 * signed recipient, and only for the signed facilitator. Its calls, its refusals,
 * what a call was for; and what a payer signs for it. Pure.
 */
import {
  addressInWord,
  addressWord,
  type Hex,
  hexOf,
  isSameAddress,
  keccak256,
  keccak256OfText,
  numberInWord,
  numberWord
} from "../encoding.ts"
import { callWords, permit2Address, permitDigest, permitDomain, type PermitTransfer, permitTypeOf } from "../permit2.ts"
import { domainSeparator, signatureBytes, signDigest, type TokenDomain } from "../signature.ts"
import type { EvmReason } from "../simulate.ts"

export const uptoProxyAddress = "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002"

/** A payment as its payer signed it. */
export interface UptoPermit extends PermitTransfer {
  readonly from: string
  readonly to: string
  readonly facilitator: string
  /** Unix seconds: the first one of a block that can hold it. */
  readonly validAfter: bigint
}

/** An approval of Permit2 that the payer has signed for the token (EIP-2612). */
export interface SignedApproval {
  readonly value: bigint
  readonly deadline: bigint
  /** r, s, v: 65 bytes. */
  readonly signature: Uint8Array
}

const witnessText = "Witness(address to,address facilitator,uint256 validAfter)"
const witnessType = keccak256OfText(witnessText)

/** The hash of the typed data's type. */
export const uptoTransferType = permitTypeOf(
  `Witness witness)TokenPermissions(address token,uint256 amount)${witnessText}`
)

export const witnessHash = ({ to, facilitator, validAfter }: UptoPermit): Uint8Array =>
  keccak256(Buffer.concat([witnessType, addressWord(to), addressWord(facilitator), numberWord(validAfter)]))

const selectorOf = (signature: string) => Buffer.from(keccak256OfText(signature).subarray(0, 4))
const permitTuple = "((address,uint256),uint256,uint256)"
const rest = "uint256,address,(address,address,uint256),bytes"
const settle = selectorOf(`settle(${permitTuple},${rest})`)
const approvalTuple = "(uint256,uint256,bytes32,bytes32,uint8)"
const settleWithPermit = selectorOf(`settleWithPermit(${approvalTuple},${permitTuple},${rest})`)

const approvalWords = 5
// The permit, the amount, the owner and the witness; then the place of the signature.
const headWords = 10

/** Call data of the transfer of `charge`. */
export const settleCall = (
  permit: UptoPermit,
  charge: bigint,
  signature: Uint8Array,
  approval: SignedApproval | null
): Buffer => {
  const before = approval === null ? [] : approvalParts(approval)
  const place = BigInt(headWords + (approval === null ? 0 : approvalWords)) * 32n
  const padding = Buffer.alloc((32 - (signature.length % 32)) % 32)
  return Buffer.concat([
    approval === null ? settle : settleWithPermit,
    ...before,
    addressWord(permit.token),
    numberWord(permit.amount),
    numberWord(permit.nonce),
    numberWord(permit.deadline),
    numberWord(charge),
    addressWord(permit.from),
    addressWord(permit.to),
    addressWord(permit.facilitator),
    numberWord(permit.validAfter),
    numberWord(place),
    numberWord(BigInt(signature.length)),
    signature,
    padding
  ])
}

const approvalParts = ({ value, deadline, signature }: SignedApproval) => {
  const last = signature[64] ?? 0
  const v = numberWord(BigInt(last < 27 ? last + 27 : last))
  return [numberWord(value), numberWord(deadline), signature.subarray(0, 32), signature.subarray(32, 64), v]
}

/** Whether a transaction called the proxy for this very permit. */
export const isCallFor = ({ from, nonce }: UptoPermit, to: string | null, input: string): boolean => {
  if (to === null || !isSameAddress(to, uptoProxyAddress)) return false
  const selector = input.slice(0, 10).toLowerCase()
  const isPlain = selector === hexOf(settle)
  if (!isPlain && selector !== hexOf(settleWithPermit)) return false
  const words = callWords(input).slice(isPlain ? 0 : approvalWords)
  const [nonceWord, ownerWord] = [words[2], words[5]]
  return (
    nonceWord !== undefined &&
    ownerWord !== undefined &&
    numberInWord(nonceWord) === nonce &&
    isSameAddress(addressInWord(ownerWord), from)
  )
}

const errorOf = (signature: string): Hex => hexOf(selectorOf(signature))

/** What the declared errors of the proxy and of Permit2 mean for the payer. */
export const refusals: Readonly<Record<string, EvmReason>> = {
  [errorOf("PaymentTooEarly()")]: "permit2_not_yet_valid",
  [errorOf("UnauthorizedFacilitator()")]: "upto_facilitator_mismatch",
  [errorOf("AmountExceedsPermitted()")]: "invalid_upto_evm_payload_settlement_exceeds_amount",
  [errorOf("Permit2612AmountMismatch()")]: "permit2_2612_amount_mismatch",
  [errorOf("InvalidAmount(uint256)")]: "invalid_upto_evm_payload_settlement_exceeds_amount",
  [errorOf("SignatureExpired(uint256)")]: "permit2_deadline_expired",
  [errorOf("InvalidNonce()")]: "permit2_invalid_nonce",
  [errorOf("InvalidSigner()")]: "invalid_permit2_signature",
  [errorOf("InvalidSignature()")]: "invalid_permit2_signature",
  [errorOf("InvalidSignatureLength()")]: "invalid_permit2_signature",
  [errorOf("InvalidContractSignature()")]: "invalid_permit2_signature"
}

/** 65 bytes r, s, v with v of 27 or 28. `key`: 32 bytes that are a key of the curve. */
export const signPermit = (key: Uint8Array, chainId: bigint, permit: UptoPermit): Hex =>
  signed(key, permitDigest(permitDomain(chainId), uptoTransferType, permit, witnessHash(permit)))

interface Approval {
  readonly owner: string
  readonly value: bigint
  /** The owner's next nonce of the token's approvals. */
  readonly nonce: bigint
  readonly deadline: bigint
}

const approvalType = keccak256OfText(
  "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
)
const prefix = Buffer.from([0x19, 0x01])

/** An approval for the token (EIP-2612), in the same form. */
export const signApproval = (
  key: Uint8Array,
  domain: TokenDomain,
  { owner, value, nonce, deadline }: Approval
): Hex => {
  const words = [addressWord(owner), addressWord(permit2Address), numberWord(value), numberWord(nonce)]
  const message = keccak256(Buffer.concat([approvalType, ...words, numberWord(deadline)]))
  return signed(key, keccak256(Buffer.concat([prefix, domainSeparator(domain), message])))
}

const signed = (key: Uint8Array, digest: Uint8Array): Hex => hexOf(signatureBytes(signDigest(digest, key)))
