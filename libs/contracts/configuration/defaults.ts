/** A key of the configuration that may be left out. */
import { Effect, Schema } from "effect"

export const withDefault = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** A section that may be left out whole: then each of its keys has its default. */
export const section = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const struct = Schema.Struct(fields)
  return struct.pipe(Schema.withDecodingDefaultKey(Effect.succeed({} as (typeof struct)["Encoded"])))
}
