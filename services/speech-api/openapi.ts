/**
 * OpenAPI 3.1 of the speech API, made from the schemas that decode the requests and from the operations' list.
 * Pure; docs/speech-openapi.json is written from it and a test fails when the file is stale.
 */
import { voicesPageMax } from "#contracts"
import { headers, headersOf, idempotencyHeaders, requestHeaders } from "./openapi-headers.ts"
import { type Operation, operations } from "./openapi-operations.ts"
import { anyRefusal, contentOf, refusalsOf } from "./openapi-responses.ts"
import { componentSchemas, type JsonObject, refTo, voicesQuery } from "./openapi-schemas.ts"
import { newestVersion } from "./version.ts"

export const openApiDocument = (): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Starling speech",
    version: newestVersion,
    description: "Text to speech: whole, streamed, and streamed with word marks."
  },
  servers: [{ url: "/" }],
  security: [{ bearer: [] }],
  paths: paths(),
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "`./starling token make` makes one." }
    },
    parameters: { ...requestHeaders, ...idempotencyHeaders },
    headers,
    schemas: componentSchemas()
  }
})

/** A path as OpenAPI writes it. */
export const templateOf = (path: string) => path.replaceAll(/:(\w+)/gu, "{$1}")

const paths = () => {
  const byPath: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const path = templateOf(operation.path)
    byPath[path] = { ...byPath[path], [operation.method.toLowerCase()]: operationOf(operation) }
  }
  return byPath
}

const operationOf = (operation: Operation): JsonObject => ({
  operationId: operation.id,
  summary: operation.summary,
  description: operation.description,
  security: operation.scopes.map((scope) => ({ bearer: [scope] })),
  parameters: parametersOf(operation),
  ...(operation.body === undefined ? {} : { requestBody: requestBodyOf(operation.body) }),
  responses: {
    [operation.status ?? 200]: {
      description: operation.summary,
      headers: headersOf(operation.status ?? 200, operation.answer, operation.isIdempotent),
      content: contentOf(operation.answer)
    },
    ...refusalsOf(operation.codes),
    default: anyRefusal()
  }
})

const requestBodyOf = ({ schema, example, isForm }: NonNullable<Operation["body"]>): JsonObject => ({
  required: true,
  content: isForm
    ? { "multipart/form-data": { schema: refTo(schema) } }
    : { "application/json": { schema: refTo(schema), example } }
})

const parametersOf = ({ path, query, scopes, isIdempotent }: Operation): ReadonlyArray<JsonObject> => [
  ...[...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" }
  })),
  ...(query === undefined ? [] : queryParameters()),
  ...(scopes.length === 0
    ? []
    : Object.keys({ ...requestHeaders, ...(isIdempotent ? idempotencyHeaders : {}) }).map((name) => ({
        $ref: `#/components/parameters/${name}`
      })))
]

const queryParameters = () =>
  Object.entries(voicesQuery()).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    // On the wire it is text; it is a number to everybody else.
    schema: name === "limit" ? { type: "integer", minimum: 1, maximum: voicesPageMax } : schema
  }))
