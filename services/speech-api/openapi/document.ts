/**
 * OpenAPI 3.1 of the speech API, made from the schemas that decode the requests and from the operations' list.
 * Pure; docs/speech-openapi.json is written from it and a test fails when the file is stale.
 */
import { audioFormats } from "#audio"
import { voicesPageMax } from "#contracts"
import { jsonContent, type JsonObject, pathParameters, pathsOf, refTo, refusalsOf } from "#http"
import { newestVersion } from "../routes/version.ts"
import {
  componentSchemas,
  errorCodes,
  headers,
  headersOf,
  idempotencyHeaders,
  leastHeaders,
  requestHeaders,
  voicesQuery
} from "./components.ts"
import { type Answer, type Operation, operations } from "./operations.ts"

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
    // On the wire it is text; readers of the document want a number.
    schema: name === "limit" ? { type: "integer", minimum: 1, maximum: voicesPageMax } : schema
  }))

/** The media types a stream may have, without their parameters. */
export const streamedTypes = () => [
  ...new Set(
    audioFormats.filter(({ isStreamable }) => isStreamable).map(({ mediaType }) => mediaType.split(";")[0] ?? "")
  )
]

const contentOf = (answer: Answer): JsonObject => {
  switch (answer._tag) {
    case "Audio":
      return Object.fromEntries(streamedTypes().map((type) => [type, {}]))
    case "Events":
      return {
        "text/event-stream": {
          schema: { description: "The data of each event, by its type.", oneOf: answer.schemas.map(refTo) }
        }
      }
    case "File":
      return Object.fromEntries(answer.mediaTypes.map((type) => [type, {}]))
    case "Empty":
      return {}
    case "Document":
      return jsonContent({ type: "object" })
    case "Json":
      return jsonContent(
        answer.bareListOf === undefined ? refTo(answer.schema) : orBareList(answer.schema, answer.bareListOf)
      )
  }
}

const orBareList = (schema: string, item: string) => ({
  oneOf: [refTo(schema), { description: "For callers of old.", type: "array", items: refTo(item) }]
})

/** The refusals that the listener makes before it knows the route. */
const anyRefusal = () => ({
  description: "Any other refusal.",
  headers: leastHeaders(),
  content: jsonContent(refTo("ErrorEnvelope"))
})
