/** What all our APIs share beside their routes: scopes and permissions; the common refusals, and their body. */
import { Schema } from "effect"
import { describe } from "../primitives.ts"

export const apiScopes = [
  "audio:speech",
  "audio:stream",
  "console:operate",
  "console:read",
  "console:write",
  "events:publish",
  "payloads:read",
  "pipeline:operate",
  "pipeline:read",
  "pipeline:write",
  "tokens:manage",
  "voices:create",
  "voices:delete",
  "voices:read"
] as const
export type ApiScope = (typeof apiScopes)[number]

/** Scopes that act within the caller's own workspace. All others, including new ones, reach the entire fleet. */
export const workspaceScopes: ReadonlyArray<ApiScope> = [
  "audio:speech",
  "audio:stream",
  "tokens:manage",
  "voices:create",
  "voices:delete",
  "voices:read"
]

/** A right of roles. Service accounts have no role of their own: only their scopes decide. */
export type Permission = "content.manage"

/** Bearer tokens: a label fits on one line of a list, and a lifetime beyond ten years is expressed as none. */
export const tokenLimits = { labelCharactersMax: 100, scopesMax: 50, lifetimeMsMax: 3_650 * 86_400_000 } as const

/** A forgotten token expires by itself; a user in need of one makes another in time. */
export const tokenLifetimeMsDefault = 90 * 86_400_000

export interface ErrorCode {
  readonly status: number
  /** The kind of error that the envelope gives beside the code, if any. */
  readonly type?: string
  /** When the code is given: a sentence. */
  readonly when: string
  /** Headers that each refusal with the code has. */
  readonly headers?: ReadonlyArray<string>
}

/** Codes of the listener, of tokens and bodies, and of idempotency: the same for every API that uses them. */
export const commonErrorCodes = {
  validation_failed: { status: 400, when: "Fields are not valid; `fields` names them, at most 50, and says why." },
  unauthorized: {
    status: 401,
    when: "There is no bearer token, or it is not valid.",
    headers: ["WWW-Authenticate"]
  },
  insufficient_scope: {
    status: 403,
    when: "The token lacks the scope; `details.scopes` names those that would do.",
    headers: ["WWW-Authenticate"]
  },
  other_workspace: {
    status: 403,
    when: "The token has the scope, which reaches the whole fleet, and is of another workspace than the fleet's own.",
    headers: ["WWW-Authenticate"]
  },
  method_not_allowed: {
    status: 405,
    when: "The path is known, the method is not; `Allow` names those that are.",
    headers: ["Allow"]
  },
  request_timeout: { status: 408, when: "The request did not arrive in time." },
  idempotency_conflict: {
    status: 409,
    when: "The idempotency key was used for another request, or its first one still runs."
  },
  headers_too_large: { status: 431, when: "The headers are larger than 16 kB." },
  internal_error: { status: 500, when: "A defect of ours; it has been logged with the request's id." }
} as const satisfies Record<string, ErrorCode>

export const ErrorEnvelope = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).pipe(
      describe("Every fault by the path of its field, as `turns[0].input`.")
    ),
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    docs_url: Schema.optionalKey(Schema.String)
  }),
  request_id: Schema.String.pipe(describe("Also in the header X-Request-Id."))
}).annotate({ identifier: "ErrorEnvelope" })
export interface ErrorEnvelope extends Schema.Schema.Type<typeof ErrorEnvelope> {}
