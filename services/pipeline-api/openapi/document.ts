/**
 * OpenAPI 3.1 of the pipeline's API, made from the schemas that decode its requests and from the operations' list.
 * Pure; docs/pipeline-openapi.json is written from it and a test fails when the file is stale.
 */
import { jsonContent, type JsonObject, pathParameters, pathsOf, queryParameters, refTo, refusalsOf } from "#http"
import { errorCodes } from "./error-codes.ts"
import { headers, headersOf, requestHeaders } from "./headers.ts"
import { nullInBodies, type Operation, operations } from "./operations.ts"
import { componentSchemas, queryFields } from "./schemas.ts"

export const pipelineOpenApi = (): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Starling pipeline",
    version: "1.0.0",
    description: `Work items and their releases, projects, agents and queues. ${nullInBodies}`
  },
  servers: [{ url: "/" }],
  security: [{ bearer: [] }],
  paths: pathsOf(operations, operationOf),
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "`./starling token make --role member` makes one." }
    },
    parameters: requestHeaders,
    headers,
    schemas: componentSchemas()
  }
})

const operationOf = (operation: Operation): JsonObject => ({
  operationId: operation.id,
  summary: operation.summary,
  description: operation.description,
  security: operation.scope === undefined ? [] : [{ bearer: [operation.scope] }],
  parameters: parametersOf(operation),
  ...(operation.body === undefined
    ? {}
    : {
        requestBody: {
          required: operation.body.isOptional !== true,
          content: { "application/json": { schema: refTo(operation.body.schema), example: operation.body.example } }
        }
      }),
  responses: { ...successes(operation), ...refusalsOf(errorCodes, operation.codes, headersOf), default: anyRefusal() }
})

const successes = ({ statuses = [200], summary, answer, codes }: Operation) =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: summary,
        headers: headersOf(status, codes.includes("idempotency_conflict")),
        content: jsonContent(answer === undefined ? { type: "object" } : refTo(answer))
      }
    ])
  )

const anyRefusal = () => ({
  description: "Any other refusal.",
  headers: headersOf(0),
  content: jsonContent(refTo("ErrorEnvelope"))
})

const parametersOf = ({ path, query, scope, method }: Operation): ReadonlyArray<JsonObject> => [
  ...pathParameters(path),
  ...(query === undefined ? [] : queryParameters(queryFields(query))),
  ...(scope === undefined ? [] : [{ $ref: "#/components/parameters/X-Request-Id" }]),
  ...(scope === undefined || method === "GET" ? [] : [{ $ref: "#/components/parameters/Idempotency-Key" }])
]
