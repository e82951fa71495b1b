/** A key of the configuration that may be left out, and what the page of settings says of it. */
import { Effect, Schema } from "effect"

/** `why`: what the key is for, as docs/settings.md tells it. */
export const withDefault = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Encoded"], why?: string) =>
  told(schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value))), why)

/** A key without a default. */
export const optional = <S extends Schema.Top>(schema: S, why: string) => told(Schema.optionalKey(schema), why)

/** A key that must be there. */
export const required = <S extends Schema.Top>(schema: S, why: string) => told(schema, why)

/** A section that may be left out whole: then each of its keys has its default. `rule`: what holds between keys. */
export const section = <Fields extends Schema.Struct.Fields>(
  fields: Fields,
  rule?: (section: Schema.Struct.Type<Fields>) => true | string
) => {
  const plain = Schema.Struct(fields)
  const struct = rule === undefined ? plain : plain.check(Schema.makeFilter(rule))
  return struct.pipe(Schema.withDecodingDefaultKey(Effect.succeed({} as (typeof struct)["Encoded"])))
}

// An annotation leaves the type as it is.
const told = <S extends Schema.Top>(schema: S, why: string | undefined): S =>
  why === undefined ? schema : (schema.annotateKey({ description: why }) as unknown as S)
