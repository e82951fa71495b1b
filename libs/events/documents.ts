/** What documents say of a declared event type: the schema of its whole envelope, and an example of it. Pure. */
import { Schema } from "effect"
import { Envelope } from "#base"
import type { EventType } from "./event-types.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** The file that its details' schema has; references within it are relative to that. */
export const detailsSchemaFile = (name: string): string => `${name}.details.schema.json`

/** The JSON Schema of its envelope, without external references. */
export const envelopeSchemaOf = ({
  name,
  description,
  schema: details
}: Pick<EventType, "name" | "description" | "schema">): JsonObject => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Envelope)
  const {
    properties,
    required = [],
    ...rest
  } = schema as {
    readonly properties: JsonObject
    readonly required?: ReadonlyArray<string>
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${name}.schema.json`,
    title: name,
    ...(description === undefined ? {} : { description }),
    ...rest,
    properties: {
      ...properties,
      event: { const: name },
      ...(details === undefined ? {} : { details: { ...details, $id: detailsSchemaFile(name) } })
    },
    required: details === undefined ? required : [...new Set([...required, "details"])],
    $defs: definitions
  }
}

// As the examples of the fleet's own events.
const exampleAt = "2026-11-20T12:00:00.000Z"

/** An envelope of it with its example as details; of a type that has none, with details that its schema may refuse. */
export const exampleEnvelopeOf = (
  { name, schemaVersion, schema, example }: Pick<EventType, "name" | "schemaVersion" | "schema" | "example">,
  occurredAt: string = exampleAt
): JsonObject => ({
  eventSchemaVersion: schemaVersion,
  event: name,
  occurredAt,
  details: example ?? (schema === undefined ? null : {})
})
