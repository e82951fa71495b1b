/**
 * The curve secp256k1, by the native library: recovering a signer costs a tenth of what it costs in JavaScript.
 * The library throws on what is no signature or no key; this file turns that into a value and nothing else.
 */
import { Result } from "effect"
import secp256k1 from "secp256k1"
import { type Hex, hexOf } from "./hex.ts"
import { keccak256 } from "./keccak.ts"

export interface CurveSignature {
  /** r and s, 32 bytes each; s is in the lower half. */
  readonly bytes: Uint8Array
  /** Which of the two points with this r. */
  readonly parity: 0 | 1
}

/** The address whose key signed the digest, in lower case; nothing when no key can have made this signature. */
export const recoverAddress = (digest: Uint8Array, signature: CurveSignature): Hex | undefined => {
  const found = Result.try(() => secp256k1.ecdsaRecover(signature.bytes, signature.parity, digest, false))
  return Result.isSuccess(found) ? addressOfPoint(found.success) : undefined
}

/** Deterministic (RFC 6979), s in the lower half. The key must have passed `addressOfKey`. */
export const signDigest = (digest: Uint8Array, key: Uint8Array): CurveSignature => {
  const { signature, recid } = secp256k1.ecdsaSign(digest, key)
  return { bytes: signature, parity: recid === 0 ? 0 : 1 }
}

/** The address of a private key, in lower case; nothing when these 32 bytes are no key. */
export const addressOfKey = (key: Uint8Array): Hex | undefined => {
  const point = Result.try(() => secp256k1.publicKeyCreate(key, false))
  return Result.isSuccess(point) ? addressOfPoint(point.success) : undefined
}

const addressOfPoint = (point: Uint8Array): Hex => hexOf(keccak256(point.subarray(1)).subarray(12))
