/** A price as requirements that a client can sign: one entry per network, in the configured order. Pure. */
import { knownTokenOf, type PaymentNetwork, type PaymentRequirements } from "#contracts"
import { atomicAmount, decimalAmount } from "./money.ts"

export interface Offer {
  readonly requirements: PaymentRequirements
  /** Dollars as a decimal text, equal to the amount: `0.025685`. */
  readonly priceUsd: string
  /** How people call the network: `base-sepolia`. */
  readonly plainNetwork: string
  readonly assetSymbol: string
}

export const offerOf = (network: PaymentNetwork, priceMicroUsd: bigint, maxTimeoutSeconds: number): Offer => {
  const amount = atomicAmount(priceMicroUsd, network.AssetDecimals)
  return {
    requirements: {
      scheme: "exact",
      network: network.Network,
      amount: amount.toString(),
      asset: network.Asset,
      payTo: network.PayTo,
      maxTimeoutSeconds,
      extra: extraOf(network)
    },
    priceUsd: decimalAmount(amount, network.AssetDecimals),
    plainNetwork: network.PlainName ?? knownTokenOf(network.Network)?.plainName ?? network.Network,
    assetSymbol: network.AssetSymbol
  }
}

// What clients cannot sign without: the token's signing domain, or who pays the chain's fee.
const extraOf = (network: PaymentNetwork): Readonly<Record<string, string>> =>
  network.FeePayer === undefined || network.Network.startsWith("eip155:")
    ? { name: network.AssetName, version: network.AssetVersion }
    : { feePayer: network.FeePayer }
