/** The headers of the pipeline's API, both ways, and its OpenAPI document. Pure. */
import { PipelineHttpApi } from "#contracts/pipeline-api"
import { type ApiParts, type JsonObject, openApiOf } from "#http"

export const pipelineOpenApi = (): JsonObject => openApiOf(PipelineHttpApi, pipelineParts)

const text = { type: "string" }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** Headers that callers may send. */
export const requestHeaders = {
  "X-Request-Id": {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description: "An id of yours, up to 128 visible ASCII characters, instead of one of ours.",
    schema: text
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "A key of yours, 1 to 255 characters: a request that is repeated with it is carried out once.",
    schema: { type: "string", minLength: 1, maxLength: 255 }
  }
}

export const answerHeaders = {
  "X-Request-Id": header("The id of the request, for questions about it.", true),
  "Retry-After": header("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 }),
  "WWW-Authenticate": header("What a token must have.", true),
  "Idempotent-Replayed": header("`true` when this is the answer to an earlier request with the same key.", false),
  Location: header("Where the new one is.", true)
}

const ofStatus: Readonly<Record<number, ReadonlyArray<keyof typeof answerHeaders>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

/** Creations: the same key answers with the same entity, which has an address. */
const creations: ReadonlyArray<string> = ["createWorkItem", "createRelease"]

const pipelineParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: ({ method, middlewares }) => {
    if (middlewares.size === 0) return []
    return method === "GET" ? ["X-Request-Id"] : ["X-Request-Id", "Idempotency-Key"]
  },
  givenWith: (status, endpoint) => [
    "X-Request-Id",
    ...(ofStatus[status] ?? []),
    ...(status === 201 && creations.includes(endpoint?.identifier ?? "") ? ["Location", "Idempotent-Replayed"] : [])
  ]
}
