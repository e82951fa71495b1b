/**
 * Why a call has no answer, by the caller's next step: `AddressRefused` and `InvalidUrl` are configuration errors, and
 * waiting does not help; the other two may pass.
 */
import { Schema } from "effect"

/** The host is, or resolves only to, an address that must not be called. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  host: Schema.String,
  address: Schema.String,
  range: Schema.String,
  cidr: Schema.String,
  /** The setting that can allow it. */
  key: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `${this.host} is ${this.address}, in the range ${this.range} (${this.cidr}), which may not be called; ${this.key ?? "AllowCidrs"} can open it`
  }
}

/** The entire call, from name resolution to the last byte, took longer than allowed. */
export class DeadlineExceeded extends Schema.TaggedError<DeadlineExceeded>()("DeadlineExceeded", {
  phase: Schema.Literals(["connect", "headers", "body"]),
  deadlineMs: Schema.Finite,
  status: Schema.NullOr(Schema.Int)
}) {
  override get message() {
    return `no complete answer within ${this.deadlineMs} ms, it ended waiting for: ${this.phase}`
  }
}

/** The connection failed or broke. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  reason: Schema.Literals(["dns", "connect", "tls", "reset", "protocol"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/** The URL cannot be called. */
export class InvalidUrl extends Schema.TaggedError<InvalidUrl>()("InvalidUrl", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.url}: ${this.reason}`
  }
}

/** A network in AllowCidrs is malformed. */
export class InvalidCidr extends Schema.TaggedError<InvalidCidr>()("InvalidCidr", {
  use: Schema.String,
  cidrs: Schema.Array(Schema.String)
}) {
  override get message() {
    return `AllowCidrs of ${this.use} holds what is no network: ${this.cidrs.join(", ")}`
  }
}

/** The caller withdrew it before any byte was sent. */
export class Withdrawn extends Schema.TaggedError<Withdrawn>()("Withdrawn", {}) {
  override get message() {
    return "taken back before it was sent"
  }
}

export type EgressError = AddressRefused | DeadlineExceeded | Unreachable | InvalidUrl | Withdrawn

/** No bytes arrived for too long, between the headers and the first byte or between two chunks. */
export class Stalled extends Schema.TaggedError<Stalled>()("Stalled", {
  stallMs: Schema.Finite,
  bytesBefore: Schema.Int
}) {
  override get message() {
    return `nothing came for ${this.stallMs} ms after ${this.bytesBefore} bytes`
  }
}

/** The answer exceeds its limit; the connection was closed. */
export class ResponseTooLarge extends Schema.TaggedError<ResponseTooLarge>()("ResponseTooLarge", {
  bytesMax: Schema.Int
}) {
  override get message() {
    return `the answer is larger than ${this.bytesMax} bytes`
  }
}

/**
 * Why a streamed answer broke off, beside the failures of any call. A `DeadlineExceeded` of phase `body` is the total
 * deadline; the other two phases are the deadline for the headers.
 */
export type StreamError = EgressError | Stalled | ResponseTooLarge

/** No connection succeeded: the outcome for each address. */
export class ConnectFailed extends Error {}

const tlsCode = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/u

/** The egress error for an error of the client library or of a socket. */
export const toEgressError = (cause: unknown): EgressError => {
  if (cause instanceof AddressRefused) return cause
  if (cause instanceof ConnectFailed) return new Unreachable({ reason: "connect", detail: cause.message })
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const code = "code" in error ? String(error.code) : ""
  const inner =
    error instanceof AggregateError ? error.errors.map((one: unknown) => String(one)).join("; ") : error.message
  const detail = code === "" ? inner : `${code} ${inner}`
  if (code === "ENOTFOUND" || code.startsWith("EAI_") || code === "ENODATA")
    return new Unreachable({ reason: "dns", detail })
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|ETIMEDOUT|EADDRNOTAVAIL|ENETDOWN/u.test(code)) {
    return new Unreachable({ reason: "connect", detail })
  }
  if (tlsCode.test(code)) return new Unreachable({ reason: "tls", detail })
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET/u.test(code)) return new Unreachable({ reason: "reset", detail })
  return new Unreachable({ reason: "protocol", detail })
}
