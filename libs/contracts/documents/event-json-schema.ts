/**
 * JSON Schema 2020-12 of each event's envelope, made from the schemas that decode it. Definitions that events share
 * (work item, project, usage, ...) stand once, at `refPrefix`.
 */
import { Schema } from "effect"
import { envelopeSchema } from "../events/Envelope.ts"
import { eventCatalogue } from "../events/catalogue.ts"
import type { EventDeclaration } from "../events/declaration.ts"

type JsonObject = Record<string, unknown>

const dialect = "https://json-schema.org/draft/2020-12/schema"

/** The file of the definitions that events share. */
export const sharedSchemaFile = "shared.schema.json"

const documentOf = (event: EventDeclaration) => Schema.toJsonSchemaDocument(envelopeSchema(event))

const withRefs = (schema: unknown, refPrefix: string): JsonObject =>
  JSON.parse(JSON.stringify(schema).replaceAll("#/$defs/", refPrefix)) as JsonObject

/** The schema of one event; its references point below `refPrefix`. */
export const eventJsonSchema = (event: EventDeclaration, refPrefix = `${sharedSchemaFile}#/$defs/`): JsonObject => ({
  $schema: dialect,
  $id: `${event.name}.schema.json`,
  title: event.name,
  description: `Sent when ${event.firedWhen}.`,
  ...withRefs(documentOf(event).schema, refPrefix)
})

/** The schema of one event with its definitions: it refers to nothing outside. */
export const wholeEventSchema = (event: EventDeclaration): JsonObject => ({
  ...eventJsonSchema(event, "#/$defs/"),
  $defs: documentOf(event).definitions
})

/** The definitions that the events' schemas refer to, by name. */
export const sharedDefinitions = (refPrefix = "#/$defs/"): JsonObject => {
  const definitions: JsonObject = {}
  for (const event of eventCatalogue) Object.assign(definitions, documentOf(event).definitions)
  return withRefs(definitions, refPrefix)
}

export const sharedJsonSchema = (): JsonObject => ({
  $schema: dialect,
  $id: sharedSchemaFile,
  title: "What the events share",
  $defs: sharedDefinitions()
})
