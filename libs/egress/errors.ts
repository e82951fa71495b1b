/**
 * Why a call has no answer, by what the caller does next: `AddressRefused` and `InvalidUrl` are the
 * configuration's fault and do not get better by waiting; the other two may.
 */
import { Schema } from "effect"

/** The host is, or resolves only to, an address that may not be called. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  host: Schema.String,
  address: Schema.String,
  range: Schema.String,
  cidr: Schema.String
}) {
  override get message() {
    return `${this.host} is ${this.address}, in the range ${this.range} (${this.cidr}), which may not be called; AllowCidrs can open it`
  }
}

/** The whole call, from name resolution to the last byte, took longer than it may. */
export class DeadlineExceeded extends Schema.TaggedError<DeadlineExceeded>()("DeadlineExceeded", {
  phase: Schema.Literals(["connect", "headers", "body"]),
  deadlineMs: Schema.Finite,
  status: Schema.NullOr(Schema.Int)
}) {
  override get message() {
    return `no complete answer within ${this.deadlineMs} ms, it ended waiting for: ${this.phase}`
  }
}

/** No connection, or it broke. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  reason: Schema.Literals(["dns", "connect", "tls", "reset", "protocol"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/** The URL is not one that can be called. */
export class InvalidUrl extends Schema.TaggedError<InvalidUrl>()("InvalidUrl", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.url}: ${this.reason}`
  }
}

/** A network in AllowCidrs cannot be read. */
export class InvalidCidr extends Schema.TaggedError<InvalidCidr>()("InvalidCidr", {
  use: Schema.String,
  cidrs: Schema.Array(Schema.String)
}) {
  override get message() {
    return `AllowCidrs of ${this.use} holds what is no network: ${this.cidrs.join(", ")}`
  }
}

export type EgressError = AddressRefused | DeadlineExceeded | Unreachable | InvalidUrl

/** Nothing came for too long, between the headers and the first byte or between two chunks. */
export class Stalled extends Schema.TaggedError<Stalled>()("Stalled", {
  stallMs: Schema.Finite,
  bytesBefore: Schema.Int
}) {
  override get message() {
    return `nothing came for ${this.stallMs} ms after ${this.bytesBefore} bytes`
  }
}

/** The answer is larger than may be read; the connection was closed. */
export class ResponseTooLarge extends Schema.TaggedError<ResponseTooLarge>()("ResponseTooLarge", {
  bytesMax: Schema.Int
}) {
  override get message() {
    return `the answer is larger than ${this.bytesMax} bytes`
  }
}

/**
 * Why an answer that is read as it comes broke off, beside what any call can fail with: a `DeadlineExceeded`
 * of phase `body` is the total deadline here, for the other two phases the deadline to the headers.
 */
export type StreamError = EgressError | Stalled | ResponseTooLarge

const tlsCode = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/u

/** Names what the client library and the sockets throw. */
export const toEgressError = (cause: unknown): EgressError => {
  if (cause instanceof AddressRefused) return cause
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
