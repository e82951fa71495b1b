/**
 * Signs as a payer of `upto` does: the most that a call may cost, and the approval of Permit2 that the settlement sends
 * along where the payer has not made one. Pure.
 */
import { addressWord, type Hex, hexOf, keccak256, keccak256OfText, numberWord } from "../encoding.ts"
import { permit2Address, permitDigest, permitDomain } from "../permit2.ts"
import { domainSeparator, signatureBytes, signDigest, type TokenDomain } from "../signature.ts"
import { type UptoPermit, uptoTransferType, witnessHash } from "./proxy.ts"

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
