/**
 * OpenAPI 3.1 of the speech API, made from the schemas that decode the requests and from the operations' list.
 * Pure; docs/speech-openapi.json is written from it and a test fails when the file is stale.
 */
import { voicesPageMax } from "#contracts"
import { type JsonObject, pathParameters, pathsOf, refTo, refusalsOf } from "#http"
import { errorCodes } from "./openapi-errors.ts"
import { headers, headersOf, idempotencyHeaders, requestHeaders } from "./openapi-headers.ts"
import { type Operation, operations } from "./openapi-operations.ts"
import { anyRefusal, contentOf } from "./openapi-responses.ts"
import { componentSchemas, voicesQuery } from "./openapi-schemas.ts"
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
  paths: pathsOf(operations, operationOf),
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "`./starling token make --role member` makes one." }
    },
    parameters: { ...requestHeaders, ...idempotencyHeaders },
    headers,
    schemas: componentSchemas()
  }
})

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
    ...refusalsOf(errorCodes, operation.codes, headersOf),
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
  ...pathParameters(path),
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
