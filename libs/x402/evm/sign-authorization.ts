/** What a payer does: signs a transfer authorization as a wallet would. For our own client and for load. Pure. */
import { signDigest } from "./curve.ts"
import { type Hex, hexOf } from "./hex.ts"
import { type Authorization, authorizationDigest, domainSeparator, type TokenDomain } from "./typed-data.ts"

/** 65 bytes r, s, v with v of 27 or 28. `key`: 32 bytes that are a key of the curve. */
export const signAuthorization = (key: Uint8Array, domain: TokenDomain, authorization: Authorization): Hex => {
  const { bytes, parity } = signDigest(authorizationDigest(domainSeparator(domain), authorization), key)
  return hexOf(Buffer.concat([bytes, Buffer.from([27 + parity])]))
}
