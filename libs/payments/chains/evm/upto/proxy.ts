/**
 * The proxy contract of `upto`, at the same address on every chain: it transfers any amount up to a signed maximum to
 * the signed recipient, and only for the signed facilitator. Its calls, its refusals, what a call was for, and what a
 * payer signs for it. Pure.
 */
import { decodeFunctionData, parseAbi } from "viem/utils"
import {
  callOf,
  type Hex,
  hashOfWords,
  hexOf,
  isSameAddress,
  keccak256OfText,
  readIn,
  selectorOf
} from "../encoding.ts"
import { permit2Address, permitDigest, permitDomain, type PermitTransfer, permitTypeOf } from "../permit2.ts"
import {
  domainSeparator,
  signatureBytes,
  signatureParts,
  signDigest,
  type TokenDomain,
  typedDigest
} from "../signature.ts"
import type { EvmReason } from "../simulate.ts"

export const uptoProxyAddress = "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002"

/** A payment as its payer signed it. */
export interface UptoPermit extends PermitTransfer {
  readonly from: string
  readonly to: string
  readonly facilitator: string
  /** Unix seconds: the earliest block time at which it is valid. */
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
  hashOfWords(witnessType, to, facilitator, validAfter)

const approvalTuple = "(uint256,uint256,bytes32,bytes32,uint8)"
const rest = "((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes"
const settle = callOf(`settle(${rest})`)
const settleWithPermit = callOf(`settleWithPermit(${approvalTuple},${rest})`)

/** Call data of the transfer of `charge`. */
export const settleCall = (
  { token, amount, nonce, deadline, from, to, facilitator, validAfter }: UptoPermit,
  charge: bigint,
  signature: Uint8Array,
  approval: SignedApproval | null
): Buffer => {
  const permit = [[token, amount], nonce, deadline]
  const parts = [permit, charge, from, [to, facilitator, validAfter], hexOf(signature)]
  if (approval === null) return settle(...parts)
  const { r, s, v } = signatureParts(approval.signature)
  return settleWithPermit([approval.value, approval.deadline, r, s, v], ...parts)
}

const calls = parseAbi([`function settle(${rest})`, `function settleWithPermit(${approvalTuple},${rest})`])

/** Whether a transaction called the proxy for this exact permit. */
export const isCallFor = ({ from, nonce }: UptoPermit, to: string | null, input: string): boolean => {
  if (to === null || !isSameAddress(to, uptoProxyAddress)) return false
  const call = readIn(() => decodeFunctionData({ abi: calls, data: input.toLowerCase() as Hex }))
  if (call === undefined) return false
  const [[, called], , owner] = call.functionName === "settle" ? call.args : tail(call.args)
  return called === nonce && isSameAddress(owner, from)
}

const tail = <A extends ReadonlyArray<unknown>>([, ...others]: readonly [unknown, ...A]): A => others

/** What the declared errors of the proxy and of Permit2 mean for the payer. */
export const refusals: Readonly<Record<string, EvmReason>> = {
  [selectorOf("PaymentTooEarly()")]: "permit2_not_yet_valid",
  [selectorOf("UnauthorizedFacilitator()")]: "upto_facilitator_mismatch",
  [selectorOf("AmountExceedsPermitted()")]: "invalid_upto_evm_payload_settlement_exceeds_amount",
  [selectorOf("Permit2612AmountMismatch()")]: "permit2_2612_amount_mismatch",
  [selectorOf("InvalidAmount(uint256)")]: "invalid_upto_evm_payload_settlement_exceeds_amount",
  [selectorOf("SignatureExpired(uint256)")]: "permit2_deadline_expired",
  [selectorOf("InvalidNonce()")]: "permit2_invalid_nonce",
  [selectorOf("InvalidSigner()")]: "invalid_permit2_signature",
  [selectorOf("InvalidSignature()")]: "invalid_permit2_signature",
  [selectorOf("InvalidSignatureLength()")]: "invalid_permit2_signature",
  [selectorOf("InvalidContractSignature()")]: "invalid_permit2_signature"
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

/** An approval for the token (EIP-2612), in the same form. */
export const signApproval = (
  key: Uint8Array,
  domain: TokenDomain,
  { owner, value, nonce, deadline }: Approval
): Hex => {
  const message = hashOfWords(approvalType, owner, permit2Address, value, nonce, deadline)
  return signed(key, typedDigest(domainSeparator(domain), message))
}

const signed = (key: Uint8Array, digest: Uint8Array): Hex => hexOf(signatureBytes(signDigest(digest, key)))
