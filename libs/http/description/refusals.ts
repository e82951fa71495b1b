/** What an API refuses with, as OpenAPI writes it, from a table of its codes; and the codes of the room itself. Pure. */
import type { JsonObject } from "./json-schema.ts"
import { refTo } from "./json-schema.ts"

export interface ErrorCode {
  readonly status: number
  /** When it is given: a sentence. */
  readonly when: string
}

/** Of the listener, the reading of tokens and bodies, and idempotency: the same for every API that uses them. */
export const commonErrorCodes = {
  validation_failed: { status: 400, when: "Fields are not valid; `fields` names each and says why." },
  unauthorized: { status: 401, when: "There is no bearer token, or it is not valid." },
  insufficient_scope: { status: 403, when: "The token lacks the scope; `details.scopes` names those that would do." },
  method_not_allowed: { status: 405, when: "The path is known, the method is not; `Allow` names those that are." },
  request_timeout: { status: 408, when: "The request did not arrive in time." },
  idempotency_conflict: {
    status: 409,
    when: "The idempotency key was used for another request, or its first one still runs."
  },
  headers_too_large: { status: 431, when: "The headers are larger than 16 kB." },
  internal_error: { status: 500, when: "A defect of ours; it has been logged with the request's id." }
} as const satisfies Record<string, ErrorCode>

/** `application/json` of a schema, as the content of a body. */
export const jsonContent = (schema: JsonObject) => ({ "application/json": { schema } })

/** Responses by status, each with the codes it may carry in an `ErrorEnvelope`. */
export const refusalsOf = <Code extends string>(
  table: Readonly<Record<Code, ErrorCode>>,
  codes: ReadonlyArray<Code>,
  headersOf: (status: number) => JsonObject
): JsonObject => {
  const statuses = [...new Set(codes.map((code) => table[code].status))].toSorted((left, right) => left - right)
  const refusal = (status: number) => {
    const own = codes.filter((code) => table[code].status === status)
    const only = { properties: { error: { properties: { code: { enum: own } } } } }
    return {
      description: own.map((code) => `\`${code}\`: ${table[code].when}`).join(" "),
      headers: headersOf(status),
      content: jsonContent({ allOf: [refTo("ErrorEnvelope"), only] })
    }
  }
  return Object.fromEntries(statuses.map((status) => [status, refusal(status)]))
}
