/** The values that an OpenAPI document is made of: schemas and references to them. Pure. */
export type JsonObject = Record<string, unknown>

/** A reference to a component by its name. */
export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** `properties` of an object's schema, by name. */
export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

export const inOrder = <A>(byName: Readonly<Record<string, A>>): Record<string, A> =>
  Object.fromEntries(Object.entries(byName).toSorted(([left], [right]) => (left < right ? -1 : 1)))

/**
 * The document without parts that help no reader, and with what `documentedAs` says of a field. Otherwise it accepts
 * the same values.
 */
export const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== "object" || value === null) return value
  const flat: JsonObject = {}
  for (const [key, inner] of Object.entries(withoutAllOf(value as JsonObject))) {
    // Unknown fields of a request are dropped, and an answer may gain fields.
    if (key === "additionalProperties" && typeof inner === "boolean") continue
    if (Math.abs(Number(inner)) === Number.MAX_SAFE_INTEGER) continue
    flat[key] = tidied(inner)
  }
  const { documentedAs, description } = flat
  if (documentedAs === undefined) return flat
  return { ...(documentedAs as JsonObject), ...(description === undefined ? {} : { description }) }
}

/** Annotations of schemas that documents know beside those of JSON Schema. */
export const isDocumented = (annotation: string) => annotation === "documentedAs"

/** Merges each part of `allOf` into the whole that shares no key with it. */
const withoutAllOf = ({ allOf, ...whole }: JsonObject): JsonObject => {
  const parts = Array.isArray(allOf) ? (allOf as ReadonlyArray<JsonObject>) : []
  const left = parts.filter((part) => Object.keys(part).some((key) => key in whole))
  const merged: JsonObject = Object.assign({}, whole, ...parts.filter((part) => !left.includes(part)))
  return left.length === 0 ? merged : { ...merged, allOf: left }
}

/** A body of `application/json` with this schema. */
export const jsonContent = (schema: JsonObject) => ({ "application/json": { schema } })
