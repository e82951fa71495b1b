/** An API's operations by path and method, as OpenAPI writes them. Pure. */
import type { JsonObject } from "./json-schema.ts"

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
