/**
 * Decides the changes of an endpoint's record: the result of a request, or why it is refused. A request that was
 * already carried out changes nothing, so it is safe to send again. Pure.
 */
import { Result, Schema } from "effect"
import {
  type Act,
  type Credentials,
  decodeEndpointSettings,
  endpointIdOf,
  type EndpointRecord,
  type EndpointSettings,
  type KeptSecret
} from "#webhooks/contract"
import { faultOfName, type Fault, secretFault, type SecretKind } from "#base"
import { sameJson } from "#base/json"
import {
  credentialFaults,
  lackingCredentials,
  openCredentials,
  type OwnCredentials,
  sealedCredentials,
  withCredentials
} from "./credentials.ts"
import { EndpointExists, EndpointWasChanged, InvalidEndpoint } from "./errors.ts"
import { isPlain, type SecretSeal } from "./seal.ts"

/** New secrets; an absent one stays unchanged. */
export interface SecretInput {
  /** Signs X-Service-Signature. */
  readonly secret?: string | undefined
  /** Signs the headers of Standard Webhooks. */
  readonly standardWebhooksSecret?: string | undefined
  /** Replaced at once; null removes one. */
  readonly credentials?: Credentials | undefined
}

export interface Creation extends SecretInput {
  /** As in the configuration file, `Name` included. */
  readonly settings: unknown
}

/** `same`: carried out before. `settings`: the record's settings afterwards. */
export interface Decided {
  readonly record: EndpointRecord
  readonly same: boolean
}

type Decision<E> = Result.Result<Decided, E>

interface Context {
  readonly seal: SecretSeal
  readonly act: Act
}

/** Checks a creation. `before`: the bucket's value under the name's id. */
export const decideCreation = (
  before: EndpointRecord | undefined,
  { settings: given, ...secrets }: Creation,
  { seal, act, startsAfter, goesOn }: Context & { readonly startsAfter: number; readonly goesOn?: boolean }
): Decision<InvalidEndpoint | EndpointExists> => {
  const credentials = withCredentials({}, secrets.credentials)
  const checked = checkedSettings(given, credentials, [
    ...secretFaults(secrets),
    ...pointed(credentialFaults(credentials, Date.parse(act.at)))
  ])
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  const settings = checked.success
  const id = endpointIdOf(settings.Name)
  if (before !== undefined) {
    return isLike(before, settings, secrets, seal)
      ? Result.succeed({ record: before, same: true })
      : Result.fail(new EndpointExists({ name: before.name }))
  }
  const nameFault = faultOfName(settings.Name)
  if (nameFault !== undefined) {
    return Result.fail(new InvalidEndpoint({ faults: [{ path: "/Name", message: nameFault }] }))
  }
  const kept = (secret: string | undefined) =>
    secret === undefined ? [] : [{ sealed: seal.seal(id, secret), notAfterMs: null }]
  const record: EndpointRecord = {
    ...writtenSettings(settings, seal),
    name: settings.Name,
    revision: 1,
    secrets: kept(secrets.secret),
    standardWebhooksSecrets: kept(secrets.standardWebhooksSecret),
    ...credentialsOf(settings.Name, credentials, seal),
    isEnabled: true,
    startsAfter,
    ...(goesOn === true ? { goesOn } : {}),
    created: act,
    changed: act,
    removed: null
  }
  return Result.succeed({ record, same: false })
}

/** Merges keys into the settings of a record; null resets a key to its default. */
export const decideChange = (
  before: EndpointRecord,
  changes: Readonly<Record<string, unknown>>,
  { revision, seal, act }: Context & { readonly revision: number }
): Decision<InvalidEndpoint | EndpointWasChanged> => {
  const id = endpointIdOf(before.name)
  const headers = openHeaders(before, seal)
  if (Result.isFailure(headers) && changes["Headers"] === undefined) {
    return Result.fail(new InvalidEndpoint({ faults: [{ path: "/Headers", message: headers.failure }] }))
  }
  const known = { ...before.settings, Headers: Result.getOrElse(headers, () => ({})) }
  const laid = Object.entries({ ...known, ...changes }).filter(([, value]) => value !== null)
  const checked = checkedSettings(Object.fromEntries(laid), openedOf(before, seal), [])
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  if (endpointIdOf(checked.success.Name) !== id) {
    const faults = [{ path: "/Name", message: "a name cannot be changed, for the endpoint's past hangs on it" }]
    return Result.fail(new InvalidEndpoint({ faults }))
  }
  if (sameJson(checked.success, asSettings(before, seal))) return Result.succeed({ record: before, same: true })
  if (before.revision !== revision) return wasChanged(before)
  return Result.succeed({ record: next({ ...before, ...writtenSettings(checked.success, seal) }, act), same: false })
}

interface Guarded extends Pick<Context, "act"> {
  /** The revision that the caller last read; without one, any revision. */
  readonly revision: number | undefined
}

export const decideEnabling = (
  before: EndpointRecord,
  isEnabled: boolean,
  { revision, act }: Guarded
): Decision<EndpointWasChanged> => {
  if (before.isEnabled === isEnabled) return Result.succeed({ record: before, same: true })
  if (revision !== undefined && before.revision !== revision) return wasChanged(before)
  return Result.succeed({ record: next({ ...before, isEnabled }, act), same: false })
}

/** A removed endpoint keeps neither settings nor secrets; its name stays until its deliveries are archived. */
export const decideRemoval = (before: EndpointRecord, { revision, act }: Guarded): Decision<EndpointWasChanged> => {
  if (before.removed !== null) return Result.succeed({ record: before, same: true })
  if (revision !== undefined && before.revision !== revision) return wasChanged(before)
  const bare = { settings: {}, headers: null, secrets: [], standardWebhooksSecrets: [], credentials: null }
  return Result.succeed({ record: next({ ...before, ...bare, isEnabled: false, removed: act }, act), same: false })
}

export interface Rotation extends SecretInput {
  /** How long the previous secret still signs beside the new one. */
  readonly overlapMs: number
}

export const overlapMsDefault = 24 * 3_600_000
/** A week: longer than a receiver takes to release. */
const overlapMsMax = 7 * overlapMsDefault

export const decideRotation = (
  before: EndpointRecord,
  { overlapMs, ...secrets }: Rotation,
  { revision, seal, act, nowMs }: Guarded & Context & { readonly nowMs: number }
): Decision<InvalidEndpoint | EndpointWasChanged> => {
  const opened = openedOf(before, seal)
  const credentials = withCredentials(opened, secrets.credentials)
  const settings = asSettings(before, seal)
  const faults = [
    ...secretFaults(secrets),
    ...(secrets.credentials === undefined ? [] : pointed(credentialFaults(credentials, nowMs))),
    ...(settings === undefined ? [] : pointed(lackingCredentials(settings, credentials))),
    ...overlapFaults(overlapMs)
  ]
  if ([secrets.secret, secrets.standardWebhooksSecret, secrets.credentials].every((given) => given === undefined)) {
    faults.push({ path: "", message: "neither Secret nor StandardWebhooksSecret nor Credentials is given" })
  }
  if (faults.length > 0) return Result.fail(new InvalidEndpoint({ faults }))
  const id = endpointIdOf(before.name)
  const isCurrent = (kept: ReadonlyArray<KeptSecret>, secret: string | undefined) =>
    secret === undefined || (kept[0] !== undefined && isSecret(seal.open(id, kept[0].sealed), secret))
  if (
    sameJson(credentials, opened) &&
    isCurrent(before.secrets, secrets.secret) &&
    isCurrent(before.standardWebhooksSecrets, secrets.standardWebhooksSecret)
  ) {
    return Result.succeed({ record: before, same: true })
  }
  if (revision !== undefined && before.revision !== revision) return wasChanged(before)
  const rotated = (kept: ReadonlyArray<KeptSecret>, secret: string | undefined) => {
    if (isCurrent(kept, secret) || secret === undefined) return kept
    const [current] = kept
    const previous = current === undefined || overlapMs === 0 ? [] : [{ ...current, notAfterMs: nowMs + overlapMs }]
    return [{ sealed: seal.seal(id, secret), notAfterMs: null }, ...previous]
  }
  const after = {
    ...before,
    secrets: rotated(before.secrets, secrets.secret),
    standardWebhooksSecrets: rotated(before.standardWebhooksSecrets, secrets.standardWebhooksSecret),
    ...(secrets.credentials === undefined ? {} : { credentials: sealedCredentials(before.name, credentials, seal) })
  }
  return Result.succeed({ record: next(after, act), same: false })
}

/** The record without expired secrets; undefined when it has none. Not an operator's change. */
export const withoutOldSecrets = (record: EndpointRecord, nowMs: number): EndpointRecord | undefined => {
  const isOver = ({ notAfterMs }: KeptSecret) => notAfterMs !== null && notAfterMs <= nowMs
  if (![...record.secrets, ...record.standardWebhooksSecrets].some(isOver)) return undefined
  const current = (kept: ReadonlyArray<KeptSecret>) => kept.filter((secret) => !isOver(secret))
  return {
    ...record,
    secrets: current(record.secrets),
    standardWebhooksSecrets: current(record.standardWebhooksSecrets)
  }
}

const sealedIn = ({ headers, credentials, secrets, standardWebhooksSecrets }: EndpointRecord) =>
  [headers, credentials, ...[...secrets, ...standardWebhooksSecrets].map(({ sealed }) => sealed)].flatMap((sealed) =>
    sealed === null || sealed === undefined ? [] : [sealed]
  )

/** Whether something of a record is only encoded on the bus. */
export const isUnencrypted = (record: EndpointRecord) => sealedIn(record).some(isPlain)

/**
 * The record sealed anew with the present key; undefined when it is already. Fails when something of it cannot be
 * opened. Not an operator's change.
 */
export const resealed = (
  record: EndpointRecord,
  seal: SecretSeal
): Result.Result<EndpointRecord | undefined, string> => {
  const id = endpointIdOf(record.name)
  const all = sealedIn(record)
  if (all.every((sealed) => seal.isCurrent(id, sealed))) return Result.succeed(undefined)
  return Result.map(Result.all(all.map((sealed) => seal.open(id, sealed))), (opened) => {
    const anew = new Map(all.map((sealed, index) => [sealed, seal.seal(id, opened[index] ?? "")]))
    const again = (sealed: string) => anew.get(sealed) ?? sealed
    const keptAgain = (kept: ReadonlyArray<KeptSecret>) => kept.map((one) => ({ ...one, sealed: again(one.sealed) }))
    return {
      ...record,
      headers: record.headers === null ? null : again(record.headers),
      ...(record.credentials == null ? {} : { credentials: again(record.credentials) }),
      secrets: keptAgain(record.secrets),
      standardWebhooksSecrets: keptAgain(record.standardWebhooksSecrets)
    }
  })
}

/** The settings of a record, including its headers. Fails with why they cannot be read. */
export const readSettings = (
  record: EndpointRecord,
  seal: SecretSeal
): Result.Result<EndpointSettings, ReadonlyArray<Fault>> =>
  Result.flatMap(
    Result.mapError(openHeaders(record, seal), (message) => [{ path: "/Headers", message }]),
    (headers) => decodeEndpointSettings({ ...record.settings, Headers: headers })
  )

const next = (record: EndpointRecord, act: Act): EndpointRecord => ({
  ...record,
  revision: record.revision + 1,
  changed: act
})

const wasChanged = ({ name, revision }: EndpointRecord) => Result.fail(new EndpointWasChanged({ name, revision }))

// Together with the secrets it stays below the bucket's value limit.
const settingsCharactersMax = 16_384

const checkedSettings = (
  given: unknown,
  credentials: OwnCredentials,
  others: ReadonlyArray<Fault>
): Result.Result<EndpointSettings, InvalidEndpoint> => {
  const settings = decodeEndpointSettings(given)
  const ofSettings = Result.isFailure(settings)
    ? settings.failure
    : pointed(lackingCredentials(settings.success, credentials))
  const faults = [...ofSettings, ...others]
  if (faults.length > 0 || Result.isFailure(settings)) return Result.fail(new InvalidEndpoint({ faults }))
  if (JSON.stringify(settings.success).length <= settingsCharactersMax) return Result.succeed(settings.success)
  const tooLong = { path: "", message: `more than ${settingsCharactersMax} characters of settings` }
  return Result.fail(new InvalidEndpoint({ faults: [tooLong] }))
}

const secretFaults = ({ secret, standardWebhooksSecret }: SecretInput): Array<Fault> => [
  ...faultsOfSecret("/Secret", "signature", secret),
  ...faultsOfSecret("/StandardWebhooksSecret", "standardWebhooks", standardWebhooksSecret)
]

const pointed = (faults: ReadonlyArray<Fault>) =>
  faults.map(({ path, message }) => ({ path: `/Credentials/${path}`, message }))

/** Those that cannot be opened are as good as none: they are to be given anew. */
const openedOf = (record: EndpointRecord, seal: SecretSeal) =>
  Result.getOrElse(openCredentials(record, seal), (): OwnCredentials => ({}))

/** Nothing without any, as records always were. */
const credentialsOf = (name: string, all: OwnCredentials, seal: SecretSeal) => {
  const credentials = sealedCredentials(name, all, seal)
  return credentials === null ? {} : { credentials }
}

const faultsOfSecret = (path: string, kind: SecretKind, secret: string | undefined): ReadonlyArray<Fault> => {
  const fault = secret === undefined ? undefined : secretFault(kind, secret)
  return fault === undefined ? [] : [{ path, message: fault.message }]
}

const overlapFaults = (overlapMs: number): Array<Fault> =>
  Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= overlapMsMax
    ? []
    : [{ path: "/OverlapSeconds", message: "an overlap lasts at most seven days" }]

const writtenSettings = ({ Headers, ...settings }: EndpointSettings, seal: SecretSeal) => ({
  settings: { ...settings },
  headers: Object.keys(Headers).length === 0 ? null : seal.seal(endpointIdOf(settings.Name), JSON.stringify(Headers))
})

const HeadersText = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decodeHeaders = Schema.decodeUnknownResult(HeadersText)

const openHeaders = (
  { name, headers }: EndpointRecord,
  seal: SecretSeal
): Result.Result<Record<string, string>, string> =>
  headers === null
    ? Result.succeed({})
    : Result.flatMap(seal.open(endpointIdOf(name), headers), (opened) =>
        Result.mapError(decodeHeaders(opened), () => "they cannot be read")
      )

const asSettings = (record: EndpointRecord, seal: SecretSeal) =>
  Result.getOrElse(readSettings(record, seal), () => undefined)

const isSecret = (opened: Result.Result<string, string>, secret: string) =>
  Result.isSuccess(opened) && opened.success === secret

const isLike = (record: EndpointRecord, settings: EndpointSettings, secrets: SecretInput, seal: SecretSeal) => {
  const has = (kept: ReadonlyArray<KeptSecret>, secret: string | undefined) =>
    secret === undefined
      ? kept.length === 0
      : kept[0] !== undefined && isSecret(seal.open(endpointIdOf(record.name), kept[0].sealed), secret)
  const credentials = Result.getOrElse(openCredentials(record, seal), () => undefined)
  return (
    sameJson(settings, asSettings(record, seal)) &&
    sameJson(withCredentials({}, secrets.credentials), credentials) &&
    has(record.secrets, secrets.secret) &&
    has(record.standardWebhooksSecrets, secrets.standardWebhooksSecret)
  )
}
