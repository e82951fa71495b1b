/**
 * The failures between a role and the broker, grouped by what the caller does next: `BusUnavailable` try again,
 * `RevisionConflict` reread and decide again, `StreamFull` refuse the caller with 503, `BusNotFound` treat as absent,
 * `BusRefused` a bug or a broken deployment.
 */
import { JetStreamApiError } from "@nats-io/jetstream"
import { PermissionViolationError } from "@nats-io/transport-node"
import { Schema } from "effect"

/** The broker is unreachable or did not answer in time. Whether the operation happened is unknown. */
export class BusUnavailable extends Schema.TaggedError<BusUnavailable>()("BusUnavailable", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** Another writer was first: the expected sequence or revision is no longer the last one. */
export class RevisionConflict extends Schema.TaggedError<RevisionConflict>()("RevisionConflict", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** The stream is at its limit and keeps its content: nothing was written. */
export class StreamFull extends Schema.TaggedError<StreamFull>()("StreamFull", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** The stream, consumer, key, object or message does not exist. */
export class BusNotFound extends Schema.TaggedError<BusNotFound>()("BusNotFound", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** An operation that the broker forbids to one of its users. */
export const Forbidden = Schema.Struct({
  user: Schema.optional(Schema.String),
  operation: Schema.Literals(["publish", "subscription"]),
  subject: Schema.String
})
export interface Forbidden extends Schema.Schema.Type<typeof Forbidden> {}

/** The broker understood the request and refused it: a permission, a limit or a malformed request. */
export class BusRefused extends Schema.TaggedError<BusRefused>()("BusRefused", {
  operation: Schema.String,
  detail: Schema.String,
  code: Schema.Int,
  /** Set when a permission is missing. */
  forbidden: Schema.optional(Forbidden)
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

export type BusError = BusUnavailable | RevisionConflict | StreamFull | BusNotFound | BusRefused

// JetStream's own error codes that change what a caller does. 10201: a batch contains a message id that is already
// stored, so a twin wrote these messages before its cursor.
const conflictCodes = new Set([10071, 10164, 10201])
const notFoundCodes = new Set([10014, 10037, 10059])
const fullCodes = new Set([10023, 10047, 10077])
const unavailableCodes = new Set([10008, 10009, 10041, 10074, 10118])
// A message beyond its stream's limit, or headers beyond the broker's.
const messageTooLarge = 10054
const tooLargeCodes = new Set([messageTooLarge, 10097])
// One message of a batch was refused; the broker does not report which one or why.
const batchIncomplete = 10176

/** Whether another writer was first. */
export const isLostRace = (error: unknown): error is RevisionConflict => error instanceof RevisionConflict

/** Whether the message is too large for the broker ever to accept. The same message will be refused again. */
export const isTooLarge = (error: BusError): error is BusRefused =>
  error._tag === "BusRefused" && tooLargeCodes.has(error.code)

/** Whether the size of one of its messages can be why a batch was refused. */
export const mayHoldTooLarge = (error: BusError): error is BusRefused =>
  error._tag === "BusRefused" && (tooLargeCodes.has(error.code) || error.code === batchIncomplete)

/** The bus error for a broker's error code. */
export const fromApiError = (operation: string, code: number, status: number, detail: string): BusError => {
  if (conflictCodes.has(code)) return new RevisionConflict({ operation, detail })
  if (notFoundCodes.has(code)) return new BusNotFound({ operation, detail })
  if (fullCodes.has(code)) return new StreamFull({ operation, detail })
  if (unavailableCodes.has(code) || status === 503) return new BusUnavailable({ operation, detail })
  return new BusRefused({ operation, detail, code })
}

/** Maps any error of the client library to one of the five. `user`: the connection's user. */
export const toBusError =
  (operation: string, user?: string) =>
  (cause: unknown): BusError => {
    if (cause instanceof JetStreamApiError) {
      const api = cause.apiError()
      return fromApiError(operation, api.err_code, api.code, api.description)
    }
    const error = cause instanceof Error ? cause : new Error(String(cause))
    // The library does not export this class; 404 is "no message there".
    if (error.name === "JetStreamStatusError" && "code" in error && error.code === 404) {
      return new BusNotFound({ operation, detail: error.message })
    }
    // For a request, the library reports the violation as the cause.
    const violation = error instanceof PermissionViolationError ? error : error.cause
    if (violation instanceof PermissionViolationError) {
      const { operation: act, subject, message } = violation
      return new BusRefused({ operation, detail: message, code: 0, forbidden: { user, operation: act, subject } })
    }
    if (error.name === "InvalidArgumentError") {
      // The library refuses messages beyond the broker's global limit.
      const code = error.message.includes("max_payload") ? messageTooLarge : 0
      return new BusRefused({ operation, detail: error.message, code })
    }
    return new BusUnavailable({ operation, detail: `${error.name}: ${error.message}` })
  }
