/**
 * The configuration: one JSON file, then environment variables over single keys (`Bus.Url` is `BUS_URL`), checked
 * completely before anything starts. Every fault is reported with its path or its variable.
 */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import {
  type ConfigurationFile,
  decodeConfiguration,
  environmentKeys,
  environmentValue,
  repeatedInVariables,
  repeatedSettings,
  removedIn,
  removedKeys
} from "./sections.ts"
import type { Fault } from "#base"
import { inFileOrder } from "./readable-parts.ts"
import { type SettingSources, settingSources } from "./effective-settings.ts"
import { Environment, InvalidConfiguration, Platform, readTextFile, Secrets } from "#runtime"

type Sections = Readonly<Record<string, unknown>>

export interface ConfigurationSource {
  readonly path: string
  /** A file named by the operator must exist; the default one can be missing. */
  readonly isRequired: boolean
  /** Defaults below the file's values: the process's own choices unless the file overrides them. */
  readonly defaults?: Readonly<Record<string, Sections>>
  /** Used in place of a missing file. */
  readonly whenMissing?: Sections
}

/** The file that the configuration was read from, and where each of its values comes from. */
export const ConfigurationOrigin = Context.Reference<{
  /** Null when there is no file. */
  readonly file: string | null
  readonly sources: SettingSources
}>("starling/runtime/ConfigurationOrigin", { defaultValue: () => ({ file: null, sources: new Map() }) })

export class Configuration extends Context.Service<Configuration, ConfigurationFile>()(
  "starling/runtime/Configuration"
) {
  static readonly layer = (source: ConfigurationSource) => Layer.effectContext(load(source))
  /** For tests: a configuration as if read from the file. */
  static readonly layerOf = (input: unknown) =>
    Layer.effectContext(
      Effect.map(
        Effect.suspend(() => check(input)),
        contextOf
      )
    )
}

/** The complete configuration for the roles, and its common part for the rooms below. */
const contextOf = (configuration: ConfigurationFile) =>
  Context.make(Configuration, configuration).pipe(Context.add(Platform, configuration))

const load = Effect.fn("Configuration.load")(function* (source: ConfigurationSource) {
  const parts = yield* partsOf(source)
  const configuration = yield* check(inputOf(parts), parts.repeated)
  yield* warnOfRemoved(parts)
  if (configuration.Bus.Password !== undefined) (yield* Secrets).add(Redacted.value(configuration.Bus.Password))
  const { isMissing, file, launcher, environment } = parts
  // The stand-in for a missing file was chosen by the launcher.
  const sources = isMissing
    ? settingSources({ launcher: withDefaults(file, launcher), file: {}, environment })
    : settingSources({ launcher, file, environment })
  return contextOf(configuration).pipe(
    Context.add(ConfigurationOrigin, { file: isMissing ? null : source.path, sources })
  )
})

/** The input of the check: the file over its defaults, and the environment over both; with duplicate keys. */
export const configurationInput = (source: ConfigurationSource) =>
  Effect.map(partsOf(source), (parts) => ({ input: inputOf(parts), repeated: parts.repeated }))

/** An upgrade must not stop a running system because of a removed key. */
const warnOfRemoved = ({ file, environment }: Sources) => {
  const found = [
    ...removedIn(file).map(({ section, key, instead }) => ({ name: `${section}.${key}`, instead })),
    ...removedKeys
      .filter(({ variable }) => (environment[variable] ?? "") !== "")
      .map(({ variable, instead }) => ({ name: variable, instead }))
  ]
  return Effect.forEach(
    found,
    ({ name, instead }) =>
      Effect.logWarning(`${name} no longer has an effect, and the next release will reject it: ${instead}`),
    { discard: true }
  )
}

interface Sources {
  readonly isMissing: boolean
  readonly file: unknown
  readonly launcher: Readonly<Record<string, Sections>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The keys that the file or a variable gives more than once. */
  readonly repeated: ReadonlyArray<Fault>
}

const inputOf = ({ file, launcher, environment }: Sources) => overlay(withDefaults(file, launcher), environment)

const partsOf = Effect.fnUntraced(function* (
  source: ConfigurationSource
): Effect.fn.Return<Sources, InvalidConfiguration> {
  const text = yield* readTextFile(source.path).pipe(
    Effect.catch((error) =>
      error.isMissing && !source.isRequired
        ? Effect.undefined
        : Effect.fail(new InvalidConfiguration({ faults: [{ path: "", message: error.message }] }))
    )
  )
  const file = text === undefined ? (source.whenMissing ?? {}) : yield* parse(source.path, text)
  const environment = yield* Environment
  const repeated = [...(text === undefined ? [] : repeatedSettings(text)), ...repeatedInVariables(environment)]
  return { isMissing: text === undefined, file, launcher: source.defaults ?? {}, environment, repeated }
})

const parse = (path: string, text: string) =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (cause) =>
      new InvalidConfiguration({
        faults: [{ path: "", message: `${path} is not JSON: ${cause instanceof Error ? cause.message : cause}` }]
      })
  })

const check = (input: unknown, repeated: ReadonlyArray<Fault> = []) => {
  const decoded = decodeConfiguration(input)
  if (Result.isSuccess(decoded) && repeated.length === 0) return Effect.succeed(decoded.success)
  const faults = Result.isFailure(decoded) ? decoded.failure : []
  return Effect.fail(new InvalidConfiguration({ faults: inFileOrder(input, [...faults, ...repeated]) }))
}

const isSections = (value: unknown): value is Sections =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const withDefaults = (file: unknown, defaults: Readonly<Record<string, Sections>>): unknown => {
  if (!isSections(file)) return file
  const merged: Record<string, unknown> = { ...file }
  for (const [name, section] of Object.entries(defaults)) {
    const given = merged[name] ?? {}
    merged[name] = isSections(given) ? { ...section, ...given } : given
  }
  return merged
}

/** Overrides the file's values with the environment's. Pure. */
export const overlay = (file: unknown, environment: Readonly<Record<string, string | undefined>>): unknown => {
  if (!isSections(file)) return file
  const merged: Record<string, unknown> = { ...file }
  for (const { section, key, variable } of environmentKeys) {
    const value = environment[variable]
    if (value === undefined || value === "") continue
    const given = merged[section] ?? {}
    if (isSections(given)) merged[section] = { ...given, [key]: environmentValue(value) }
  }
  return merged
}
