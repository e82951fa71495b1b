/** Why a session could not be opened or did not end well, by what the caller is told. */
import { Schema } from "effect"
import { Fault } from "#contracts"

/** The input cannot be read. */
export class InputRefused extends Schema.TaggedError<InputRefused>()("InputRefused", {
  faults: Schema.Array(Fault)
}) {}

/** What is measured says that it could not be heard in time, or only at the cost of who listens already. */
export class SpeechOverloaded extends Schema.TaggedError<SpeechOverloaded>()("SpeechOverloaded", {
  reason: Schema.Literals(["beginnings", "listeners", "stalled"]),
  retryAfterSeconds: Schema.Int
}) {}

/** Every sequencer is full, or none answers. */
export class SpeechBusy extends Schema.TaggedError<SpeechBusy>()("SpeechBusy", {
  retryAfterSeconds: Schema.Int,
  detail: Schema.String
}) {}

/** The session broke off and could not be taken up again. */
export class SpeechFailed extends Schema.TaggedError<SpeechFailed>()("SpeechFailed", {
  code: Schema.String,
  message: Schema.String
}) {}
