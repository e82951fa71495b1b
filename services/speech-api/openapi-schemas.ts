/** The schemas of requests and answers as JSON Schema, below `#/components/schemas/`. Pure. */
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
import { componentsOf, fieldsOf, type JsonObject, propertiesOf } from "#http"

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

export const voicesQuery = () => fieldsOf(VoicesQuery)

export const componentSchemas = (): Record<string, JsonObject> => {
  const found = componentsOf(schemas)
  for (const [name, isDialogue, isStream] of requests) {
    const fields = propertiesOf(found[name])
    fields["output_format"] = oneOf(fields["output_format"], formatNames(isStream))
    fields["model"] = oneOf(fields["model"], modelNames(isDialogue))
  }
  return found
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
