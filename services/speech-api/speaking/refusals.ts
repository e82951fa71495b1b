/**
 * The reasons why a text is not spoken, and their wire form: a status before the first byte, an event after it. Pure.
 */
import { Schema } from "effect"
import type { AudioError } from "#audio"
import { Fault } from "#contracts"
import { rateLimited, serviceUnavailable, WireError } from "#http"

/** The input cannot be read. */
export class InputRefused extends Schema.TaggedError<InputRefused>()("InputRefused", {
  faults: Schema.Array(Fault)
}) {}

/** The measurements say that it could not be heard in time, or only at the cost of present listeners. */
export class SpeechOverloaded extends Schema.TaggedError<SpeechOverloaded>()("SpeechOverloaded", {
  reason: Schema.Literals(["beginnings", "listeners", "stalled"]),
  retryAfterSeconds: Schema.Int
}) {}

/** Every sequencer is full, or none answers. */
export class SpeechBusy extends Schema.TaggedError<SpeechBusy>()("SpeechBusy", {
  retryAfterSeconds: Schema.Int,
  detail: Schema.String
}) {}

/** The session broke off and could not be resumed. */
export class SpeechFailed extends Schema.TaggedError<SpeechFailed>()("SpeechFailed", {
  code: Schema.String,
  message: Schema.String
}) {}

export type SpeechError = InputRefused | SpeechOverloaded | SpeechBusy | SpeechFailed | AudioError

// An encoder that has not started for seconds will not be there in one more.
const startingSeconds = 5

/** The reason for the overload metric, if the refusal is for want of capacity. */
export const overloadReason = (error: SpeechError) => {
  if (error._tag === "SpeechBusy") return error.detail === "all are busy" ? "sequencers" : "unavailable"
  if (error._tag === "EncoderOverloaded") return error.lacks === "slots" ? "encoders" : "encoder_start"
  return undefined
}

/** `isDialogue`: the path of a fault names the turn; otherwise the one input. */
export const refusalOf = (error: SpeechError, isDialogue: boolean): WireError => {
  switch (error._tag) {
    case "InputRefused":
      return inputRefused(error, isDialogue)
    case "SpeechOverloaded":
      return rateLimited(error.retryAfterSeconds, "synthesis")
    case "SpeechBusy":
      return error.detail === "all are busy"
        ? rateLimited(error.retryAfterSeconds, "synthesis")
        : serviceUnavailable(error.retryAfterSeconds, "speech is not available just now")
    case "SpeechFailed":
      return error.code === "service_unavailable"
        ? serviceUnavailable(1, error.message)
        : new WireError({ status: 502, code: error.code, message: error.message })
    case "EncoderOverloaded":
      return error.lacks === "slots"
        ? rateLimited(1, "encoders")
        : serviceUnavailable(startingSeconds, "no encoder has started in time, try again")
    default:
      return serviceUnavailable(1, "audio cannot be encoded just now")
  }
}

const inputRefused = ({ faults }: InputRefused, isDialogue: boolean) => {
  const fields: Record<string, string> = {}
  for (const { path, message } of faults) {
    const field = isDialogue ? path.replace(/^turns\/(\d+)\/input$/u, "turns[$1].input") : "input"
    fields[field] = fields[field] === undefined ? message : `${fields[field]}; ${message}`
  }
  const message = Object.values(fields)[0] ?? "the input cannot be read"
  return new WireError({ status: 400, code: "validation_failed", message, fields })
}
