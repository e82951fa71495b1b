/**
 * Amounts, addresses and keys of payments. An amount is a decimal text of the asset's smallest unit in canonical form,
 * so that equal amounts are equal texts. Every shape is bounded, because a stranger writes the payment.
 */
import { Schema } from "effect"
import { inOneCase } from "./chains.ts"
import { encodeToken } from "#base"

/** The largest number a chain's 256-bit word holds has 78 digits. */
const canonicalInteger = /^(?:0|[1-9][0-9]{0,77})$/u
const wordMax = 2n ** 256n - 1n

const fitsWord = (text: string) =>
  // Filters run side by side: the pattern already reports a text of another form.
  text.length < 78 || !canonicalInteger.test(text) || BigInt(text) <= wordMax || "more than 256 bits hold"

/** A whole number from 0 to 2^256 - 1 in decimal, without sign or leading zeros. */
export const DecimalWord = Schema.String.check(Schema.isPattern(canonicalInteger), Schema.makeFilter(fitsWord))

/** A number of 256 bits as clients of Permit2 write it: in decimal, or in hex. */
export const NumberWord = Schema.Union([DecimalWord, Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,64}$/u))])

/** An amount in the asset's smallest unit. */
export const AtomicAmount = DecimalWord.annotate({ identifier: "AtomicAmount" })

/** A chain by CAIP-2: `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp`. */
export const Network = Schema.String.check(Schema.isPattern(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/u))

/** An account or token of any chain that we know: hex with 0x, or base58. */
export const ChainAddress = Schema.String.check(Schema.isPattern(/^[0-9A-Za-z]{1,64}$/u))

export const EvmAddress = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u))

/** A transaction's hash or signature, as its chain writes it. */
export const TransactionId = Schema.String.check(Schema.isPattern(/^[0-9A-Za-z]{1,128}$/u))

/** A reason as the protocol spells it: `insufficient_funds`. */
export const ReasonText = Schema.String.check(Schema.isMaxLength(256))

/** Additions by a chain's own client or by a scheme. They are carried, never trusted. */
export const Extra = Schema.Record(Schema.String, Schema.Unknown)

/** A name that we made, safe as a subject token. */
export const InstanceName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))

/** SHA-256 in lower-case hex. */
export const Sha256Hex = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/u))

/** The key of a claim in its bucket; `claimKeyOf` makes it. */
export const ClaimKey = Schema.String.check(Schema.isPattern(/^claim(?:\.[A-Za-z0-9_=-]{1,160}){4}$/u))

/**
 * The parts that the chain itself holds single-use: token, payer and nonce on EVM chains, the message's hash on Solana.
 * Never a header's or a signature's bytes, which a payer can vary at will.
 */
interface ClaimParts {
  readonly network: string
  readonly asset: string
  readonly payer: string
  /** The authorization's nonce, or the message's hash. */
  readonly nonce: string
}

/** An account, token or nonce of a network as one token; every way to write it gives the same token. */
export const addressToken = (network: string, text: string) => encodeToken(inOneCase(network, text))

export const claimKeyOf = ({ network, asset, payer, nonce }: ClaimParts): string =>
  `claim.${networkToken(network)}.${addressToken(network, asset)}.${addressToken(network, payer)}.${addressToken(network, nonce)}`

const networkTokens = new Map<string, string>()
// More than anybody configures; a stranger may name others.
const networkTokensMax = 64

/** Each key of a payment names its network, and there are few: each is written as a token once. */
const networkToken = (network: string): string => {
  const known = networkTokens.get(network)
  if (known !== undefined) return known
  const token = encodeToken(network)
  if (networkTokens.size >= networkTokensMax) networkTokens.clear()
  networkTokens.set(network, token)
  return token
}

/** An account of a network as two tokens of a key. */
export const addressKeyOf = (network: string, address: string): string =>
  `${networkToken(network)}.${addressToken(network, address)}`

/** The key of a payer's record, which covers all its claims on one network. */
export const payerKeyOf = (network: string, payer: string): string => `payer.${addressKeyOf(network, payer)}`
