/**
 * The parts of an API's OpenAPI document: schemas below `#/components/schemas/`, operations by path and method,
 * refusals from a table of codes; and the route that serves it. Pure but for the route.
 */
import { Effect, Schema } from "effect"
import { bytesAnswer } from "../answers.ts"
import { route } from "../listener/routes.ts"

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

/** `fields`: of the query's schema, by name. */
export const queryParameters = (fields: Readonly<Record<string, JsonObject>>): ReadonlyArray<JsonObject> =>
  Object.entries(fields).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema
  }))

export interface ErrorCode {
  readonly status: number
  /** When it is given: a sentence. */
  readonly when: string
}

/** Codes of the listener, the reading of tokens and bodies, and idempotency: the same for every API that uses them. */
export const commonErrorCodes = {
  validation_failed: { status: 400, when: "Fields are not valid; `fields` names each and says why." },
  unauthorized: { status: 401, when: "There is no bearer token, or it is not valid." },
  insufficient_scope: { status: 403, when: "The token lacks the scope; `details.scopes` names those that would do." },
  method_not_allowed: { status: 405, when: "The path is known, the method is not; `Allow` names those that are." },
  request_timeout: { status: 408, when: "The request did not arrive in time." },
  idempotency_conflict: {
    status: 409,
    when: "The idempotency key was used for another request, or its first one still runs."
  },
  headers_too_large: { status: 431, when: "The headers are larger than 16 kB." },
  internal_error: { status: 500, when: "A defect of ours; it has been logged with the request's id." }
} as const satisfies Record<string, ErrorCode>

/** `application/json` of a schema, as the content of a body. */
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

/** `/openapi.json`, open to everybody. The document is made once, when first asked for. */
export const descriptionRoute = (document: () => JsonObject) => {
  let made: Uint8Array | undefined
  const describe = Effect.sync(() => {
    made ??= new TextEncoder().encode(JSON.stringify(document()))
    return bytesAnswer(made, "application/json")
  })
  return route("GET", "/openapi.json", describe)
}
