/**
 * OpenAPI 3.1 of the pipeline's API, made from the schemas that decode its requests and from the operations' list.
 * Pure; docs/pipeline-openapi.json is written from it and a test fails when the file is stale.
 */
import {
  AgentPage,
  AgentsQuery,
  AgentView,
  AnswerQuestionRequest,
  CancelWorkItemQuery,
  CancelWorkItemRequest,
  CreateReleaseRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
  ErrorEnvelope,
  HistoryPage,
  HistoryQuery,
  PauseAgentRequest,
  PauseQueueRequest,
  ProjectPage,
  ProjectsQuery,
  ProjectView,
  PutProjectRequest,
  QueueView,
  ReleaseChangeRequest,
  ReleasePage,
  ReleasesQuery,
  ReleaseView,
  RestoreAgentRequest,
  ResumeAgentRequest,
  ResumeQueueRequest,
  SuggestionView,
  WorkItemPage,
  WorkItemsQuery,
  WorkItemView
} from "#contracts"
import {
  componentsOf,
  fieldsOf,
  jsonContent,
  type JsonObject,
  pathParameters,
  pathsOf,
  queryParameters,
  refTo,
  refusalsOf
} from "#http"
import { errorCodes } from "./error-codes.ts"
import { nullInBodies, type Operation, operations } from "./operations.ts"

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

// The schemas of requests and answers, below `#/components/schemas/`.

const schemas = {
  CreateWorkItemRequest,
  AnswerQuestionRequest,
  DismissQuestionRequest,
  CancelWorkItemRequest,
  DelegateWorkItemRequest,
  CreateReleaseRequest,
  ReleaseChangeRequest,
  PutProjectRequest,
  PauseQueueRequest,
  ResumeQueueRequest,
  PauseAgentRequest,
  ResumeAgentRequest,
  RestoreAgentRequest,
  WorkItemView,
  WorkItemPage,
  HistoryPage,
  Suggestion: SuggestionView,
  ReleaseView,
  ReleasePage,
  ProjectView,
  ProjectPage,
  QueueView,
  AgentView,
  AgentPage,
  ErrorEnvelope
}
export type SchemaName = keyof typeof schemas

const queries = { AgentsQuery, CancelWorkItemQuery, HistoryQuery, ProjectsQuery, ReleasesQuery, WorkItemsQuery }
export type QueryName = keyof typeof queries

/** The parameters of a query, by name. */
export const queryFields = (name: QueryName) => fieldsOf(queries[name])

export const componentSchemas = () => componentsOf(schemas)

// The headers of the API, both ways.

const text = { type: "string" }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** What callers may send. */
export const requestHeaders = {
  "X-Request-Id": {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description: "An id of yours, up to 128 visible ASCII characters, instead of one of ours.",
    schema: text
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "A key of yours, 1 to 255 characters: a request that is repeated with it is carried out once.",
    schema: { type: "string", minLength: 1, maxLength: 255 }
  }
}

export const headers = {
  "X-Request-Id": header("The id of the request, for questions about it.", true),
  "Retry-After": header("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 }),
  "WWW-Authenticate": header("What a token must have.", true),
  "Idempotent-Replayed": header("`true` when this is the answer to an earlier request with the same key.", false),
  Location: header("Where the new one is.", true)
}

const ofStatus: Readonly<Record<number, ReadonlyArray<keyof typeof headers>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

/** The headers of an answer with that status, as references. `isCreation`: of something with an address. */
const headersOf = (status: number, isCreation = false): JsonObject =>
  Object.fromEntries(
    ["X-Request-Id", ...(ofStatus[status] ?? []), ...(isCreation ? ["Location", "Idempotent-Replayed"] : [])].map(
      (name) => [name, { $ref: `#/components/headers/${name}` }]
    )
  )
