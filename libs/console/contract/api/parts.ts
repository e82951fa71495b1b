/**
 * The common parts of the operators' API: refusal codes, pages of a stream, the reason of an action, and times in
 * queries.
 */
import { Schema } from "effect"
import { commonErrorCodes, describe, type ErrorCode, pageSizeMax, reasonCharactersMax, Timestamp } from "#base"
import { bodyCodes, endpointsFor, fleetCodes } from "#base/http"

export const consoleErrorCodes = {
  bad_request: { status: 400, when: "The request or its JSON cannot be read." },
  validation_failed: commonErrorCodes.validation_failed,
  unauthorized: commonErrorCodes.unauthorized,
  insufficient_scope: commonErrorCodes.insufficient_scope,
  other_workspace: commonErrorCodes.other_workspace,
  foreign_origin: { status: 403, when: "A call by cookie comes from another page than the console's own." },
  not_found: { status: 404, when: "There is nothing at this path, or nothing any more." },
  method_not_allowed: commonErrorCodes.method_not_allowed,
  request_timeout: commonErrorCodes.request_timeout,
  conflict: {
    status: 409,
    when: "What is kept of it does not allow that: `message` says why. Asking again changes nothing."
  },
  still_invalid: {
    status: 409,
    when: "The message still breaks its schema and would be rejected again; `details.faults` says where."
  },
  idempotency_conflict: commonErrorCodes.idempotency_conflict,
  payload_too_large: { status: 413, when: "The body has too many bytes, or too many elements and keys." },
  unsupported_media_type: { status: 415, when: "The body is not JSON, or it is compressed." },
  misdirected_request: {
    status: 421,
    when: "The `Host` is none that the page has: it is called by a loopback name, or by one of `Console.PageOrigins`."
  },
  rate_limited: {
    status: 429,
    when: "Too many wrong tokens or codes from this address; come back after `Retry-After`.",
    headers: ["Retry-After"]
  },
  headers_too_large: commonErrorCodes.headers_too_large,
  internal_error: commonErrorCodes.internal_error,
  service_unavailable: {
    status: 503,
    when: "The broker is away, or the API behind it; come back after `Retry-After`.",
    headers: ["Retry-After"]
  }
} as const satisfies Record<string, ErrorCode>

/** A page of a list, the newest first. */
export const newestFirst = <S extends Schema.Codec<unknown, unknown>>(entry: S, what: string) => ({
  items: Schema.Array(entry)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe(`${what}, newest first.`)),
  nextCursor: Schema.NullOr(Schema.String).pipe(
    describe("For `cursor`; null when there is nothing older. A page with a cursor may be short, and even empty.")
  )
})

export const newestFirstPage = <S extends Schema.Codec<unknown, unknown>>(identifier: string, entry: S, what: string) =>
  Schema.Struct(newestFirst(entry, what)).annotate({ identifier })

/** An operator's reason. */
export const Reason = Schema.String.check(
  Schema.isBetweenLength(1, reasonCharactersMax),
  Schema.makeFilter((value) => value.trim() !== "" || "must not be blank")
)

/** The body of an action that needs only its reason. */
export const Because = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log."))
}).annotate({ identifier: "Because" })

/** Time bounds of a list. */
export const timeQuery = {
  since: Schema.optionalKey(Timestamp).pipe(describe("Nothing from before.")),
  until: Schema.optionalKey(Timestamp).pipe(describe("Nothing from after."))
}

/** A name in a query. */
export const NameFilter = Schema.String.check(Schema.isBetweenLength(1, 256))

/**
 * An action takes just its reason unless it names another body.
 *
 * @internal
 */
export const { read, act, change } = endpointsFor({
  table: consoleErrorCodes,
  always: fleetCodes,
  changing: bodyCodes,
  reading: "console:read",
  body: Because
})("not_found")
