/** An endpoint as the dispatcher uses it, read from the configuration or from a runtime endpoint's record. */
import { Effect, Result } from "effect"
import { compileFilter, type EventFilter, type Fault, secretFault, type SecretKind } from "#base"
import {
  type Delivery,
  type DeliveryFormat,
  type EndpointEntry,
  deliveryPartitionOf,
  endpointIdOf,
  type EndpointRecord,
  type EndpointSettings as RecordSettings,
  type KeptSecret
} from "#webhooks/contract"
import { Configuration } from "#configuration"
import type { Proxy } from "#egress"
import { InvalidConfiguration, secretFromEnv } from "#runtime"
import {
  compileContentFilter,
  credentialFaults,
  lackingCredentials,
  openCredentials,
  orderKey,
  type OrderKey,
  type OwnCredentials,
  readSettings,
  type SecretSeal,
  type SigningKey,
  standardWebhooksKey
} from "#webhooks"
import { connectionOf, connectionOfFiles, type EndpointConnection, sharedProxy } from "./connection.ts"
import { type OAuthClient, oauthClientOf } from "../token-request.ts"
import { type RetrySettings, retryWaits } from "../retry-policy.ts"

/** Fails with every fault of every endpoint. It needs no broker, so faults are known before the broker answers. */
export const configuredEndpoints = Effect.gen(function* () {
  return yield* readEndpoints((yield* Configuration).Webhooks, yield* commonSettings)
})

/** What holds for all endpoints. */
interface CommonSettings {
  readonly retryAfterMsMax: number
  readonly proxy?: Proxy | undefined
}

export const commonSettings = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  const common: CommonSettings = {
    retryAfterMsMax: WebhookDelivery.RetryAfterMaxSeconds * 1_000,
    proxy: yield* Effect.mapError(sharedProxy, (fault) => new InvalidConfiguration({ faults: [fault] }))
  }
  return common
})

/**
 * One endpoint as the dispatcher uses it: its settings with secrets read, filter compiled and id derived from its name.
 * Times in milliseconds.
 */
export interface EndpointSettings {
  readonly id: string
  readonly partition: number
  readonly name: string
  readonly url: string
  /** Keys of X-Service-Signature, the newest first; none for unsigned bodies. */
  readonly secrets: ReadonlyArray<SigningKey<string>>
  readonly standardWebhooksKeys: ReadonlyArray<SigningKey<Uint8Array>>
  /** The receiver's own, if any. */
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly format: DeliveryFormat
  readonly wants: EventFilter
  /** Whether the content of an event fits; absent without a filter on it. */
  readonly fits?: ((envelope: unknown) => boolean) | undefined
  /** Undefined for an endpoint without `OrderBy`. */
  readonly orderKey?: OrderKey | undefined
  readonly timeoutMs: number
  readonly concurrency: number
  readonly ratePerSecond?: number | undefined
  readonly backlogMax: number
  readonly hasBreaker: boolean
  readonly retry: RetrySettings
  /** Undefined where it is called as everyone is. */
  readonly connection?: EndpointConnection | undefined
  /** Where the receiver asks for access tokens. */
  readonly oauth?: OAuthClient | undefined
  /** Null for an endpoint of the configuration file. */
  readonly madeAtRunTime: MadeAtRunTime | null
}

export interface MadeAtRunTime {
  readonly isEnabled: boolean
  /** The last event before the endpoint's own. */
  readonly startsAfter: number
  /** The last event whose deliveries belong to a removed endpoint that had its name before. */
  readonly formersLast: number
  /** Removes its secrets from its receiver's answers. */
  readonly redact: (text: string) => string
}

/** True for every endpoint that is not disabled, regardless of its breaker and pauses. */
export const isEnabled = ({ madeAtRunTime }: EndpointSettings) => madeAtRunTime?.isEnabled !== false

/**
 * Whether a delivery belongs to this endpoint rather than to a removed one that had its name before: the latter's can
 * have waited in a dispatcher, or been postponed or forwarded, while the others were archived. A test or a resend means
 * the present endpoint. Pure.
 */
export const isOf = ({ madeAtRunTime }: EndpointSettings, { sequence, isTest, redriveOf }: Delivery) =>
  madeAtRunTime === null || sequence > madeAtRunTime.formersLast || isTest === true || redriveOf !== undefined

/**
 * Whether an endpoint was removed and recreated under its name between the two: a dispatcher that was cut off meanwhile
 * learns of both at once. Pure.
 */
export const isMadeAgain = (before: EndpointSettings, after: EndpointSettings) =>
  before.madeAtRunTime?.formersLast !== after.madeAtRunTime?.formersLast

/** Reads every endpoint, sorted by id. All faults are reported at once. */
const readEndpoints = Effect.fn("readEndpoints")(function* (
  entries: ReadonlyArray<EndpointEntry>,
  common: CommonSettings
) {
  const [endpoints, failed] = yield* Effect.partition(entries, (entry, index) =>
    readEndpoint(entry, `Webhooks[${index}]`, common)
  )
  if (failed.length > 0) return yield* new InvalidConfiguration({ faults: failed.flat() })
  return endpoints.toSorted((left, right) => (left.id < right.id ? -1 : 1))
})

const readEndpoint = Effect.fnUntraced(function* (entry: EndpointEntry, path: string, common: CommonSettings) {
  const [[secret, standard, oauthSecret, proxyPassword], missing] = yield* Effect.partition(
    [
      { variable: entry.SecretEnvVar, path: `${path}.SecretEnvVar`, kind: "signature" as const },
      {
        variable: entry.StandardWebhooksSecretEnvVar,
        path: `${path}.StandardWebhooksSecretEnvVar`,
        kind: "standardWebhooks" as const
      },
      { variable: entry.OAuthSecretEnvVar, path: `${path}.OAuthSecretEnvVar`, kind: "password" as const },
      { variable: entry.ProxyPasswordEnvVar, path: `${path}.ProxyPasswordEnvVar`, kind: "password" as const }
    ],
    ({ variable, ...named }) => (variable === undefined ? Effect.undefined : secretFromEnv({ variable, ...named }))
  )
  const given = {
    ...(oauthSecret === undefined ? {} : { oauthSecret }),
    ...(proxyPassword === undefined ? {} : { proxyPassword })
  }
  const connection = yield* Effect.result(connectionOfFiles(entry, path, { secrets: given, shared: common.proxy }))
  const faults = [...missing, ...(Result.isFailure(connection) ? connection.failure : [])]
  if (faults.length > 0 || Result.isFailure(connection)) return yield* Effect.fail(faults)
  return withSecrets(entry, common, {
    connection: connection.success,
    secrets: secret === undefined ? [] : [{ key: secret, notAfterMs: null }],
    standardWebhooksKeys: standard === undefined ? [] : [{ key: standardWebhooksKey(standard), notAfterMs: null }],
    madeAtRunTime: null
  })
})

type Secrets = Pick<EndpointSettings, "secrets" | "standardWebhooksKeys" | "connection" | "madeAtRunTime">

const withSecrets = (entry: RecordSettings, common: CommonSettings, secrets: Secrets): EndpointSettings => {
  const id = endpointIdOf(entry.Name)
  return {
    id,
    partition: deliveryPartitionOf(id),
    name: entry.Name,
    url: entry.Url,
    headers: ownHeaders(entry),
    format: entry.Format,
    wants: compileFilter(entry.EventFilter),
    fits: entry.ContentFilter === undefined ? undefined : compileContentFilter(entry.ContentFilter),
    orderKey: entry.OrderBy === undefined ? undefined : orderKey(entry.OrderBy),
    timeoutMs: Math.round(entry.TimeoutSeconds * 1_000),
    concurrency: entry.Concurrency,
    ratePerSecond: entry.RatePerSecond,
    backlogMax: entry.BacklogMax,
    hasBreaker: entry.CircuitBreaker,
    retry: { ...retryWaits(entry), retryAfterMsMax: common.retryAfterMsMax },
    oauth: oauthClientOf(entry),
    ...secrets
  }
}

/** Attributes of a CloudEvent are the event's: the receiver's own headers change none. */
const ownHeaders = ({ Format, Headers }: Pick<EndpointEntry, "Format" | "Headers">) => {
  const isOwn = (name: string) => Format !== "cloudevents-binary" || !/^ce-/iu.test(name)
  const own = Object.entries(Headers).filter(([name]) => isOwn(name))
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

/**
 * The settings of a runtime endpoint. Fails with all faults, including secrets that cannot be opened: without them its
 * messages would leave unsigned.
 */
export const settingsOfRecord = (
  record: EndpointRecord,
  common: CommonSettings,
  seal: SecretSeal
): Result.Result<EndpointSettings, ReadonlyArray<Fault>> => {
  const settings = readSettings(record, seal)
  const id = endpointIdOf(record.name)
  const opened = (kept: ReadonlyArray<KeptSecret>, path: string, kind: SecretKind) =>
    Result.mapError(
      Result.all(
        kept.map(({ sealed, notAfterMs }) =>
          Result.flatMap(seal.open(id, sealed), (key) => {
            const fault = secretFault(kind, key)
            return fault?.isNoSecret === true ? Result.fail(fault.message) : Result.succeed({ key, notAfterMs })
          })
        )
      ),
      (message) => [{ path, message }]
    )
  const secrets = opened(record.secrets, "/Secret", "signature")
  const standard = opened(record.standardWebhooksSecrets, "/StandardWebhooksSecret", "standardWebhooks")
  const credentials = openedCredentials(
    record,
    Result.getOrElse(settings, () => ({})),
    seal
  )
  const faultsIn = <A>(part: Result.Result<A, ReadonlyArray<Fault>>) => (Result.isFailure(part) ? part.failure : [])
  const failures = [...faultsIn(settings), ...faultsIn(secrets), ...faultsIn(standard), ...faultsIn(credentials)]
  if (
    Result.isFailure(settings) ||
    Result.isFailure(secrets) ||
    Result.isFailure(standard) ||
    Result.isFailure(credentials)
  ) {
    return Result.fail(failures)
  }
  const hidden = [
    ...secrets.success.map(({ key }) => key),
    ...standard.success.map(({ key }) => key),
    ...Object.values(settings.success.Headers),
    credentials.success.oauthSecret ?? "",
    credentials.success.proxyPassword ?? ""
  ].filter((text) => text.length >= redactedCharactersMin)
  return Result.succeed(
    withSecrets(settings.success, common, {
      secrets: secrets.success,
      standardWebhooksKeys: standard.success.map(({ key, notAfterMs }) => ({
        key: standardWebhooksKey(key),
        notAfterMs
      })),
      connection: connectionOf(settings.success, credentials.success, common.proxy),
      madeAtRunTime: {
        isEnabled: record.isEnabled,
        startsAfter: record.startsAfter,
        formersLast: record.goesOn === true ? 0 : record.startsAfter,
        redact: (text) => hidden.reduce((clean, secret) => clean.replaceAll(secret, "<redacted>"), text)
      }
    })
  )
}

/** Certificates that have ended are no fault here: the receiver says so, and its deliveries are retried. */
const openedCredentials = (
  record: EndpointRecord,
  settings: Pick<RecordSettings, "OAuthTokenUrl" | "OAuthMethod" | "ProxyUsername">,
  seal: SecretSeal
): Result.Result<OwnCredentials, ReadonlyArray<Fault>> => {
  const opened = openCredentials(record, seal)
  if (Result.isFailure(opened)) return Result.fail([{ path: "/Credentials", message: opened.failure }])
  const faults = [...credentialFaults(opened.success), ...lackingCredentials(settings, opened.success)]
  return faults.length === 0 ? Result.succeed(opened.success) : Result.fail(faults)
}

// Shorter values are no secrets, and replacing them would garble the receiver's text.
const redactedCharactersMin = 6
