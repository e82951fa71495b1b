/** A field of a body that may be left out. Null is the same as leaving it out, in every body of the API. */
import { Schema } from "effect"

export const mayBeLeftOut = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
