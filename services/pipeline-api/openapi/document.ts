/**
 * OpenAPI 3.1 of the pipeline's API, made from the schemas that decode its requests and from the operations' list.
 * Pure; docs/pipeline-openapi.json is written from it and a test fails when the file is stale.
 */
import { type ErrorCodeName, errorCodes } from "./error-codes.ts"
import { headers, headersOf, requestHeaders } from "./headers.ts"
import { type Operation, operations } from "./operations.ts"
import { componentSchemas, type JsonObject, queryFields, refTo } from "./schemas.ts"

export const pipelineOpenApi = (): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Starling pipeline",
    version: "1.0.0",
    description: "Work items and their releases, projects, agents and queues."
  },
  servers: [{ url: "/" }],
  security: [{ bearer: [] }],
  paths: paths(),
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "`./starling token make` makes one." }
    },
    parameters: requestHeaders,
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

const json = (schema: JsonObject) => ({ "application/json": { schema } })

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
  responses: { ...successes(operation), ...refusals(operation.codes), default: refusal("Any other refusal.", 0) }
})

const successes = ({ statuses = [200], summary, answer, codes }: Operation) =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: summary,
        headers: headersOf(status, codes.includes("idempotency_conflict")),
        content: json(answer === undefined ? { type: "object" } : refTo(answer))
      }
    ])
  )

const refusals = (codes: ReadonlyArray<ErrorCodeName>): JsonObject => {
  const statuses = [...new Set(codes.map((code) => errorCodes[code].status))].toSorted((left, right) => left - right)
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => errorCodes[code].status === status)
      return [status, refusal(own.map((code) => `\`${code}\`: ${errorCodes[code].when}`).join(" "), status, own)]
    })
  )
}

const refusal = (description: string, status: number, codes: ReadonlyArray<ErrorCodeName> = []): JsonObject => {
  const only = { properties: { error: { properties: { code: { enum: codes } } } } }
  const schema = codes.length === 0 ? refTo("ErrorEnvelope") : { allOf: [refTo("ErrorEnvelope"), only] }
  return { description, headers: headersOf(status), content: json(schema) }
}

const parametersOf = ({ path, query, scope, method }: Operation): ReadonlyArray<JsonObject> => [
  ...[...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" }
  })),
  ...(query === undefined
    ? []
    : Object.entries(queryFields(query)).map(([name, { description, ...schema }]) => ({
        name,
        in: "query",
        required: false,
        description,
        schema
      }))),
  ...(scope === undefined ? [] : [{ $ref: "#/components/parameters/X-Request-Id" }]),
  ...(scope === undefined || method === "GET" ? [] : [{ $ref: "#/components/parameters/Idempotency-Key" }])
]
