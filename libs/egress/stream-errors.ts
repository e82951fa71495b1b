/**
 * Why an answer that is read as it comes broke off, beside what any call can fail with: a `DeadlineExceeded`
 * of phase `body` is the total deadline here, for the other two phases the deadline to the headers.
 */
import { Schema } from "effect"
import type { EgressError } from "./errors.ts"

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

export type StreamError = EgressError | Stalled | ResponseTooLarge
