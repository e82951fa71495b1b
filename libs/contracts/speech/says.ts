/** What a field is for, told beside its schema; the description of the API carries it on. */
import type { Schema } from "effect"

export const says =
  (description: string) =>
  <S extends Schema.Top>(field: S): S["Rebuild"] =>
    field.annotateKey({ description })
