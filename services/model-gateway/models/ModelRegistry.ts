/**
 * The model registry: the models served here, each one's providers and their keys, all from the configuration.
 * Contradictions are reported before anything starts. The registry does not change while the process runs.
 *
 * It also computes what a provider charges for one answer, by the configuration: the only computation of it, for
 * metrics and receipts. The cost is rounded like a price: up, once, to a millionth of a dollar.
 */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { Configuration, entriesOf, isJson, type Json, unreadable } from "#configuration"
import {
  type ModelEntry,
  type ModelUpstream,
  type ProviderEntry,
  soldBelowCost,
  soldBelowCostText
} from "#gateway/contract"
import type { SanitiseOptions } from "#egress"
import { type ConfigurationFault, InvalidConfiguration, Metrics, secretFromEnv } from "#runtime"
import { UnknownModel } from "../errors/GatewayFault.ts"
import { providerApis } from "../translate/provider-apis.ts"
import { takesOf } from "../conversation/provider-takes.ts"
import type { Takes } from "../conversation/Written.ts"
import { priceBelowCost, providerCost } from "../metrics.ts"
import type { Usage } from "../translate/usage.ts"

/** In micro-dollars, as configured; undefined if not configured. */
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

/** What is charged for; `tokens` undefined if the provider did not report them, or counts none. */
interface Taken {
  readonly tokens: Tokens | undefined
  /** How often a flat cost applies: once for a call, once for each image. */
  readonly count: number
}

const million = 1_000_000n
const whole = (count: number) => BigInt(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(count))))

/** Null if the configuration has no cost, or a cost by tokens for an answer whose tokens were not counted. Pure. */
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

/** Counts an answer's cost, and returns it for the receipt. */
export const costCounter = Effect.map(Metrics, (metrics) => {
  const costs = metrics.counter(providerCost)
  return (of: { readonly model: string; readonly provider: string; readonly cost: UpstreamCost }, taken: Taken) => {
    const microUsd = costMicroUsd(of.cost, taken)
    if (microUsd !== null) costs.inc({ model: of.model, provider: of.provider }, Number(microUsd) / 1e6)
    return microUsd
  }
})

export interface Provider {
  readonly name: string
  readonly kind: ProviderEntry["Kind"]
  readonly baseUrl: string
  readonly key: Redacted.Redacted | undefined
  readonly connectionsMax: number
  readonly takes: Takes
}

export interface ModelRoute {
  readonly provider: Provider
  readonly model: string
  readonly maxTokensParameter: "max_tokens" | "max_completion_tokens"
  readonly cost: UpstreamCost
}

export interface RegisteredModel {
  readonly entry: ModelEntry
  /** The first part of its id. */
  readonly family: string
  readonly routes: ReadonlyArray<ModelRoute>
}

export class ModelRegistry extends Context.Service<
  ModelRegistry,
  {
    readonly all: ReadonlyArray<RegisteredModel>
    readonly find: (id: string, kind: ModelEntry["Kind"]) => Result.Result<RegisteredModel, UnknownModel>
    /** What callers must not learn about the providers. */
    readonly hidden: SanitiseOptions
  }
>()("starling/model-gateway/ModelRegistry") {
  static readonly layer = Layer.effect(
    ModelRegistry,
    Effect.gen(function* () {
      const { providers, models } = yield* configuredModels
      const losses = soldBelowCost(yield* Configuration)
      const shownLosses = (yield* Metrics).gauge(priceBelowCost)
      for (const { provider, model } of losses) shownLosses.set({ provider, model }, 1)
      for (const loss of losses) yield* Effect.logWarning(soldBelowCostText(loss))
      const byId = new Map(models.map((model) => [model.entry.Id, model]))
      const hidden = {
        secrets: providers.flatMap(({ key }) => (key === undefined ? [] : [Redacted.value(key)])),
        names: [
          ...providers.flatMap(({ name, baseUrl }) => [name, new URL(baseUrl).host, new URL(baseUrl).hostname]),
          ...models.flatMap(({ entry, routes }) => routes.map(({ model }) => model).filter((name) => name !== entry.Id))
        ]
      }
      const find = (id: string, kind: ModelEntry["Kind"]) => {
        const found = byId.get(id)
        if (found?.entry.Kind === kind) return Result.succeed(found)
        const ids = models.flatMap(({ entry }) => (entry.Kind === kind ? [entry.Id] : []))
        const otherwise = found === undefined ? {} : { kind: found.entry.Kind }
        return Result.fail(
          new UnknownModel({ model: id.slice(0, 200), suggestions: suggestModels(id, ids), ...otherwise })
        )
      }
      return ModelRegistry.of({ all: models, find, hidden })
    })
  )
}

/** Fails with all faults. It needs no broker, so faults are known before the broker answers. */
export const configuredModels = Effect.gen(function* () {
  const { ModelGateway } = yield* Configuration
  const [providers, missing] = yield* Effect.partition(ModelGateway.Providers, readProvider)
  const faults = [...missing, ...modelFaultsOf({ ModelGateway })]
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  const models = ModelGateway.Models.map((entry): RegisteredModel => ({
    entry,
    family: entry.Id.slice(0, entry.Id.indexOf("/")),
    routes: entry.Upstreams.flatMap((upstream) => {
      const provider = byName.get(upstream.Provider)
      if (provider === undefined) return []
      const { Model, MaxTokensParameter } = upstream
      return [{ provider, model: Model, maxTokensParameter: MaxTokensParameter, cost: costOf(upstream) }]
    })
  }))
  return { providers, models }
})

const readProvider = Effect.fnUntraced(function* (entry: ProviderEntry, index: number) {
  const { KeyEnvVar } = entry
  const path = `ModelGateway.Providers[${index}].KeyEnvVar`
  const key =
    KeyEnvVar === undefined
      ? undefined
      : Redacted.make(yield* secretFromEnv({ variable: KeyEnvVar, path, kind: "provider" }))
  const provider: Provider = {
    name: entry.Name,
    kind: entry.Kind,
    baseUrl: entry.BaseUrl.replace(/(?<!\/)\/+$/u, ""),
    key,
    connectionsMax: entry.ConnectionsMax,
    takes: takesOf(entry)
  }
  return provider
})

type Entry = readonly [index: number, entry: Json]

/** Checks a configuration file as written, or as much of it as can be read. */
export const modelFaultsOf = (file: Json): ReadonlyArray<ConfigurationFault> => {
  const providers = entriesOf(file, "ModelGateway", "Providers")
  const models = entriesOf(file, "ModelGateway", "Models")
  return [
    ...repeated(providers, "Name", "ModelGateway.Providers"),
    ...repeated(models, "Id", "ModelGateway.Models"),
    ...models.flatMap(([index, model]) => modelFaults(model, `ModelGateway.Models[${index}]`, providers))
  ]
}

const repeated = (entries: ReadonlyArray<Entry>, key: string, path: string): ReadonlyArray<ConfigurationFault> => {
  const seen = new Set<string>()
  return entries.flatMap(([index, entry]) => {
    const name = entry[key]
    if (typeof name !== "string") return []
    if (seen.has(name)) return [{ path: `${path}[${index}].${key}`, message: `${JSON.stringify(name)} is used twice` }]
    seen.add(name)
    return []
  })
}

const modelFaults = (model: Json, path: string, providers: ReadonlyArray<Entry>) => [
  ...upstreamFaults(model, path, providers),
  ...priceFaults(model, path),
  ...countFaults(model, path)
]

const made: Readonly<Record<string, string>> = { image: "images", embedding: "embeddings" }

const upstreamFaults = (model: Json, path: string, providers: ReadonlyArray<Entry>): Array<ConfigurationFault> => {
  const upstreams: ReadonlyArray<unknown> = Array.isArray(model["Upstreams"]) ? model["Upstreams"] : []
  return upstreams.flatMap((upstream, index) => {
    const name = isJson(upstream) ? upstream["Provider"] : undefined
    if (typeof name !== "string") return []
    const at = `${path}.Upstreams[${index}].Provider`
    const provider = providers.find(([, { Name }]) => Name === name)?.[1]
    if (provider === undefined) return [{ path: at, message: `there is no provider ${JSON.stringify(name)}` }]
    const [kind, api] = Object.entries(providerApis).find(([one]) => one === provider["Kind"]) ?? []
    const isMissing = api?.serves.every((one) => one !== model["Kind"]) === true && String(model["Kind"]) in made
    return isMissing ? [{ path: at, message: `an ${kind} provider makes no ${made[String(model["Kind"])]}` }] : []
  })
}

const priceKeys = ["FlatMicroUsd", "InputMicroUsdPerMillionTokens", "OutputMicroUsdPerMillionTokens"] as const

const priceFaults = (model: Json, path: string): Array<ConfigurationFault> => {
  if (model["Free"] === true || [...priceKeys, "Free", "Kind"].some((key) => model[key] === unreadable)) return []
  const [flat, ...byTokens] = priceKeys.map((key) => model[key])
  const hasPrice = flat !== undefined || byTokens.some((price) => Number(price ?? 0) > 0)
  return [
    ...(hasPrice ? [] : [{ path, message: "a model has a price, or is Free" }]),
    ...(model["Kind"] === "image" && flat === undefined
      ? [{ path: `${path}.FlatMicroUsd`, message: "an image has a flat price" }]
      : []),
    ...(model["Kind"] === "embedding" && Number(byTokens[1] ?? 0) > 0
      ? [{ path: `${path}.OutputMicroUsdPerMillionTokens`, message: "an embedding has no output tokens" }]
      : [])
  ]
}

const countFaults = (model: Json, path: string): Array<ConfigurationFault> => {
  if (model["CountMicroUsd"] === undefined) return []
  const at = `${path}.CountMicroUsd`
  if (model["Free"] === true) return [{ path: at, message: "a model that is Free has free counts" }]
  const isChat = model["Kind"] === undefined || model["Kind"] === "chat" || model["Kind"] === unreadable
  return isChat ? [] : [{ path: at, message: "only conversations are counted" }]
}

const suggestionsMax = 5
// Ids that callers send are compared only up to this length.
const charactersMax = 128

const pairsOf = (text: string) => {
  const plain = text.slice(0, charactersMax).toLowerCase()
  return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)))
}

/** The ids that a mistyped one may have meant: those that share the longest parts with it, the nearest first. Pure. */
export const suggestModels = (id: string, served: ReadonlyArray<string>): ReadonlyArray<string> => {
  const pairsOfId = pairsOf(id)
  const scored = served.map((other) => {
    const pairs = pairsOf(other)
    const shared = [...pairs].filter((pair) => pairsOfId.has(pair)).length
    return { other, score: (2 * shared) / Math.max(1, pairs.size + pairsOfId.size) }
  })
  return scored
    .toSorted((left, right) => right.score - left.score)
    .slice(0, suggestionsMax)
    .map(({ other }) => other)
}
