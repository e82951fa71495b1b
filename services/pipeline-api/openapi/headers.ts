/** The headers of the API, both ways, as OpenAPI writes them. Pure data. */
import type { JsonObject } from "#http"

const text = { type: "string" }
const header = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** What callers may send. */
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

export const headers = {
  "X-Request-Id": header("The id of the request, for questions about it.", true),
  "Retry-After": header("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 }),
  "WWW-Authenticate": header("What a token must have.", true),
  "Idempotent-Replayed": header("`true` when this is the answer to an earlier request with the same key.", false),
  Location: header("Where the new one is.", true)
}

const ofStatus: Readonly<Record<number, ReadonlyArray<keyof typeof headers>>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

/** The headers of an answer with that status, as references. `isCreation`: of something with an address. */
export const headersOf = (status: number, isCreation = false): JsonObject =>
  Object.fromEntries(
    ["X-Request-Id", ...(ofStatus[status] ?? []), ...(isCreation ? ["Location", "Idempotent-Replayed"] : [])].map(
      (name) => [name, { $ref: `#/components/headers/${name}` }]
    )
  )
