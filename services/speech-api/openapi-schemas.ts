/** The schemas of requests and answers as JSON Schema, below `#/components/schemas/`. Pure. */
import { Schema } from "effect"
import { audioFormats } from "#audio"
import {
  ConsentChallenge,
  ConsentChallengeRequest,
  DialogueRequest,
  ErrorEnvelope,
  ModelList,
  SpeechChunkEvent,
  SpeechDoneEvent,
  SpeechErrorEvent,
  speechModels,
  SpeechRequest,
  SpeechResponse,
  StreamRequest,
  Voice,
  VoiceForm,
  VoiceList,
  VoicesQuery
} from "#contracts"

export type JsonObject = Record<string, unknown>

const schemas = {
  SpeechRequest,
  StreamRequest,
  DialogueRequest,
  ConsentChallengeRequest,
  VoiceForm,
  SpeechResponse,
  SpeechChunkEvent,
  SpeechDoneEvent,
  SpeechErrorEvent,
  ModelList,
  Voice,
  VoiceList,
  ConsentChallenge,
  ErrorEnvelope
}
export type SchemaName = keyof typeof schemas

const refPrefix = "#/components/schemas/"
export const refTo = (name: string) => ({ $ref: `${refPrefix}${name}` })

/** `properties` of an object's schema, by name. */
export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

export const voicesQuery = () => propertiesOf(tidied(Schema.toJsonSchemaDocument(VoicesQuery).schema))

export const componentSchemas = (): Record<string, JsonObject> => {
  const found: Record<string, JsonObject> = {}
  for (const schema of Object.values(schemas)) {
    for (const [name, one] of Object.entries(Schema.toJsonSchemaDocument(schema).definitions)) {
      found[name] = tidied(one) as JsonObject
    }
  }
  for (const [name, isDialogue, isStream] of requests) {
    const fields = propertiesOf(found[name])
    fields["output_format"] = oneOf(fields["output_format"], formatNames(isStream))
    fields["model"] = oneOf(fields["model"], modelNames(isDialogue))
  }
  return Object.fromEntries(Object.entries(found).toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

const requests = [
  ["SpeechRequest", false, false],
  ["StreamRequest", false, true],
  ["DialogueRequest", true, false]
] as const

const formatNames = (isStream: boolean) =>
  audioFormats.filter(({ isStreamable }) => isStreamable || !isStream).map(({ name }) => name)

const modelNames = (isDialogue: boolean) =>
  speechModels.filter((model) => model.isDialogue === isDialogue).flatMap(({ id, aliases }) => [id, ...aliases])

/** The wire takes any name and says what is wrong with it; a reader wants to know which are right. */
const oneOf = (field: JsonObject | undefined, names: ReadonlyArray<string>): JsonObject => ({
  type: "string",
  enum: names,
  ...(field?.["description"] === undefined ? {} : { description: field["description"] })
})

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
