/**
 * A good envelope of every event, made from its schema: for the documents, for trying things out, and for
 * tests. Values are plain and always the same.
 */
import { Schema } from "effect"
import { findEvent } from "../events/catalogue.ts"
import type { EventDeclaration } from "../events/declaration.ts"
import { eventSchemaVersion } from "../events/schema-version.ts"

const at = "2026-11-20T12:00:00.000Z"

const workItem = {
  id: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  externalId: "TICKET-42",
  projectId: "orchard",
  title: "Ripen the apples evenly",
  agent: "gardener",
  repositoryUrl: "https://git.example/orchard.git",
  baseBranch: "main",
  workBranch: "starling/6f1c2f0e",
  state: "Merged",
  createdAt: "2026-11-20T11:00:00.000Z",
  updatedAt: at,
  lastError: null,
  upstreamPushAttempts: 0
}
const project = { id: "orchard", displayName: "Orchard", repositoryUrl: workItem.repositoryUrl }
const release = { id: "autumn", name: "Autumn", state: "open" }

/** Undefined for a name that is not in the catalogue. */
export const exampleEnvelope = (name: string): Record<string, unknown> | undefined => {
  const event = findEvent(name)
  if (event === undefined) return undefined
  return {
    eventSchemaVersion,
    event: name,
    occurredAt: at,
    ...(event.about === "release" ? { release } : { workItem: event.workItem === "null" ? null : workItem }),
    project: event.project === "null" ? null : project,
    details: exampleDetails(event),
    ...(event.usageIsNull ? { usage: null } : {})
  }
}

const exampleDetails = (event: EventDeclaration) => {
  if (event.details === "null" || event.details === "open") return null
  const document = Schema.toJsonSchemaDocument(event.details)
  return exampleOf(document.schema as JsonSchema)
}

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly pattern?: string
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
}

const exampleOf = (schema: JsonSchema): unknown => {
  if (schema.$ref === "#/$defs/Timestamp") return at
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {})
  switch (schema.type) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, exampleOf(value)]))
    case "array":
      return []
    case "integer":
    case "number":
      return 1
    case "boolean":
      return false
    case "string":
      return exampleText(schema)
    default:
      return null
  }
}

const exampleText = (schema: JsonSchema) => {
  const all = [schema, ...(schema.allOf ?? [])]
  if (all.some((part) => part.pattern?.includes("0-9a-fA-F"))) return "0c8f6b9f2a01"
  return all.some((part) => part.pattern === "^service-") ? "service-orchard-1" : "orchard"
}
