/**
 * The models that are served here and who is asked for each, from the configuration, with the providers' keys.
 * What does not fit together is told before anything starts. Does not change while the process runs.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import type { ModelEntry, ProviderEntry } from "#contracts"
import type { SanitiseOptions } from "#egress"
import { Configuration, InvalidConfiguration, secretFromEnv } from "#runtime"
import { UnknownModel } from "../errors/GatewayFault.ts"
import { catalogueFaults } from "./catalogue-faults.ts"
import { suggestModels } from "./suggest-models.ts"

export interface Provider {
  readonly name: string
  readonly kind: ProviderEntry["Kind"]
  readonly baseUrl: string
  readonly key: Redacted.Redacted | undefined
  readonly connectionsMax: number
}

export interface ModelRoute {
  readonly provider: Provider
  readonly model: string
  readonly maxTokensParameter: "max_tokens" | "max_completion_tokens"
}

export interface CatalogueModel {
  readonly entry: ModelEntry
  /** The first part of its id. */
  readonly family: string
  readonly routes: ReadonlyArray<ModelRoute>
}

export class Catalogue extends Context.Service<
  Catalogue,
  {
    readonly all: ReadonlyArray<CatalogueModel>
    readonly find: (id: string, kind: ModelEntry["Kind"]) => Effect.Effect<CatalogueModel, UnknownModel>
    /** What must not be told of providers. */
    readonly hidden: SanitiseOptions
  }
>()("starling/model-gateway/Catalogue") {
  static readonly layer = Layer.effect(
    Catalogue,
    Effect.gen(function* () {
      const { providers, models } = yield* configuredModels
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
        if (found?.entry.Kind === kind) return Effect.succeed(found)
        const ids = models.flatMap(({ entry }) => (entry.Kind === kind ? [entry.Id] : []))
        return Effect.fail(new UnknownModel({ model: id.slice(0, 200), suggestions: suggestModels(id, ids) }))
      }
      return Catalogue.of({ all: models, find, hidden })
    })
  )
}

/** Fails with every fault; asks nobody, so it can be known before the broker answers. */
export const configuredModels = Effect.gen(function* () {
  const { ModelGateway } = yield* Configuration
  const [providers, missing] = yield* Effect.partition(ModelGateway.Providers, readProvider)
  const faults = [...missing, ...catalogueFaults({ ModelGateway })]
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  const models = ModelGateway.Models.map((entry): CatalogueModel => ({
    entry,
    family: entry.Id.slice(0, entry.Id.indexOf("/")),
    routes: entry.Upstreams.flatMap(({ Provider: name, Model, MaxTokensParameter }) => {
      const provider = byName.get(name)
      return provider === undefined ? [] : [{ provider, model: Model, maxTokensParameter: MaxTokensParameter }]
    })
  }))
  return { providers, models }
})

const readProvider = Effect.fnUntraced(function* (entry: ProviderEntry, index: number) {
  const { KeyEnvVar } = entry
  const path = `ModelGateway.Providers[${index}].KeyEnvVar`
  const key = KeyEnvVar === undefined ? undefined : Redacted.make(yield* secretFromEnv(KeyEnvVar, path))
  const provider: Provider = {
    name: entry.Name,
    kind: entry.Kind,
    baseUrl: entry.BaseUrl.replace(/\/+$/u, ""),
    key,
    connectionsMax: entry.ConnectionsMax
  }
  return provider
})
