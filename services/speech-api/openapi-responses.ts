/** What an operation answers with, as OpenAPI writes it: the content of 200 and every refusal by its status. Pure. */
import { audioFormats } from "#audio"
import { type ErrorCodeName, errorCodes } from "./openapi-errors.ts"
import { headersOf, leastHeaders } from "./openapi-headers.ts"
import type { Answer } from "./openapi-operations.ts"
import { type JsonObject, refTo } from "./openapi-schemas.ts"

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
      return json({ type: "object" })
    case "Json":
      return json(answer.bareListOf === undefined ? refTo(answer.schema) : orBareList(answer.schema, answer.bareListOf))
  }
}

const orBareList = (schema: string, item: string) => ({
  oneOf: [refTo(schema), { description: "For callers of old.", type: "array", items: refTo(item) }]
})

const json = (schema: JsonObject) => ({ "application/json": { schema } })

export const refusalsOf = (codes: ReadonlyArray<ErrorCodeName>): JsonObject => {
  const statuses = [...new Set(codes.map((code) => errorCodes[code].status))].toSorted((left, right) => left - right)
  return Object.fromEntries(statuses.map((status) => [status, refusalOf(status, codes)]))
}

const refusalOf = (status: number, codes: ReadonlyArray<ErrorCodeName>) => {
  const own = codes.filter((code) => errorCodes[code].status === status)
  const only = { properties: { error: { properties: { code: { enum: own } } } } }
  return {
    description: own.map((code) => `\`${code}\`: ${errorCodes[code].when}`).join(" "),
    headers: headersOf(status),
    content: json({ allOf: [refTo("ErrorEnvelope"), only] })
  }
}

/** Of the listener itself, before it knows the route. */
export const anyRefusal = () => ({
  description: "Any other refusal.",
  headers: leastHeaders(),
  content: json(refTo("ErrorEnvelope"))
})
