/**
 * What the schemes answer about a network or a payment before any chain is asked, by the chain's family. A new family
 * is a folder beside this file and a line in this table.
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
  /** All that work there, whether offered or not: earlier payments are still settled. */
  readonly schemes: PaymentSchemes
  /** Hands out the nonces of a settler's account in order; null if the chain has none. */
  readonly account: ((key: SettlerKey) => SettlerAccount) | null
}

/** What a payment states about itself, unverified. */
interface StatedTerms {
  readonly payer: string
  readonly nonce: string
  readonly validBeforeMs: number
  /** The signed amount, if less than it can be charged. */
  readonly amount?: string
}

export interface SchemeFamily {
  /** Opens one network; makes no call to the chain. */
  readonly open: (entry: PaymentNetwork) => Effect.Effect<OpenChain, never, ConfiguredHttp | Metrics | Scope.Scope>
  /** A configured secret as a settler's key; fails with the fault, never with the secret. */
  readonly readKey: (network: string, secret: string) => Result.Result<LocalKey, string>
  /** The `extra` of a quote, without which a client cannot sign. `turn`: quotes name our settlers in turn. */
  readonly quoteExtra: (
    entry: PaymentNetwork,
    scheme: PaymentSchemeName,
    turn: number
  ) => Readonly<Record<string, string>>
  /** Undefined if it is not a payment, or if only the checks can tell. */
  readonly statedTerms: (payload: PaymentPayload) => StatedTerms | undefined
  /** How long before `validBeforeMs` a payment can still surely be collected. */
  readonly collectMarginMs: number
}

const families: Readonly<Record<ChainFamily, SchemeFamily>> = { evm: evmFamily, solana: solanaFamily }

/** Undefined for a network that no configuration can name. */
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

/** The claim's key as stated by the payment; undefined if only the checks can tell. */
export const statedClaimKey = (payload: PaymentPayload, { network, asset }: PaymentRequirements) => {
  const stated = familyOf(network)?.statedTerms(payload)
  return stated && claimKeyOf({ network, asset, payer: stated.payer, nonce: stated.nonce })
}

/** The signed amount as stated by the payment, if less than it can be charged. */
export const statedAmount = (payload: PaymentPayload): string | undefined =>
  familyOf(payload.accepted.network)?.statedTerms(payload)?.amount

/** The payment's end as stated by itself, in epoch milliseconds; undefined if only the checks can tell. */
export const statedEndMs = (payload: PaymentPayload): number | undefined =>
  familyOf(payload.accepted.network)?.statedTerms(payload)?.validBeforeMs

/** The last moment at which a payment can still surely be collected. */
export const collectByMs = (network: string, validBeforeMs: number): number =>
  validBeforeMs - knownFamily(network).collectMarginMs
