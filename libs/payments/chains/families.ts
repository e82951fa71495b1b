/**
 * What the schemes answer about a network or a payment before any chain is asked, by the family of the chain. A new
 * family is a folder beside this file and a line in this table.
 */
import { Effect, type Result, type Scope } from "effect"
import {
  type ChainFamily,
  chainFamilyOf,
  claimKeyOf,
  type PaymentNetwork,
  type PaymentPayload,
  type PaymentRequirements,
  type PaymentSchemeName
} from "#payments/contract"
import type { ConfiguredHttp } from "#egress"
import type { Metrics } from "#runtime"
import type { LocalKey, PaymentChain, PaymentSchemes, SettlerKey } from "../scheme.ts"
import { evmFamily } from "./evm/exact-evm.ts"
import type { SettlerAccount } from "./evm/SettlerAccount.ts"
import { solanaFamily } from "./solana/exact-svm.ts"

export interface OpenChain {
  readonly chain: PaymentChain
  /** All that work there, whether they are offered or not: what was paid before is still settled. */
  readonly schemes: PaymentSchemes
  /** Gives out the nonces of a settler's account in order; null where the chain has none. */
  readonly account: ((key: SettlerKey) => SettlerAccount) | null
}

/** What a payment says of itself, unverified. */
interface StatedTerms {
  readonly payer: string
  readonly nonce: string
  readonly validBeforeMs: number
  /** What was signed, where less than it may be charged. */
  readonly amount?: string
}

export interface SchemeFamily {
  /** Opens one network; asks the chain nothing. */
  readonly open: (entry: PaymentNetwork) => Effect.Effect<OpenChain, never, ConfiguredHttp | Metrics | Scope.Scope>
  /** A configured secret as a settler's key; fails with the fault, never with the secret. */
  readonly readKey: (network: string, secret: string) => Result.Result<LocalKey, string>
  /** The `extra` of a quote, without which a client cannot sign. `turn`: quotes name our settlers in turn. */
  readonly quoteExtra: (
    entry: PaymentNetwork,
    scheme: PaymentSchemeName,
    turn: number
  ) => Readonly<Record<string, string>>
  /** Undefined for what is no payment, and where only the checks tell. */
  readonly statedTerms: (payload: PaymentPayload) => StatedTerms | undefined
  /** How long before `validBeforeMs` a payment can still surely be collected. */
  readonly collectMarginMs: number
}

const families: Readonly<Record<ChainFamily, SchemeFamily>> = { evm: evmFamily, solana: solanaFamily }

/** Undefined for a network that no configuration may name. */
const familyOf = (network: string): SchemeFamily | undefined => {
  const family = chainFamilyOf(network)
  return family && families[family]
}

const knownFamily = (network: string): SchemeFamily => {
  const family = familyOf(network)
  if (family === undefined) throw new RangeError(`${network} is of no family of chains`)
  return family
}

export const openChain = (entry: PaymentNetwork) => Effect.suspend(() => knownFamily(entry.Network).open(entry))

/** A configured secret as a settler's key of that network; fails with the fault, never with the secret. */
export const readSettlerKey = (network: string, secret: string) => knownFamily(network).readKey(network, secret)

export const quoteExtra = (entry: PaymentNetwork, scheme: PaymentSchemeName, turn: number) =>
  knownFamily(entry.Network).quoteExtra(entry, scheme, turn)

/** The claim's key by the payment's own word; undefined where only the checks tell. */
export const statedClaimKey = (payload: PaymentPayload, { network, asset }: PaymentRequirements) => {
  const stated = familyOf(network)?.statedTerms(payload)
  return stated && claimKeyOf({ network, asset, payer: stated.payer, nonce: stated.nonce })
}

/** The signed amount by the payment's own word, where less than it may be charged. */
export const statedAmount = (payload: PaymentPayload): string | undefined =>
  familyOf(payload.accepted.network)?.statedTerms(payload)?.amount

/** The payment's end by its own word, epoch milliseconds; undefined where only the checks tell. */
export const statedEndMs = (payload: PaymentPayload): number | undefined =>
  familyOf(payload.accepted.network)?.statedTerms(payload)?.validBeforeMs

/** The last moment at which a payment can still surely be collected. */
export const collectByMs = (network: string, validBeforeMs: number): number =>
  validBeforeMs - knownFamily(network).collectMarginMs
