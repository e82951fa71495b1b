/**
 * Why a call to a chain's node brought nothing, by what the caller does next: `RpcUnavailable` says nothing of the
 * chain's state, try again or elsewhere; `RpcRejected` is the node's own answer, to be read.
 */
import { Schema } from "effect"

/**
 * No node gave an answer that can be read: nothing is known of what was asked. `mayHaveArrived` is false when no
 * node was connected to, so that what was to be sent is certainly not on the chain. `why`: there was none; there was one,
 * longer than is read, and who asks for less may have it; what the node waits for had not come to be in time.
 */
export class RpcUnavailable extends Schema.TaggedError<RpcUnavailable>()("RpcUnavailable", {
  method: Schema.String,
  detail: Schema.String,
  mayHaveArrived: Schema.Boolean,
  why: Schema.Literals(["unanswered", "too long", "wait over"])
}) {
  override get message() {
    return `${this.method}: ${this.detail}`
  }
}

/** A JSON-RPC error object. `data` is what the node put beside it, read by the caller's own schema. */
export class RpcRejected extends Schema.TaggedError<RpcRejected>()("RpcRejected", {
  method: Schema.String,
  code: Schema.Finite,
  detail: Schema.String,
  data: Schema.Unknown
}) {
  override get message() {
    return `${this.method}: ${this.detail} (${this.code})`
  }
}
