/**
 * The kinds of keys in the sections of the configuration. Each key carries its reason, which docs/settings.md prints.
 */
import { Effect, Schema } from "effect"
import { describe } from "../primitives.ts"

/** A key with a default. `why`: the key's reason, as docs/settings.md prints it. */
export const withDefault = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Encoded"], why: string) =>
  describe(why)(schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value))))

/** A key without a default. */
export const optional = <S extends Schema.Top>(schema: S, why: string) => describe(why)(Schema.optionalKey(schema))

/** A key that must be present. */
export const required = <S extends Schema.Top>(schema: S, why: string) => describe(why)(schema)

/**
 * How much of a key's value others can see: all of it, only the origins of its URLs (the rest can be a key), or
 * nothing.
 */
export type Shown = "whole" | "origins" | "nothing"

/** Marks a key whose full value is hidden from others. */
export const shownAs =
  (shown: Shown) =>
  <S extends Schema.Top>(field: S): S["Rebuild"] =>
    field.annotateKey({ shown })

interface RuledSection {
  /** The section without its rule. */
  readonly plain: Schema.ConstraintDecoder<unknown>
  readonly fields: ReadonlyArray<string>
  readonly rule: (section: never) => true | string
}
const ruled = new WeakMap<object, RuledSection>()

/** The rule between the keys of a section, for judging a section of which only some keys are readable. */
export const sectionRule = (section: object): RuledSection | undefined => ruled.get(section)

/**
 * A section that can be omitted entirely: each of its keys then has its default. `rule`: what must hold between its
 * keys.
 */
export const section = <Fields extends Schema.Struct.Fields>(
  fields: Fields,
  rule?: (section: Schema.Struct.Type<Fields>) => true | string
) => {
  const plain = Schema.Struct(fields)
  const struct = rule === undefined ? plain : plain.check(Schema.makeFilter(rule))
  const made = struct.pipe(Schema.withDecodingDefaultKey(Effect.succeed({} as (typeof struct)["Encoded"])))
  if (rule !== undefined) ruled.set(made, { plain, fields: Object.keys(fields), rule } as unknown as RuledSection)
  return made
}

export const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
export const span = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

export const EnvironmentName = Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/u))

/** A file of this machine; a relative path starts at the working folder. */
export const FilePath = Schema.String.check(Schema.isBetweenLength(1, 1_024))

/** A URL of http or https without credentials or a fragment. */
const isWebUrl = (text: string) => {
  if (!URL.canParse(text)) return "not a URL"
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return "only https and http URLs can be called"
  if (url.username !== "" || url.password !== "") return "a URL with credentials is refused: sign with SecretEnvVar"
  return url.hash === "" ? true : "a URL to call has no fragment"
}

export const WebUrl = Schema.String.check(Schema.isMaxLength(2_048), Schema.makeFilter(isWebUrl))

const cidr =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}\/(?:[12]?\d|3[0-2])|[0-9a-fA-F.]*:[0-9a-fA-F:.]*\/(?:\d{1,2}|1[01]\d|12[0-8]))$/u

/** A network: an address and how many of its bits count. */
export const Cidr = Schema.String.check(Schema.isPattern(cidr))

/** An origin as browsers write it: `https://app.example.com`. */
const isOrigin = (text: string) => {
  const url = URL.canParse(text) && !text.includes("*") ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "neither * nor an origin of https or http"
  }
  return url.origin === text ? true : `an origin is written as browsers do: ${url.origin}`
}

const origins = (isOne: (text: string) => true | string) =>
  Schema.Array(Schema.String.check(Schema.isMaxLength(512), Schema.makeFilter(isOne))).check(Schema.isMaxLength(64))

/** The origins whose pages can call one of our APIs from a browser; `*` for every page. */
export const AllowedOrigins = origins((text) => text === "*" || isOrigin(text))

/** The origins under which one of our own pages is reachable. */
export const OwnOrigins = origins((text) => (text === "*" ? "an own origin is none of all" : isOrigin(text)))

/** `launcher`: chosen by whatever started the process, as `./starling up` does for the local world. */
export const settingSourceNames = ["default", "launcher", "file", "environment"] as const
export type SettingSource = (typeof settingSourceNames)[number]
