/**
 * The domains' hashes of the tokens that were asked for lately, so that each is made once and not per payment.
 * Bounded: requirements may be written by a stranger, who must not fill the memory with them.
 */
import { domainSeparator, type TokenDomain } from "./typed-data.ts"

// A gateway asks for one token; a facilitator for others sees a handful.
const keptMax = 64

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
