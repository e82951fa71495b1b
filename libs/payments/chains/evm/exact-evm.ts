/**
 * The exact scheme on chains of this family, by transfer authorizations of the token (EIP-3009): the payer signs,
 * anyone can submit, and we pay the gas. One per network. Checking needs no key; settling is given one. The scheme
 * stores nothing about any payment.
 */
import { Effect, Result, Schema, type Scope } from "effect"
import { ExactEvmPayload } from "#payments/contract"
import type { ConfiguredHttp } from "#egress"
import type { Metrics } from "#runtime"
import { chargingExactly, type PaymentChain, type PaymentScheme, type SettlerKey } from "../../scheme.ts"
import type { SchemeFamily } from "../families.ts"
import { openJsonRpc } from "../json-rpc.ts"
import { EvmNode } from "./EvmNode.ts"
import { SettlerAccount } from "./SettlerAccount.ts"
import { look, transfers } from "./look.ts"
import { checkPayment, type EvmPayment, type EvmPrepared } from "./payment.ts"
import { probe } from "./probe.ts"
import { broadcast } from "./send.ts"
import { chainIdOf, evmDefaults, type EvmSettings } from "./settings.ts"
import { DomainSeparators, readSettlerKey } from "./signature.ts"
import { DeployedContracts, simulate } from "./simulate.ts"
import { funds } from "./token.ts"
import { FeeSource, prepare, transfersLeft } from "./transaction.ts"
import { statedTermsOf } from "./upto/payment.ts"
import { type UptoEvmScheme, uptoEvmScheme } from "./upto/upto-evm.ts"

type Defaulted = keyof typeof evmDefaults

/** The settings that a chain must provide; the rest have defaults. */
export type EvmOptions = Omit<EvmSettings, Defaulted> & Partial<Pick<EvmSettings, Defaulted>>

export interface EvmScheme extends PaymentChain, PaymentScheme<EvmPayment, EvmPrepared> {
  readonly node: EvmNode
  /** The scheme `upto` on the same chain. */
  readonly upto: UptoEvmScheme
  /** Leases of one settler's key. One account per key, in one process at a time. */
  readonly account: (key: SettlerKey) => SettlerAccount
}

export const openEvmScheme = Effect.fn("openEvmScheme")(function* (
  options: EvmOptions
): Effect.fn.Return<EvmScheme, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const settings: EvmSettings = { ...evmDefaults, ...options }
  const { network } = settings
  const chainId = chainIdOf(network)
  const rpc = yield* openJsonRpc({
    network,
    urls: settings.rpcUrls,
    deadlineMs: settings.rpcDeadlineMs,
    connectionsMax: settings.connectionsMax
  })
  const node = new EvmNode(rpc)
  const contracts = new DeployedContracts(node)
  const { marginSeconds } = settings
  const checking = { network, chainId, domains: new DomainSeparators(), marginSeconds, isSignatureKnown: false }
  const checkingAgain = { ...checking, isSignatureKnown: true }
  const preparation = { node, fees: new FeeSource(node, settings.feeWeiMax), chainId }
  const waiters = { isKnown: true, now: 0, atOnceMax: Math.max(1, Math.floor(settings.connectionsMax / 2)) }
  const sending = { ...settings, waiters }
  return {
    network,
    node,
    reach: rpc.reach("eth_blockNumber"),
    upto: uptoEvmScheme({ node, contracts, preparation, sending }),
    probe: ({ name, version, decimals }) => probe(node, { name, version, chainId, asset: settings.asset }, decimals),
    account: (key) => new SettlerAccount(preparation, key),
    check: (payload, requirements, nowMs) => checkPayment(payload, requirements, nowMs, checking),
    checkAgain: (payload, requirements, nowMs) => checkPayment(payload, requirements, nowMs, checkingAgain),
    charging: chargingExactly,
    simulate: (checked) => simulate(node, contracts, checked),
    funds: (checked, claimKeys) => funds(node, checked, claimKeys),
    recheck: (checked) => simulate(node, contracts, checked),
    prepare: (checked, lease) => prepare(preparation, checked, lease),
    broadcast: (prepared, checked) => broadcast(node, sending, prepared, checked),
    look: (checked, transaction) => look(node, settings, checked, transaction),
    feeBalance: (address) => node.balance(address),
    transfersLeft: (address) => transfersLeft(preparation, address),
    transfers: (from) => transfers(node, settings, from)
  }
})

const decodePayload = Schema.decodeUnknownResult(ExactEvmPayload)

export const evmFamily: SchemeFamily = {
  open: ({ Network, Asset, PayTo, RpcUrls, FacilitatorAddresses, RetiringAddresses, WalletFactories }) =>
    Effect.map(
      openEvmScheme({
        network: Network,
        asset: Asset,
        payTo: PayTo,
        rpcUrls: RpcUrls,
        facilitators: [...FacilitatorAddresses, ...RetiringAddresses],
        walletFactories: WalletFactories
      }),
      (exact) => ({ chain: exact, schemes: { exact, upto: exact.upto }, account: exact.account })
    ),
  readKey: readSettlerKey,
  quoteExtra: ({ AssetName, AssetVersion, FacilitatorAddresses }, scheme, turn): Readonly<Record<string, string>> => {
    const token = { name: AssetName, version: AssetVersion }
    const facilitatorAddress = FacilitatorAddresses[turn % FacilitatorAddresses.length]
    if (scheme === "exact" || facilitatorAddress === undefined) return token
    return { ...token, assetTransferMethod: "permit2", facilitatorAddress }
  },
  statedTerms: (payment) => {
    if (payment.accepted.scheme === "upto") return statedTermsOf(payment)
    const decoded = decodePayload(payment.payload)
    if (Result.isFailure(decoded)) return undefined
    const { from, nonce, validBefore } = decoded.success.authorization
    return { payer: from, nonce, validBeforeMs: Number(validBefore) * 1_000 }
  },
  // For the settlement, and for slow chains.
  collectMarginMs: 30_000
}
