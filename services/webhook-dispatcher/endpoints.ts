/** The configured endpoints, sorted by id. They do not change while the process runs. */
import { Context, Effect, Layer } from "effect"
import { compileFilter, type EndpointEntry, deliveryPartitionOf, endpointIdOf, unknownFilterNames } from "#contracts"
import { Configuration, InvalidConfiguration, secretFromEnv } from "#runtime"
import { type SigningKey, standardWebhooksKey } from "./request-headers.ts"
import { type RetrySettings, retryWaits } from "./retry-policy.ts"

export class Endpoints extends Context.Service<
  Endpoints,
  {
    readonly all: ReadonlyArray<EndpointSettings>
    readonly byId: ReadonlyMap<string, EndpointSettings>
  }
>()("starling/webhook-dispatcher/Endpoints") {
  static readonly layer = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const all = yield* configuredEndpoints
      for (const { Name, EventFilter } of (yield* Configuration).Webhooks) {
        const unknown = unknownFilterNames(EventFilter)
        if (unknown.length === 0) continue
        yield* Effect.logWarning("an EventFilter names events that are not in the catalogue").pipe(
          Effect.annotateLogs({ endpoint: Name, unknown })
        )
      }
      return Endpoints.of({ all, byId: new Map(all.map((endpoint) => [endpoint.id, endpoint])) })
    })
  )
}

/** Fails with every fault of every endpoint. It needs no broker, so faults are known before the broker answers. */
export const configuredEndpoints = Effect.gen(function* () {
  const { Webhooks, WebhookDelivery } = yield* Configuration
  return yield* readEndpoints(Webhooks, WebhookDelivery.RetryAfterMaxSeconds * 1_000)
})

/**
 * One endpoint as the dispatcher uses it: the configuration entry with its secrets read, its filter compiled
 * and its id derived from its name. Times in milliseconds.
 */
export interface EndpointSettings {
  readonly id: string
  readonly partition: number
  readonly name: string
  readonly url: string
  /** Keys of X-Service-Signature, the newest first; none for unsigned bodies. */
  readonly secrets: ReadonlyArray<SigningKey<string>>
  readonly standardWebhooksKeys: ReadonlyArray<SigningKey<Uint8Array>>
  /** The receiver's own, if it has any. */
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly wants: (event: string) => boolean
  readonly timeoutMs: number
  readonly concurrency: number
  readonly backlogMax: number
  readonly hasBreaker: boolean
  readonly retry: RetrySettings
}

/** Reads every endpoint, sorted by id. All faults are reported at once. */
const readEndpoints = Effect.fn("readEndpoints")(function* (
  entries: ReadonlyArray<EndpointEntry>,
  retryAfterMsMax: number
) {
  const [endpoints, failed] = yield* Effect.partition(entries, (entry, index) =>
    readEndpoint(entry, `Webhooks[${index}]`, retryAfterMsMax)
  )
  if (failed.length > 0) return yield* new InvalidConfiguration({ faults: failed.flat() })
  return endpoints.toSorted((left, right) => (left.id < right.id ? -1 : 1))
})

const readEndpoint = Effect.fnUntraced(function* (entry: EndpointEntry, path: string, retryAfterMsMax: number) {
  const [[secret, standard], missing] = yield* Effect.partition(
    [
      { variable: entry.SecretEnvVar, path: `${path}.SecretEnvVar` },
      { variable: entry.StandardWebhooksSecretEnvVar, path: `${path}.StandardWebhooksSecretEnvVar` }
    ],
    readSecret
  )
  if (missing.length > 0) return yield* Effect.fail(missing)
  const id = endpointIdOf(entry.Name)
  const settings: EndpointSettings = {
    id,
    partition: deliveryPartitionOf(id),
    name: entry.Name,
    url: entry.Url,
    secrets: secret === undefined ? [] : [{ key: secret, notAfterMs: null }],
    standardWebhooksKeys: standard === undefined ? [] : [{ key: standardWebhooksKey(standard), notAfterMs: null }],
    headers: Object.keys(entry.Headers).length === 0 ? undefined : entry.Headers,
    wants: compileFilter(entry.EventFilter),
    timeoutMs: Math.round(entry.TimeoutSeconds * 1_000),
    concurrency: entry.Concurrency,
    backlogMax: entry.BacklogMax,
    hasBreaker: entry.CircuitBreaker,
    retry: { ...retryWaits(entry), retryAfterMsMax }
  }
  return settings
})

const readSecret = ({ variable, path }: { readonly variable: string | undefined; readonly path: string }) =>
  variable === undefined ? Effect.succeed(undefined) : secretFromEnv(variable, path)
