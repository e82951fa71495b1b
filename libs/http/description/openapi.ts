/**
 * The parts of an API's OpenAPI document: schemas below `#/components/schemas/`, operations by path and method,
 * refusals from a table of codes. Pure.
 */
import { Schema } from "effect"
import type { ErrorCode } from "#contracts"

export type JsonObject = Record<string, unknown>

const refPrefix = "#/components/schemas/"

/** A reference to a component by its name. */
export const refTo = (name: string) => ({ $ref: `${refPrefix}${name}` })

/** `properties` of an object's schema, by name. */
export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

/** Every definition that the schemas bring with them, and schemas without a name by their key. By name, in order. */
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
    flat[key] = key === "$ref" ? String(inner).replace("#/$defs/", refPrefix) : tidied(inner)
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

/** A path as OpenAPI writes it: `/v1/items/{id}`. */
export const templateOf = (path: string) => path.replaceAll(/:(\w+)/gu, "{$1}")

export const pathsOf = <Operation extends { readonly method: string; readonly path: string }>(
  operations: ReadonlyArray<Operation>,
  describe: (operation: Operation) => JsonObject
): JsonObject => {
  const byPath: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const path = templateOf(operation.path)
    byPath[path] = { ...byPath[path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return byPath
}

export const pathParameters = (path: string): ReadonlyArray<JsonObject> =>
  [...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }))

/** `fields`: the fields of the query's schema, by name. */
export const queryParameters = (fields: Readonly<Record<string, JsonObject>>): ReadonlyArray<JsonObject> =>
  Object.entries(fields).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema
  }))

/** A body of `application/json` with this schema. */
export const jsonContent = (schema: JsonObject) => ({ "application/json": { schema } })

/** Responses by status, each with the codes it may carry in an `ErrorEnvelope`. */
export const refusalsOf = <Code extends string>(
  table: Readonly<Record<Code, ErrorCode>>,
  codes: ReadonlyArray<Code>,
  headersOf: (status: number) => JsonObject
): JsonObject => {
  const statuses = [...new Set(codes.map((code) => table[code].status))].toSorted((left, right) => left - right)
  const refusal = (status: number) => {
    const own = codes.filter((code) => table[code].status === status)
    const only = { properties: { error: { properties: { code: { enum: own } } } } }
    return {
      description: own.map((code) => `\`${code}\`: ${table[code].when}`).join(" "),
      headers: headersOf(status),
      content: jsonContent({ allOf: [refTo("ErrorEnvelope"), only] })
    }
  }
  return Object.fromEntries(statuses.map((status) => [status, refusal(status)]))
}
