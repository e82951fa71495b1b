/**
 * The key of a claim: what the chain itself holds single-use. On EVM chains that is the token, the payer and the
 * nonce; on Solana the message's hash. It is never made of a header's or a signature's bytes, which a
 * payer can vary at will. Pure.
 */
import { encodeToken } from "../tokens.ts"

export interface ClaimParts {
  readonly network: string
  readonly asset: string
  readonly payer: string
  /** The authorization's nonce, or the message's hash. */
  readonly nonce: string
}

/** Hex is written in either case and means the same; base58 is told apart by it. */
const oneCase = (network: string, text: string) => (network.startsWith("eip155:") ? text.toLowerCase() : text)

/** An account, token or nonce of a network as one token, the same for every way to write it. */
export const addressToken = (network: string, text: string) => encodeToken(oneCase(network, text))

export const claimKeyOf = ({ network, asset, payer, nonce }: ClaimParts): string =>
  `claim.${encodeToken(network)}.${addressToken(network, asset)}.${addressToken(network, payer)}.${addressToken(network, nonce)}`

/** The record of a payer over all its claims on one network. */
export const payerKeyOf = (network: string, payer: string): string =>
  `payer.${encodeToken(network)}.${addressToken(network, payer)}`
