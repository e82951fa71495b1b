/**
 * What a provider takes for one answer, as the configuration says: the one computation, for metrics and receipts. It is
 * rounded as a price is: up, once, to a millionth of a dollar.
 */
import { Effect } from "effect"
import type { ModelUpstream } from "#contracts"
import { Metrics } from "#runtime"
import { providerCost } from "../metrics.ts"
import type { Usage } from "../translate/answers.ts"

/** In micro-dollars, as the configuration says; undefined where it says nothing. */
export interface UpstreamCost {
  readonly inputPerMillion: number | undefined
  readonly cachedPerMillion: number | undefined
  readonly outputPerMillion: number | undefined
  readonly flat: number | undefined
}

export const costOf = (upstream: ModelUpstream): UpstreamCost => ({
  inputPerMillion: upstream.CostInputMicroUsdPerMillionTokens,
  cachedPerMillion: upstream.CostCachedMicroUsdPerMillionTokens ?? upstream.CostInputMicroUsdPerMillionTokens,
  outputPerMillion: upstream.CostOutputMicroUsdPerMillionTokens,
  flat: upstream.CostFlatMicroUsd
})

const isByTokens = ({ inputPerMillion, outputPerMillion }: UpstreamCost) =>
  inputPerMillion !== undefined || outputPerMillion !== undefined

export const hasCost = (cost: UpstreamCost): boolean => isByTokens(cost) || cost.flat !== undefined

type Tokens = Pick<Usage, "inputTokens" | "cachedTokens" | "outputTokens">

/** What was taken for; `tokens` undefined where the provider did not say, or counts none. */
interface Taken {
  readonly tokens: Tokens | undefined
  /** How many times a flat cost is paid: once for a call, once for each image. */
  readonly count: number
}

const million = 1_000_000n
const whole = (count: number) => BigInt(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(count))))

/** Null where the configuration names no cost, or a cost by tokens of an answer whose tokens nobody counted. Pure. */
export const costMicroUsd = (cost: UpstreamCost, { tokens, count }: Taken): bigint | null => {
  if (!hasCost(cost) || (tokens === undefined && isByTokens(cost))) return null
  const { inputPerMillion = 0, cachedPerMillion = 0, outputPerMillion = 0, flat = 0 } = cost
  const input = whole(tokens?.inputTokens ?? 0)
  const counted = whole(tokens?.cachedTokens ?? 0)
  const cached = counted < input ? counted : input
  const perMillion =
    (input - cached) * BigInt(inputPerMillion) +
    cached * BigInt(cachedPerMillion) +
    whole(tokens?.outputTokens ?? 0) * BigInt(outputPerMillion)
  return (perMillion + million - 1n) / million + whole(count) * BigInt(flat)
}

/** Counts the cost of an answer, and gives it back for the receipt. */
export const costCounter = Effect.map(Metrics, (metrics) => {
  const costs = metrics.counter(providerCost)
  return (of: { readonly model: string; readonly provider: string; readonly cost: UpstreamCost }, taken: Taken) => {
    const microUsd = costMicroUsd(of.cost, taken)
    if (microUsd !== null) costs.inc({ model: of.model, provider: of.provider }, Number(microUsd) / 1e6)
    return microUsd
  }
})
