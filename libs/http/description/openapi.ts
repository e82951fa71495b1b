/** The values that an OpenAPI document is made of: schemas and references to them. Pure. */
export type JsonObject = Record<string, unknown>

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
  // Generators of clients take an object of which nothing is said for an empty one.
  if (flat["type"] === "object" && !("properties" in flat) && !("additionalProperties" in flat)) {
    flat["additionalProperties"] = true
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

const text = { type: "string" }

export const answerHeader = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** The parameter of a header that callers may send, under its name. */
export const requestHeader = (name: string, description: string, schema: JsonObject = text) => ({
  [name]: { name, in: "header", required: false, description, schema }
})

/** Every API takes this header. */
export const requestIdHeader = requestHeader(
  "X-Request-Id",
  "An id of yours, up to 128 visible ASCII characters, instead of one of ours."
)

export const idempotencyKeyHeader = (description: string) =>
  requestHeader("Idempotency-Key", `A key of yours, 1 to 255 characters: ${description}`, {
    ...text,
    minLength: 1,
    maxLength: 255
  })

export const requestIdOfAnswer = answerHeader("The id of the request, for questions about it.", true)
export const retryAfter = answerHeader("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 })
export const replayed = answerHeader("`true` when this is the answer to an earlier request with the same key.", false)
