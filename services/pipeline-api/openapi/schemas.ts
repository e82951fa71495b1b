/** The schemas of requests and answers as JSON Schema, below `#/components/schemas/`. Pure. */
import { Schema } from "effect"
import {
  AgentPage,
  AgentsQuery,
  AgentView,
  AnswerQuestionRequest,
  CancelWorkItemRequest,
  CreateReleaseRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
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

export type JsonObject = Record<string, unknown>

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
  AgentPage
}
export type SchemaName = keyof typeof schemas

const queries = { AgentsQuery, CancelWorkItemRequest, HistoryQuery, ProjectsQuery, ReleasesQuery, WorkItemsQuery }
export type QueryName = keyof typeof queries

const refPrefix = "#/components/schemas/"
export const refTo = (name: string) => ({ $ref: `${refPrefix}${name}` })

export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

/** The parameters of a query, by name. */
export const queryFields = (name: QueryName): Record<string, JsonObject> => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(queries[name])
  return propertiesOf(tidied("$ref" in schema ? (definitions[name] ?? {}) : schema))
}

/** As every refusal of the API is written. */
const errorEnvelope: JsonObject = {
  type: "object",
  required: ["error", "request_id"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", description: "Go by it, not by the message." },
        message: { type: "string" },
        fields: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "Every fault by the path of its field."
        },
        details: { type: "object" },
        docs_url: { type: "string" }
      }
    },
    request_id: { type: "string", description: "Also in the header X-Request-Id." }
  }
}

export const componentSchemas = (): Record<string, JsonObject> => {
  const found: Record<string, JsonObject> = { ErrorEnvelope: errorEnvelope }
  for (const schema of Object.values(schemas)) {
    for (const [name, one] of Object.entries(Schema.toJsonSchemaDocument(schema).definitions)) {
      found[name] = tidied(one) as JsonObject
    }
  }
  return Object.fromEntries(Object.entries(found).toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

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
