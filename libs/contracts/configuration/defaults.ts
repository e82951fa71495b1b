/** The keys of the configuration, each with what it is for: the page of settings says it, and nobody else has to. */
import { Effect, Schema } from "effect"

/** `why`: what the key is for, as docs/settings.md tells it. */
export const withDefault = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Encoded"], why: string) =>
  told(schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value))), why)

/** A key without a default. */
export const optional = <S extends Schema.Top>(schema: S, why: string) => told(Schema.optionalKey(schema), why)

/** A key that must be there. */
export const required = <S extends Schema.Top>(schema: S, why: string) => told(schema, why)

interface RuledSection {
  /** Without its rule. */
  readonly plain: Schema.ConstraintDecoder<unknown>
  readonly fields: ReadonlyArray<string>
  readonly rule: (section: never) => true | string
}
const ruled = new WeakMap<object, RuledSection>()

/** What holds between the keys of a section, for who judges one that cannot be read whole. */
export const sectionRule = (section: object): RuledSection | undefined => ruled.get(section)

/** A section that may be left out whole: then each of its keys has its default. `rule`: what holds between keys. */
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

const told = <S extends Schema.Top>(schema: S, why: string): S["Rebuild"] => schema.annotateKey({ description: why })
