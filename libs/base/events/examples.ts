/**
 * Valid examples for documents, trials and tests: an envelope of every event, and a value of any schema, made from its
 * JSON Schema. The values are simple and constant.
 */
import { Schema } from "effect"
import { eventSchemaVersion, findEvent } from "./catalogue.ts"
import type { EventDeclaration } from "./declaration.ts"

const exampleAt = "2026-11-20T12:00:00.000Z"
const exampleId = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
const exampleAtMs = 1_795_176_000_000

const workItem = {
  id: exampleId,
  externalId: "TICKET-42",
  projectId: "orchard",
  title: "Ripen the apples evenly",
  agent: "gardener",
  repositoryUrl: "https://git.example/orchard.git",
  baseBranch: "main",
  workBranch: "starling/6f1c2f0e",
  state: "Merged",
  createdAt: "2026-11-20T11:00:00.000Z",
  updatedAt: exampleAt,
  lastError: null,
  upstreamPushAttempts: 0
}
const project = { id: "orchard", displayName: "Orchard", repositoryUrl: workItem.repositoryUrl }
const release = { id: "autumn", name: "Autumn", state: "open" }

/** An example of that event's envelope; undefined for a name that is not in the catalogue. */
export const exampleEnvelope = (name: string): Record<string, unknown> | undefined => {
  const event = findEvent(name)
  if (event === undefined) return undefined
  return {
    eventSchemaVersion,
    event: name,
    occurredAt: exampleAt,
    ...(event.about === "release" ? { release } : { workItem: event.workItem === "null" ? null : workItem }),
    project: event.project === "null" ? null : project,
    details: exampleDetails(event),
    ...(event.usageIsNull ? { usage: null } : {})
  }
}

const exampleDetails = (event: EventDeclaration) => {
  if (event.details === "null" || event.details === "open") return null
  return exampleValue(event.details, { entries: 0 })
}

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly pattern?: string
  readonly minimum?: number
  readonly minItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
}

interface Making {
  /** The number of entries in a list that can be empty. */
  readonly entries: 0 | 1
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/**
 * A valid value of a schema. It has every optional field, takes the first member of a union, and supports only the
 * patterns of our contracts.
 */
export const exampleValue = (
  schema: Schema.Codec<unknown, unknown>,
  { entries }: { readonly entries: 0 | 1 } = { entries: 1 }
): unknown => {
  const document = Schema.toJsonSchemaDocument(schema)
  const definitions = document.definitions as Making["definitions"]
  return exampleOf(document.schema as JsonSchema, "", { entries, definitions })
}

const exampleOf = (schema: JsonSchema, name: string, making: Making): unknown => {
  if (schema.$ref !== undefined) {
    const of = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)
    return of === "Timestamp" ? exampleAt : exampleOf(making.definitions[of] ?? {}, name, making)
  }
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name, making)
  return exampleOfType(schema, name, making)
}

const exampleOfType = (schema: JsonSchema, name: string, making: Making): unknown => {
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, value]) => [key, exampleOf(value, key, making)])
      )
    case "array": {
      const count = Math.max(schema.minItems ?? 0, schema.items === undefined ? 0 : making.entries)
      return Array.from({ length: count }, () => exampleOf(schema.items ?? {}, name, making))
    }
    case "integer":
    case "number":
      return isInstant(name) ? exampleAtMs : 1
    case "boolean":
      return false
    case "string":
      return exampleText(schema)
    default:
      return null
  }
}

const isInstant = (name: string) => /(?:^at|At|From|Until|Reset|Deadline)Ms$/u.test(name)

const exampleText = (schema: JsonSchema) => {
  const all = [schema, ...(schema.allOf ?? [])]
  if (all.some(({ format }) => format === "uuid")) return exampleId
  const patterns = all.flatMap(({ pattern }) => pattern ?? [])
  if (patterns.some((pattern) => pattern.includes("0-9a-fA-F"))) return "0c8f6b9f2a01"
  if (patterns.some((pattern) => pattern.startsWith("^https"))) return "https://git.example/orchard/pull/7"
  return patterns.some((pattern) => pattern.startsWith("^service-")) ? "service-orchard-1" : "orchard"
}
