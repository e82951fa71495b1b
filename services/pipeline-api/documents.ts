/**
 * The documentation of the pipeline's API: its OpenAPI document with the headers of requests and responses, and its
 * reference as a page. Pure.
 */
import { nullInBodies, pipelineErrorCodes, PipelineHttpApi } from "#pipeline/api"
import {
  answerHeader,
  apiDocuments,
  type ApiParts,
  idempotencyKeyHeader,
  replayed,
  requestIdHeader,
  requestIdOfAnswer,
  retryAfter
} from "#http"

export { pipelineMetrics } from "./metrics.ts"

export const pipelineDocuments = apiDocuments(() => ({
  api: PipelineHttpApi,
  parts: pipelineParts,
  product: "pipeline",
  alsoSee: "Runners and internal services speak to the pipeline over the bus: [asyncapi.json](asyncapi.json).",
  title: "The pipeline API",
  introduction: [
    "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
      "`$TOKEN`, and the address from `$PIPELINE`. They name a project, which this makes first:",
    makeProject,
    nullInBodies
  ],
  errorCodes: pipelineErrorCodes,
  address: "$PIPELINE"
}))

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

/** Creations: the same key gives the same entity, which has an address. */
const creations: ReadonlyArray<string> = ["createWorkItem", "createRelease"]

const pipelineParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: ({ method, middlewares }) => {
    if (middlewares.size === 0) return []
    return method === "GET" ? ["X-Request-Id"] : ["X-Request-Id", "Idempotency-Key"]
  },
  headersWith: (status, endpoint) => [
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
