/** The documents that are generated from the contracts: each one's path below the root, and its content. */
import { eventCatalogue } from "../events/catalogue.ts"
import { asyncApiDocument } from "./async-api.ts"
import { eventJsonSchema, sharedJsonSchema, sharedSchemaFile } from "./event-json-schema.ts"

interface GeneratedDocument {
  readonly path: string
  readonly content: string
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export const contractDocuments = (): ReadonlyArray<GeneratedDocument> => [
  { path: "docs/asyncapi.json", content: json(asyncApiDocument()) },
  { path: `docs/events/${sharedSchemaFile}`, content: json(sharedJsonSchema()) },
  ...eventCatalogue.map((event) => ({
    path: `docs/events/${event.name}.schema.json`,
    content: json(eventJsonSchema(event))
  }))
]
