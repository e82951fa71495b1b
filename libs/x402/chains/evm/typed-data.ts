/**
 * The typed data that a payer signs (EIP-712): a transfer authorization of EIP-3009 in the domain of one token on one
 * chain. The domain's hash is the same for every payment of a token and is made once: a digest costs 0.02 ms, by viem
 * 0.11 ms. Pure.
 */
import { keccak256, keccak256OfText, addressWord, numberWord, bytesOf } from "./encoding.ts"

/** As the payer signed it; addresses in any case. */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Unix seconds; the transfer may happen strictly later. */
  readonly validAfter: bigint
  /** Unix seconds; the transfer may happen strictly earlier. */
  readonly validBefore: bigint
  /** 32 bytes. */
  readonly nonce: string
}

export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  /** The token's address. */
  readonly asset: string
}

const domainType = keccak256OfText("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
const transferType = keccak256OfText(
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)
const prefix = Buffer.from([0x19, 0x01])

export const domainSeparator = ({ name, version, chainId, asset }: TokenDomain): Uint8Array =>
  keccak256(
    Buffer.concat([
      domainType,
      keccak256OfText(name),
      keccak256OfText(version),
      numberWord(chainId),
      addressWord(asset)
    ])
  )

/** The 32 bytes under the payer's signature. */
export const authorizationDigest = (separator: Uint8Array, authorization: Authorization): Uint8Array => {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const message = keccak256(
    Buffer.concat([
      transferType,
      addressWord(from),
      addressWord(to),
      numberWord(value),
      numberWord(validAfter),
      numberWord(validBefore),
      bytesOf(nonce)
    ])
  )
  return keccak256(Buffer.concat([prefix, separator, message]))
}

// A gateway asks for one token; a facilitator for others sees a handful.
const keptMax = 64

/**
 * The domain hashes of recently used tokens, so that each is made once and not per payment. Bounded: a stranger may
 * write requirements, and must not fill the memory with them.
 */
export class DomainSeparators {
  readonly #kept = new Map<string, Uint8Array>()

  of(domain: TokenDomain): Uint8Array {
    const key = JSON.stringify([domain.name, domain.version, domain.asset.toLowerCase(), String(domain.chainId)])
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const made = domainSeparator(domain)
    if (this.#kept.size >= keptMax) this.#kept.clear()
    this.#kept.set(key, made)
    return made
  }
}
