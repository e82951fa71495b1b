/**
 * One endpoint as the dispatcher uses it: the configuration entry with its secrets read, its filter compiled
 * and its id derived from its name. Times in milliseconds.
 */
import { Effect } from "effect"
import { compileFilter, type EndpointEntry, endpointIdOf, partitionOf } from "#contracts"
import { InvalidConfiguration, secretFromEnv } from "#runtime"
import type { RetrySettings } from "./retry-policy.ts"
import { standardWebhooksKey } from "./sign.ts"

export interface EndpointSettings {
  readonly id: string
  readonly partition: number
  readonly name: string
  readonly url: string
  readonly secret: string | undefined
  readonly standardWebhooksKey: Uint8Array | undefined
  readonly wants: (event: string) => boolean
  readonly timeoutMs: number
  readonly concurrency: number
  readonly backlogMax: number
  readonly hasBreaker: boolean
  readonly retry: RetrySettings
}

/** Subjects are spread over so many partitions; fixed, because it is part of every stored subject. */
export const partitions = 32

/** Reads every endpoint, sorted by id. All faults are reported at once. */
export const readEndpoints = Effect.fn("readEndpoints")(function* (
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
    partition: partitionOf(id, partitions),
    name: entry.Name,
    url: entry.Url,
    secret,
    standardWebhooksKey: standard === undefined ? undefined : standardWebhooksKey(standard),
    wants: compileFilter(entry.EventFilter),
    timeoutMs: Math.round(entry.TimeoutSeconds * 1_000),
    concurrency: entry.Concurrency,
    backlogMax: entry.BacklogMax,
    hasBreaker: entry.CircuitBreaker,
    retry: {
      attemptsMax: entry.MaxAttempts,
      initialBackoffMs: entry.InitialBackoffSeconds * 1_000,
      jitter: entry.Jitter,
      retryAfterMsMax
    }
  }
  return settings
})

const readSecret = ({ variable, path }: { readonly variable: string | undefined; readonly path: string }) =>
  variable === undefined ? Effect.succeed(undefined) : secretFromEnv(variable, path)
