/** Schemas of requests and answers as an API's description has them: below `#/components/schemas/`, tidied. Pure. */
import { Schema } from "effect"

export type JsonObject = Record<string, unknown>

const refPrefix = "#/components/schemas/"

/** A reference to a component by its name. */
export const refTo = (name: string) => ({ $ref: `${refPrefix}${name}` })

/** `properties` of an object's schema, by name. */
export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

/** Every definition that the schemas bring with them, and those without a name by the key. By name, in order. */
export const componentsOf = (schemas: Readonly<Record<string, Schema.Top>>): Record<string, JsonObject> => {
  const found: Record<string, JsonObject> = {}
  for (const [key, one] of Object.entries(schemas)) {
    const { schema, definitions } = Schema.toJsonSchemaDocument(one)
    if (!("$ref" in schema)) found[key] = tidied(schema) as JsonObject
    for (const [name, definition] of Object.entries(definitions)) found[name] = tidied(definition) as JsonObject
  }
  return inOrder(found)
}

/** The fields of a query's schema, by name. */
export const fieldsOf = (schema: Schema.Top): Record<string, JsonObject> => {
  const { schema: made, definitions } = Schema.toJsonSchemaDocument(schema)
  const name = typeof made["$ref"] === "string" ? made["$ref"].split("/").at(-1) : undefined
  return propertiesOf(tidied(name === undefined ? made : (definitions[name] ?? {})))
}

export const inOrder = <A>(byName: Readonly<Record<string, A>>): Record<string, A> =>
  Object.fromEntries(Object.entries(byName).toSorted(([left], [right]) => (left < right ? -1 : 1)))

/** What a reader of the document has no use for is left out. It accepts the same values. */
const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== "object" || value === null) return value
  const flat: JsonObject = {}
  for (const [key, inner] of Object.entries(withoutAllOf(value as JsonObject))) {
    if (key === "additionalProperties" && inner === true) continue
    if (Math.abs(Number(inner)) === Number.MAX_SAFE_INTEGER) continue
    flat[key] = key === "$ref" ? String(inner).replace("#/$defs/", refPrefix) : tidied(inner)
  }
  return flat
}

/** Parts that say nothing about what the whole says are the whole's. */
const withoutAllOf = ({ allOf, ...whole }: JsonObject): JsonObject => {
  const parts = Array.isArray(allOf) ? (allOf as ReadonlyArray<JsonObject>) : []
  const left = parts.filter((part) => Object.keys(part).some((key) => key in whole))
  const merged: JsonObject = Object.assign({}, whole, ...parts.filter((part) => !left.includes(part)))
  return left.length === 0 ? merged : { ...merged, allOf: left }
}
