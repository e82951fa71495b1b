/**
 * Every configured network with its scheme: our own, or one whose payments a facilitator verifies and settles. Opened
 * once for each role that handles payments; opening asks the chains nothing.
 */
import { Effect, type Result, type Scope } from "effect"
import { type ChainFamily, chainFamilyOf, type PaymentNetwork, type Payments } from "#contracts"
import type { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { type EvmScheme, type NotAnEvmNetwork, openEvmScheme } from "./chains/evm/exact-evm.ts"
import { openFacilitator } from "./facilitator/Facilitator.ts"
import { remoteScheme } from "./facilitator/remote-scheme.ts"
import { facilitatorUnconfirmed } from "./metrics.ts"
import { readSettlerKey as readSvmKey } from "./chains/solana/keys.ts"
import { readSettlerKey as readEvmKey } from "./chains/evm/signature.ts"
import type { PaymentScheme, SettlerKey } from "./scheme.ts"
import { openSvmScheme } from "./chains/solana/exact-svm.ts"

export interface OpenNetwork {
  readonly entry: PaymentNetwork
  readonly scheme: PaymentScheme
  /** Accounts whose nonces must be kept in order; null where the chain has none, or a facilitator signs. */
  readonly accounts: Pick<EvmScheme, "account"> | null
  /** A facilitator signs and sends for us. */
  readonly isRemote: boolean
}

// Connections of one role to one facilitator: as many as its calls at once.
const facilitatorConnectionsMax = 256
// A settled transfer is in a block, and our nodes are a block or two behind at most.
const facilitatorConfirmMs = 5_000

type Needs = ConfiguredHttp | Metrics | Scope.Scope

/** Keyed by the network's name. */
export const openNetworks = Effect.fn("openNetworks")(function* (
  section: Payments
): Effect.fn.Return<ReadonlyMap<string, OpenNetwork>, NotAnEvmNetwork, Needs> {
  const opened = yield* Effect.forEach(section.Networks, (entry) => openNetwork(section, entry))
  return new Map(opened.map((one) => [one.entry.Network, one]))
})

/** The chains alone, for roles that ask no facilitator. */
export const openChains = Effect.fn("openChains")(function* (
  section: Pick<Payments, "Networks">
): Effect.fn.Return<ReadonlyArray<Pick<OpenNetwork, "entry" | "scheme">>, NotAnEvmNetwork, Needs> {
  return yield* Effect.forEach(section.Networks, (entry) =>
    Effect.map(openOwn(entry), ({ scheme }) => ({ entry, scheme }))
  )
})

const openNetwork = Effect.fnUntraced(function* (
  section: Payments,
  entry: PaymentNetwork
): Effect.fn.Return<OpenNetwork, NotAnEvmNetwork, Needs> {
  const own = yield* openOwn(entry)
  if (entry.FacilitatorUrl === undefined) return { entry, ...own, isRemote: false }
  const facilitator = yield* openFacilitator({
    url: entry.FacilitatorUrl,
    timeoutMs: section.FacilitatorTimeoutSeconds * 1_000,
    connectionsMax: facilitatorConnectionsMax
  })
  const unconfirmed = (yield* Metrics).counter(facilitatorUnconfirmed)
  const onUnconfirmed = () => unconfirmed.inc({ network: entry.Network })
  const scheme = remoteScheme(own.scheme, facilitator, { confirmMs: facilitatorConfirmMs, onUnconfirmed })
  return { entry, scheme, accounts: null, isRemote: true }
})

interface FamilyOfSchemes {
  readonly open: (entry: PaymentNetwork) => Effect.Effect<Own, NotAnEvmNetwork, Needs>
  /** Fails with the fault, never with the secret. */
  readonly readKey: (network: string, secret: string) => Result.Result<SettlerKey, string>
}

type Own = Pick<OpenNetwork, "scheme" | "accounts">

const chainOf = ({ Network, Asset, PayTo, RpcUrls }: PaymentNetwork) => ({
  network: Network,
  asset: Asset,
  payTo: PayTo,
  rpcUrls: RpcUrls
})

const families: Readonly<Record<ChainFamily, FamilyOfSchemes>> = {
  evm: {
    open: (entry) => Effect.map(openEvmScheme(chainOf(entry)), (scheme) => ({ scheme, accounts: scheme })),
    readKey: readEvmKey
  },
  solana: {
    open: (entry) => {
      const feePayers = entry.FeePayer === undefined ? [] : [entry.FeePayer]
      const isRemote = entry.FacilitatorUrl !== undefined
      return Effect.map(openSvmScheme({ ...chainOf(entry), feePayers, isRemote }), (scheme) => ({
        scheme,
        accounts: null
      }))
    },
    readKey: readSvmKey
  }
}

/** A network of no known family is refused as an EVM network. */
const familyOf = (network: string) => families[chainFamilyOf(network) ?? "evm"]

const openOwn = (entry: PaymentNetwork) => familyOf(entry.Network).open(entry)

/** A configured secret as a settler's key of that network. */
export const readSettlerKey = (network: string, secret: string) => familyOf(network).readKey(network, secret)
