/** What a call costs, on the networks of the kind that its base path stands for. Pure. */
import type { Payments } from "#contracts"
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

/** Undefined where no network of that kind is configured. */
export const quoteCall = (
  section: Payments,
  /** How callers reach us. */
  origin: string,
  { chain, path, model, prices, prompt, outputTokens, count }: CallFacts
): Quote | undefined => {
  const tariff = tariffOf(section)
  const inputTokens = chargedInputTokens(inputTokensOf(prompt))
  const { flatMicroUsd } = prices
  const priceMicroUsd =
    flatMicroUsd === undefined
      ? tokenPrice(tariff, prices, { inputTokens, outputTokens })
      : flatPrice(tariff, flatMicroUsd, count)
  const tokens = flatMicroUsd === undefined ? { tokens: { input: inputTokens, output: outputTokens } } : {}
  const [first, ...rest] = section.Networks.filter(({ Network }) => Network.startsWith(namespaces[chain])).map(
    (network) => offerOf(network, priceMicroUsd, section.MaxTimeoutSeconds)
  )
  if (first === undefined) return undefined
  return { resource: modelResource({ origin, path, model, ...tokens }), offers: [first, ...rest] }
}
