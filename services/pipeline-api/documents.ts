/** The pipeline's API described: its OpenAPI document with the headers, both ways, and its reference as a page. Pure. */
import { nullInBodies, pipelineErrorCodes, PipelineHttpApi } from "#pipeline/api"
import {
  answerHeader,
  apiPage,
  type ApiParts,
  idempotencyKeyHeader,
  type JsonObject,
  openApiOf,
  replayed,
  requestIdHeader,
  requestIdOfAnswer,
  retryAfter
} from "#http"

export { pipelineMetrics } from "./metrics.ts"

export const pipelineOpenApi = (): JsonObject => openApiOf(PipelineHttpApi, pipelineParts)

/** Headers that callers may send. */
const requestHeaders = {
  ...requestIdHeader,
  ...idempotencyKeyHeader("a request that is repeated with it is carried out once.")
}

const answerHeaders = {
  "X-Request-Id": requestIdOfAnswer,
  "Retry-After": retryAfter,
  "WWW-Authenticate": answerHeader("What a token must have.", true),
  "Idempotent-Replayed": replayed,
  Location: answerHeader("Where the new one is.", true)
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
    ...(status === 201 && creations.includes(endpoint?.identifier ?? "") ? ["Location", "Idempotent-Replayed"] : [])
  ]
}

const makeProject = `\`\`\`sh
curl "$PIPELINE/projects/gates" \\
  -X PUT \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"displayName":"Gates","repositoryUrl":"https://git.example/gates"}'
\`\`\``

/** `machines`: the line that links to the machine-readable document. */
const pageWith = (machines: string) =>
  apiPage({
    title: "The pipeline API",
    introduction: [
      machines,
      "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
        "`$TOKEN`, and the address from `$PIPELINE`. They name a project, which this makes first:",
      makeProject,
      nullInBodies
    ],
    document: pipelineOpenApi(),
    errorCodes: pipelineErrorCodes,
    address: "$PIPELINE"
  })

/** The page among the documents. */
export const pipelinePage = (): string =>
  pageWith(
    "Made from the declaration in `libs/pipeline/contract/api` by `./starling docs`. The same for machines: " +
      "[pipeline-openapi.json](pipeline-openapi.json), and `GET /openapi.json` of a running fleet. Runners and internal " +
      "services speak to the pipeline over the bus: [asyncapi.json](asyncapi.json)."
  )

/** The page that the API itself serves. */
export const servedPage = (): string => pageWith("The same for machines: [openapi.json](openapi.json).")
