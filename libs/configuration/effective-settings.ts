/**
 * A process's settings in force: each key with its value, the value's source, and the key's reason. A key marked as
 * secret shows nothing of its value, or only the origins of its URLs. Pure.
 */
import { Redacted, Result, Schema } from "effect"
import { type ConfigurationFile, decodeConfiguration, environmentKeys, sections } from "./sections.ts"
import type { SettingSource, Shown } from "#base"
import { isJson } from "./readable-parts.ts"

/**
 * The source of each given key, and of each part of its value, by its path: `Bus.Url`, `Payments.Networks[0].PayTo`.
 */
export type SettingSources = ReadonlyMap<string, SettingSource>

export interface Setting {
  readonly key: string
  /** The environment variable that overrides the file, if the key has one. */
  readonly variable: string | null
  /** Null when it is not set, and when all of it is hidden. */
  readonly value: unknown
  readonly isSet: boolean
  /** Whether any part of the value is hidden. */
  readonly isHidden: boolean
  readonly source: SettingSource
  readonly default: unknown
  readonly why: string
}

interface Layers {
  /** As parsed, before any check. Later ones override earlier ones, key by key. */
  readonly launcher: unknown
  readonly file: unknown
  readonly environment: Readonly<Record<string, string | undefined>>
}

export const settingSources = ({ launcher, file, environment }: Layers): SettingSources => {
  const sources = new Map<string, SettingSource>()
  const given = (section: string, key: string): readonly [SettingSource, unknown] | undefined => {
    const fromFile = isJson(file) && isJson(file[section]) ? file[section][key] : undefined
    if (fromFile !== undefined) return ["file", fromFile]
    const chosen = isJson(launcher) && isJson(launcher[section]) ? launcher[section][key] : undefined
    return chosen === undefined ? undefined : ["launcher", chosen]
  }
  for (const { section, key, variable } of environmentKeys) {
    const path = `${section}.${key}`
    const text = environment[variable]
    if (text !== undefined && text !== "") {
      // For a list in a variable, all parts come from there.
      sources.set(path, "environment")
      continue
    }
    const [source, value] = given(section, key) ?? []
    if (source !== undefined) note(sources, source, path, value)
  }
  return sources
}

const note = (sources: Map<string, SettingSource>, source: SettingSource, path: string, value: unknown): void => {
  sources.set(path, source)
  if (Array.isArray(value)) value.forEach((entry, index) => note(sources, source, `${path}[${index}]`, entry))
  else if (isJson(value)) for (const [key, part] of Object.entries(value)) note(sources, source, `${path}.${key}`, part)
}

/** The parts of a schema that can hold further fields. */
interface SettingParent {
  readonly fields?: Readonly<Record<string, Schema.Top>>
  readonly to?: Schema.Top
  readonly schema?: Schema.Top
  /** The entries of a list. */
  readonly value?: Schema.Top
}

/** The fields of a schema, or those of the entries of a list; a leaf has neither. */
const partsOf = (schema: Schema.Top): Pick<SettingParent, "fields" | "value"> => {
  const holder = schema as SettingParent
  if (holder.fields !== undefined || holder.value !== undefined) return holder
  const within = holder.to ?? holder.schema
  return within === undefined ? {} : partsOf(within)
}

interface KeyFacts {
  readonly why: string
  readonly shown: Shown
}

const factsOf = (field: Schema.Top): KeyFacts => {
  const { description, shown } = Schema.resolveAnnotationsKey(field) ?? {}
  return { why: typeof description === "string" ? description : "", shown: (shown as Shown | undefined) ?? "whole" }
}

/** The facts of each key, by the path of its schema: `Bus.Url`, `Webhooks[].Name`. */
export const settingFacts = (file: Readonly<Record<string, Schema.Top>>): ReadonlyMap<string, KeyFacts> => {
  const facts = new Map<string, KeyFacts>()
  const look = (schema: Schema.Top, path: string): void => {
    const { fields, value } = partsOf(schema)
    if (value !== undefined) return look(value, `${path}[]`)
    for (const [key, field] of Object.entries(fields ?? {})) {
      facts.set(`${path}.${key}`, factsOf(field))
      look(field, `${path}.${key}`)
    }
  }
  for (const [name, section] of Object.entries(file)) look(section, name)
  return facts
}

const variables = new Map(environmentKeys.map(({ section, key, variable }) => [`${section}.${key}`, variable]))
const defaults = Result.getOrElse(decodeConfiguration({}), () => ({})) as Readonly<Record<string, unknown>>

/**
 * The settings of all sections except `Webhooks`: there can be ten thousand endpoints, and they have lists of their
 * own.
 */
export const effectiveSettings = (
  configuration: ConfigurationFile,
  sources: SettingSources
): ReadonlyArray<Setting> => {
  const all: Array<Setting> = []

  const look = (field: Schema.Top, { path, ...at }: SettingPath): void => {
    const { fields, value: entry } = partsOf(field)
    if (at.facts.shown === "whole" && fields !== undefined) {
      return lookInto(fields, { path, ...at })
    }
    const entryFields = entry === undefined ? undefined : partsOf(entry).fields
    if (at.facts.shown === "whole" && entryFields !== undefined && Array.isArray(at.value) && at.value.length > 0) {
      return at.value.forEach((value, index) =>
        lookInto(entryFields, { ...at, path: `${path}[${index}]`, value, default: undefined })
      )
    }
    all.push(settingAt({ path, ...at }, sources))
  }
  const lookInto = (fields: Readonly<Record<string, Schema.Top>>, { path, source, ...at }: SettingPath): void => {
    for (const [key, field] of Object.entries(fields)) {
      const inner = `${path}.${key}`
      look(field, {
        path: inner,
        facts: factsOf(field),
        value: partAt(at.value, key),
        default: partAt(at.default, key),
        // A variable gives all parts of its key.
        source: source === "environment" ? source : (sources.get(inner) ?? "default")
      })
    }
  }
  for (const [name, schema] of Object.entries(sections)) {
    const { fields = {} } = partsOf(schema)
    const value = partAt(configuration, name)
    lookInto(fields, { path: name, facts: factsOf(schema), value, default: defaults[name], source: "default" })
  }
  return all
}

interface SettingPath {
  readonly path: string
  readonly facts: KeyFacts
  readonly value: unknown
  readonly default: unknown
  readonly source: SettingSource
}

const partAt = (value: unknown, key: string) => (isJson(value) ? value[key] : undefined)

const settingAt = ({ path, facts, value, source, default: usual }: SettingPath, sources: SettingSources): Setting => {
  const { value: seen, isHidden } = shownValue(value, facts.shown)
  return {
    key: path,
    variable: variables.get(path) ?? null,
    value: seen,
    isSet: value !== undefined,
    isHidden,
    source: value === undefined ? "default" : (sources.get(path) ?? source),
    default: shownValue(usual, facts.shown).value,
    why: facts.why
  }
}

interface ShownValue {
  readonly value: unknown
  readonly isHidden: boolean
}

const shownValue = (value: unknown, shown: Shown): ShownValue => {
  if (value === undefined) return { value: null, isHidden: false }
  if (shown === "nothing" || holdsRedacted(value)) return { value: null, isHidden: !isEmpty(value) }
  if (shown === "whole") return { value, isHidden: false }
  if (Array.isArray(value)) {
    const all = value.map((entry) => shownValue(entry, shown))
    return { value: all.map((entry) => entry.value), isHidden: all.some(({ isHidden }) => isHidden) }
  }
  const origins = String(value).split(",").map(originOf).join(",")
  return { value: origins, isHidden: origins !== value }
}

/** Empty headers hide nothing. */
const isEmpty = (value: unknown) => isJson(value) && !Redacted.isRedacted(value) && Object.keys(value).length === 0

/** Whatever a schema redacts is a secret, marked or not. */
const holdsRedacted = (value: unknown): boolean =>
  Redacted.isRedacted(value) ||
  (Array.isArray(value) ? value.some(holdsRedacted) : isJson(value) && Object.values(value).some(holdsRedacted))

/** `https://rpc.example/…`: user, path, query and fragment can each be a key. */
const originOf = (text: string): string => {
  const trimmed = text.trim()
  const hasScheme = trimmed.includes("://")
  const written = hasScheme ? trimmed : `nats://${trimmed}`
  if (!URL.canParse(written)) return "…"
  const { protocol, host, username, password, pathname, search, hash } = new URL(written)
  const origin = hasScheme ? `${protocol}//${host}` : host
  const isOriginOnly = username === "" && password === "" && search === "" && hash === "" && /^\/?$/u.test(pathname)
  return isOriginOnly ? origin : `${origin}/…`
}
