/** What an operation answers with, as OpenAPI writes it: the content of 200, and any refusal. Pure. */
import { audioFormats } from "#audio"
import { jsonContent, type JsonObject, refTo } from "#http"
import { leastHeaders } from "./openapi-headers.ts"
import type { Answer } from "./openapi-operations.ts"

/** The media types a stream may have, without their parameters. */
export const streamedTypes = () => [
  ...new Set(
    audioFormats.filter(({ isStreamable }) => isStreamable).map(({ mediaType }) => mediaType.split(";")[0] ?? "")
  )
]

export const contentOf = (answer: Answer): JsonObject => {
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

/** Of the listener itself, before it knows the route. */
export const anyRefusal = () => ({
  description: "Any other refusal.",
  headers: leastHeaders(),
  content: jsonContent(refTo("ErrorEnvelope"))
})
