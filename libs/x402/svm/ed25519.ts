/**
 * Ed25519 signatures by OpenSSL, with keys as Solana writes them: 32 bytes of public key, 64 of secret (seed, then
 * public key). Verification is as strict as a validator's: what it takes, a block takes.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto"
import { hasSmallOrder } from "./curve-points.ts"

// The fixed heads of RFC 8410's encodings.
const spkiHead = Buffer.from("302a300506032b6570032100", "hex")
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex")

export const verifySignature = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  if (hasSmallOrder(publicKey) || hasSmallOrder(signature.subarray(0, 32))) return false
  const key = createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: "der", type: "spki" })
  return verify(null, message, key, signature)
}

/** `seed`: the first 32 bytes of a secret key. The same message gives the same signature every time. */
export const signMessage = (seed: Uint8Array, message: Uint8Array): Uint8Array => sign(null, message, privateKey(seed))

export const publicKeyOf = (seed: Uint8Array): Uint8Array => {
  const encoded = createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" })
  return new Uint8Array(encoded.subarray(spkiHead.length))
}

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" })
