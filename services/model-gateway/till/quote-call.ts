/** What a call costs, on the networks of the kind that its base path stands for. Pure. */
import type { PaymentNetwork, Payments } from "#contracts"
import {
  chargedInputTokens,
  flatPrice,
  inputTokensOf,
  modelResource,
  offerOf,
  type Quote,
  tariffOf,
  tokenPrice
} from "#x402"
import type { CallFacts } from "../Till.ts"

const namespaces = { evm: "eip155:", solana: "solana:" } as const

/** Undefined where no network of that kind is configured, or none is offered. */
export const quoteCall = (
  section: Payments,
  /** How callers reach us. */
  origin: string,
  { chain, path, model, prices, prompt, outputTokens, count }: CallFacts,
  isOffered: (network: PaymentNetwork) => boolean = () => true
): Quote | undefined => {
  const tariff = tariffOf(section)
  const inputTokens = chargedInputTokens(inputTokensOf(prompt))
  const { flatMicroUsd } = prices
  const priceMicroUsd =
    flatMicroUsd === undefined
      ? tokenPrice(tariff, prices, { inputTokens, outputTokens })
      : flatPrice(tariff, flatMicroUsd, count)
  const tokens = flatMicroUsd === undefined ? { tokens: { input: inputTokens, output: outputTokens } } : {}
  const offered = section.Networks.filter((one) => one.Network.startsWith(namespaces[chain]) && isOffered(one))
  const [first, ...rest] = offered.map((network) => offerOf(network, priceMicroUsd, section.MaxTimeoutSeconds))
  if (first === undefined) return undefined
  return { resource: modelResource({ origin, path, model, ...tokens }), offers: [first, ...rest] }
}
