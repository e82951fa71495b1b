/**
 * The keys of a local chain, derived from a text: the same text gives the same keys, so that a home keeps its payer
 * over restarts. Worthless by design: anybody with the text has the keys, and they own nothing on any other chain.
 */
import { createHash } from "node:crypto"
import { evmAddressOfKey } from "#payments"
import { bytesOf, checksummed, type Hex } from "#payments/evm-encoding"

export interface LocalAccount {
  readonly address: Hex
  readonly privateKey: Hex
}

/** Each name gives its own account. */
export const localAccount = (seed: string, name: string): LocalAccount => {
  // Of 2^256 hashes some 2^128 are no key; then the next one is tried.
  for (let attempt = 0; ; attempt += 1) {
    const hash = createHash("sha256")
      .update(JSON.stringify(["starling local evm chain", seed, name, attempt]))
      .digest("hex")
    const privateKey: Hex = `0x${hash}`
    const address = evmAddressOfKey(bytesOf(privateKey))
    if (address !== undefined) return { address: checksummed(address), privateKey }
  }
}
