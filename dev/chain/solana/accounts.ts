/**
 * The keys of a local chain, derived from a text: the same text gives the same keys, so that a home keeps its payer
 * over restarts. Worthless by design: anybody with the text has the keys, and they own nothing on any other chain.
 */
import { createHash, createPrivateKey, createPublicKey } from "node:crypto"
import { getBase58Decoder } from "@solana/kit"

export interface LocalSolanaAccount {
  readonly address: string
  /** Base58 of seed and public key, as wallets import it. */
  readonly secretKey: string
}

const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex")

/** Each name gives its own account. */
export const localAccount = (seed: string, name: string): LocalSolanaAccount => {
  const secret = createHash("sha256")
    .update(JSON.stringify(["starling local solana chain", seed, name]))
    .digest()
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, secret]), format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12)
  const base58 = getBase58Decoder()
  return { address: base58.decode(publicKey), secretKey: base58.decode(Buffer.concat([secret, publicKey])) }
}
