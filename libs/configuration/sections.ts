/**
 * The complete configuration file. Every role reads the same file and checks every section of it, so an unknown key is
 * a mistake anywhere. A new job adds its sections here.
 */
import { Result, Schema } from "effect"
import { Bus, type Fault, faultsOf, Fleet, Redaction, repeatedKeys, sectionRule, Telemetry } from "#base"
import {
  Agents,
  AutoRetryOnTransientFailure,
  Budget,
  DiskGuard,
  Pipeline,
  PipelineApi,
  QuotaRetry,
  repeatedKinds,
  StalePullRequestSweep,
  Sweeper
} from "#pipeline/contract"
import { Console } from "#console/contract"
import { Events, repeatedTypes } from "#events/contract"
import { ModelGateway } from "#gateway/contract"
import { networkRule, Payments, PaymentSettler, PaymentVerifier, repeatedNetworks } from "#payments/contract"
import { entriesOf, inFileOrder, isJson, type Json, judged, readableParts, unreadable } from "./readable-parts.ts"
import { Audio, SpeechApi, SpeechSequencer, SpeechSynthesizer, VoiceCloning, Voices } from "#speech/contract"
import { repeatedEndpoints, WebhookDelivery, Webhooks } from "#webhooks/contract"

export const sections = {
  Events,
  WebhookDelivery,
  PipelineApi,
  Pipeline,
  Agents,
  AutoRetryOnTransientFailure,
  QuotaRetry,
  DiskGuard,
  StalePullRequestSweep,
  Budget,
  Sweeper,
  Redaction,
  SpeechApi,
  SpeechSequencer,
  SpeechSynthesizer,
  Audio,
  Voices,
  VoiceCloning,
  ModelGateway,
  Payments,
  PaymentVerifier,
  PaymentSettler,
  Console,
  Bus,
  Telemetry,
  Fleet
}

export const ConfigurationFile = Schema.Struct({ Webhooks, ...sections })
export interface ConfigurationFile extends Schema.Schema.Type<typeof ConfigurationFile> {}

/** A key removed in this release: it is ignored with a warning. The next release refuses it as unknown. */
interface RemovedKey extends EnvironmentKey {
  readonly instead: string
}

const unpaid = "UnpaidNewcomerUsd, UnpaidPayerMaxUsd and UnpaidNewcomersMaxUsd bound the same in money"

export const removedKeys: ReadonlyArray<RemovedKey> = [
  { section: "Payments", key: "ExposureMax", variable: "PAYMENTS_EXPOSURE_MAX", instead: unpaid },
  { section: "Payments", key: "AheadMax", variable: "PAYMENTS_AHEAD_MAX", instead: unpaid }
]

/** The removed keys that an input still has. */
export const removedIn = (input: unknown): ReadonlyArray<RemovedKey> =>
  isJson(input)
    ? removedKeys.filter(({ section, key }) => {
        const given = input[section]
        return isJson(given) && key in given
      })
    : []

const withoutRemoved = (input: unknown): unknown =>
  removedIn(input).reduce<unknown>((rest, { section, key }) => {
    if (!isJson(rest) || !isJson(rest[section])) return rest
    const { [key]: _, ...given } = rest[section]
    return { ...rest, [section]: given }
  }, input)

const decodeStrictly = Schema.decodeUnknownResult(ConfigurationFile, { errors: "all", onExcessProperty: "error" })
const decode = (input: unknown) => decodeStrictly(withoutRemoved(input))

/** Checks a complete configuration. A fault's path is in readable form: `Webhooks[1].Url`. */
export const decodeConfiguration = (input: unknown): Result.Result<ConfigurationFile, ReadonlyArray<Fault>> =>
  Result.mapError(decode(input), (error) => {
    const shape = faultsOf(error.issue)
    const parts = readableParts(
      input,
      shape.map(({ path }) => path)
    )
    const all = [...shape, ...ruleFaults(parts)].map(({ path, message }) => ({ path: writtenPath(path), message }))
    return inFileOrder(input, all)
  })

/** The input itself, with a mark in place of each unreadable value. */
export const readableConfiguration = (input: unknown): Json => {
  const decoded = decode(input)
  const shape = Result.isFailure(decoded) ? faultsOf(decoded.failure.issue) : []
  return readableParts(
    input,
    shape.map(({ path }) => path)
  )
}

/**
 * The faults that rules find in the readable parts when the schema fails before any rule runs. Paths are JSON pointers.
 */
const ruleFaults = (parts: Json): ReadonlyArray<Fault> => [
  ...Object.entries(sections).flatMap(([name, schema]) => sectionFaults(parts, name, schema)),
  ...listFaults("/Webhooks", entriesOf(parts, "Webhooks"), ["Name"], repeatedEndpoints),
  ...listFaults("/Events/Types", entriesOf(parts, "Events", "Types"), ["Name"], repeatedTypes),
  ...listFaults("/Payments/Networks", entriesOf(parts, "Payments", "Networks"), ["Network"], repeatedNetworks),
  ...listFaults("/Agents/Kinds", entriesOf(parts, "Agents", "Kinds"), ["Kind", "Class"], repeatedKinds),
  ...entriesOf(parts, "Payments", "Networks").flatMap(([index, entry]) => networkFaults(index, entry))
]

const sectionFaults = (parts: Json, name: string, schema: object): ReadonlyArray<Fault> => {
  const section = parts[name]
  const found = sectionRule(schema)
  if (found === undefined || !isJson(section)) return []
  const given = found.fields.filter((key) => key in section && section[key] !== unreadable)
  const decoded = Schema.decodeUnknownResult(found.plain)(Object.fromEntries(given.map((key) => [key, section[key]])))
  if (Result.isFailure(decoded)) return []
  const marked = found.fields.filter((key) => section[key] === unreadable).map((key) => [key, unreadable])
  const values = { ...(decoded.success as Json), ...Object.fromEntries(marked) }
  const message = judged(values as never, found.rule)
  return typeof message === "string" ? [{ path: `/${name}`, message }] : []
}

/** The faults of a rule over a list. An entry with an unreadable key is skipped. */
const listFaults = <A>(
  path: string,
  entries: ReadonlyArray<readonly [number, Json]>,
  keys: ReadonlyArray<string>,
  rule: (entries: ReadonlyArray<A>) => ReadonlyArray<string>
): ReadonlyArray<Fault> => {
  const whole = entries.flatMap(([, entry]) => (keys.some((key) => entry[key] === unreadable) ? [] : [entry as A]))
  return rule(whole).map((message) => ({ path, message }))
}

const networkFaults = (index: number, entry: Json): ReadonlyArray<Fault> => {
  const at = `/Payments/Networks/${index}`
  // The rule asks only whether these keys are present.
  const given = ["AssetName", "AssetVersion", "AssetDecimals"].filter((key) => entry[key] === unreadable)
  const known = { ...entry, ...Object.fromEntries(given.map((key) => [key, "given"])) }
  return (judged(known as never, networkRule) ?? []).flatMap((issue) => {
    if (typeof issue === "string") return [{ path: at, message: issue }]
    return "path" in issue && typeof issue.issue === "string"
      ? [{ path: `${at}/${issue.path.join("/")}`, message: issue.issue }]
      : []
  })
}

/** The duplicate keys in an object of JSON text, which its parsed value no longer shows. */
export const repeatedSettings = (text: string): ReadonlyArray<Fault> =>
  repeatedKeys(text).map(({ path, message }) => ({ path: writtenPath(path), message }))

/** The same for lists in variables. */
export const repeatedInVariables = (environment: Readonly<Record<string, string | undefined>>): ReadonlyArray<Fault> =>
  environmentKeys.flatMap(({ variable }) => {
    const value = environment[variable] ?? ""
    if (!Array.isArray(environmentValue(value))) return []
    return repeatedSettings(value).map(({ path, message }) => ({ path: `${variable}${path}`, message }))
  })

const writtenPath = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/u.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./u, "")

/** A key with its environment variable: `Bus.Url` is `BUS_URL`. */
interface EnvironmentKey {
  readonly section: string
  readonly key: string
  readonly variable: string
}

/** Every key that the environment can override; the list of endpoints has none. */
export const environmentKeys: ReadonlyArray<EnvironmentKey> = Object.entries(sections).flatMap(([name, schema]) =>
  Object.keys(schemaFields(schema)).map((key) => ({
    section: name,
    key,
    variable: `${screaming(name)}_${screaming(key)}`
  }))
)

/** The text of a variable as the JSON value that its key is decoded from. */
export const environmentValue = (variable: string): unknown => {
  const value = variable.trim()
  if (/^-?\d+(\.\d+)?$/u.test(value)) return Number(value)
  if (value === "true" || value === "false") return value === "true"
  return value.startsWith("[") ? parseList(value) : value
}

function schemaFields(schema: unknown): Record<string, unknown> {
  const holder = schema as {
    readonly fields?: Record<string, unknown>
    readonly from?: unknown
    readonly schema?: unknown
  }
  return holder.fields ?? schemaFields(holder.schema ?? holder.from)
}

function screaming(name: string) {
  return name.replace(/([a-z0-9])([A-Z])/gu, "$1_$2").toUpperCase()
}

function parseList(text: string): unknown {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) ? parsed.success : text
}
