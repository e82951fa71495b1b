/**
 * What the routes of the pipeline's API share: every refusal code with its status and its reason, and which of them
 * each route has; optional fields, branch names, paging.
 */
import { Schema } from "effect"
import { commonErrorCodes, Count, describe, type ErrorCode, pageSizeMax } from "#base"
import { branchCharactersMax } from "../work-item/state.ts"
import { bodyCodes, endpointsFor, fleetCodes } from "#base/http"

/** An optional field of a body; null means the same. */
export const mayBeLeftOut = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A text with at least one character that is not blank. An empty text fails by its length alone. */
export const isNotBlank = Schema.makeFilter(
  (value: string) => value === "" || value.trim() !== "" || "must not be blank"
)

/**
 * A branch name valid in git: no control characters, spaces or `~^:?*[\`, no `..`, `@{`, `//`, and no part that begins
 * with a dot or ends with `.lock`.
 */
const isBranch = (name: string) => {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)) return "not a branch name that git takes"
  const parts = name.split("/")
  const isBad = parts.some((part) => part === "" || part.startsWith(".") || part.endsWith(".lock"))
  return isBad || name === "@" || name.startsWith("-") || name.endsWith(".") ? "not a branch name that git takes" : true
}

/** The API refuses a bad name at once; otherwise the runner's git would, hours later. */
export const BranchName = Schema.String.check(
  Schema.isBetweenLength(1, branchCharactersMax),
  Schema.makeFilter(isBranch)
)

/** The limit leaves room for `/<short id>`. */
export const BranchPrefix = Schema.String.check(Schema.isBetweenLength(1, 200), Schema.makeFilter(isBranch))

/** A page of a list, and how fresh it is. */
export const page = <S extends Schema.Codec<unknown, unknown>>(entry: S, what: string) => ({
  items: Schema.Array(entry)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe(`${what}, oldest first.`)),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page.")),
  sequence: Count.pipe(describe("The list shows everything up to this record of the log.")),
  behind: Count.pipe(describe("Records of the log that the list does not show yet.")),
  isTruncated: Schema.Boolean.pipe(
    describe("There are more entities than are kept for lists; some that have ended are missing.")
  )
})

export const pipelineErrorCodes = {
  bad_request: { status: 400, when: "The request or its JSON cannot be read." },
  validation_failed: commonErrorCodes.validation_failed,
  unauthorized: commonErrorCodes.unauthorized,
  insufficient_scope: commonErrorCodes.insufficient_scope,
  other_workspace: commonErrorCodes.other_workspace,
  not_found: { status: 404, when: "There is nothing at this path." },
  work_item_not_found: { status: 404, when: "There is no such work item, or none any more." },
  suggestion_not_found: { status: 404, when: "There is no such suggestion, or its work item is gone." },
  release_not_found: { status: 404, when: "There is no such release, or none any more." },
  project_not_found: { status: 404, when: "There is no such project." },
  agent_not_found: { status: 404, when: "The configuration names agents, and not this one." },
  method_not_allowed: commonErrorCodes.method_not_allowed,
  request_timeout: commonErrorCodes.request_timeout,
  conflict: {
    status: 409,
    when: "The state does not allow it: `details.state` is that state, `details.reason` why. Asking again changes nothing."
  },
  idempotency_conflict: commonErrorCodes.idempotency_conflict,
  payload_too_large: { status: 413, when: "The body has too many bytes, or too many elements and keys." },
  unsupported_media_type: { status: 415, when: "The body is not JSON, or it is compressed." },
  rate_limited: {
    status: 429,
    when: "Too many wrong tokens from this address; come back after `Retry-After`.",
    headers: ["Retry-After"]
  },
  headers_too_large: commonErrorCodes.headers_too_large,
  internal_error: commonErrorCodes.internal_error,
  service_unavailable: {
    status: 503,
    when: "Too many want to change the same thing, or the log is full or away; come back after `Retry-After`.",
    headers: ["Retry-After"]
  }
} as const satisfies Record<string, ErrorCode>

/**
 * Declares the endpoints of this API.
 *
 * @internal
 */
export const pipelineEndpoints = endpointsFor({
  table: pipelineErrorCodes,
  always: fleetCodes,
  changing: [...bodyCodes, "conflict"],
  reading: "pipeline:read"
})
