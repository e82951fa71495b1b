/** The headers of the operators' API, both ways, and its OpenAPI document. Pure. */
import { ConsoleHttpApi } from "#contracts/console"
import { type ApiParts, type JsonObject, openApiOf } from "#http"

export const consoleOpenApi = (): JsonObject => openApiOf(ConsoleHttpApi, consoleParts)

const text = { type: "string" }

const requestHeaders = {
  "X-Request-Id": {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description: "An id of yours, up to 128 visible ASCII characters, instead of one of ours.",
    schema: text
  }
}

const answerHeaders = {
  "X-Request-Id": { description: "The id of the request, for questions about it.", required: true, schema: text },
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    required: true,
    schema: { type: "integer", minimum: 1 }
  },
  "WWW-Authenticate": { description: "What a token must have.", required: true, schema: text }
}

const ofStatus: Readonly<Record<number, ReadonlyArray<keyof typeof answerHeaders>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

const consoleParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: ({ middlewares }) => (middlewares.size === 0 ? [] : ["X-Request-Id"]),
  givenWith: (status) => ["X-Request-Id", ...(ofStatus[status] ?? [])]
}
