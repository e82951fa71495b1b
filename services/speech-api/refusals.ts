/** What a failure inside is to a caller: a status before the first byte, an event after it. Pure. */
import type { AudioError } from "#audio"
import { rateLimited, serviceUnavailable, WireError } from "#http"
import type { InputRefused, SpeechBusy, SpeechFailed, SpeechOverloaded } from "./errors.ts"

export type SpeechError = InputRefused | SpeechOverloaded | SpeechBusy | SpeechFailed | AudioError

// An encoder that has not started for seconds is not there in one more.
const startingSeconds = 5

/** Why it is counted as refused for want of capacity, if it is. */
export const overloadReason = (error: SpeechError): string | undefined => {
  if (error._tag === "SpeechBusy") return error.detail === "all are busy" ? "sequencers" : "unavailable"
  if (error._tag === "EncoderOverloaded") return error.lacks === "places" ? "encoders" : "encoder_start"
  return undefined
}

/** `isDialogue`: a fault's path names the turn, else the one input. */
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
      return error.lacks === "places"
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
