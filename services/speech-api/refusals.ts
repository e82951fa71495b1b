/** What a failure inside is to a caller: a status before the first byte, an event after it. Pure. */
import type { AudioError } from "#audio"
import { rateLimited, serviceUnavailable, WireError } from "#http"
import type { InputRefused, SpeechBusy, SpeechFailed } from "./errors.ts"

export type SpeechError = InputRefused | SpeechBusy | SpeechFailed | AudioError

/** `isDialogue`: a fault's path names the turn, else the one input. */
export const refusalOf = (error: SpeechError, isDialogue: boolean): WireError => {
  switch (error._tag) {
    case "InputRefused":
      return inputRefused(error, isDialogue)
    case "SpeechBusy":
      return error.detail === "all are busy"
        ? rateLimited(error.retryAfterSeconds, "synthesis")
        : serviceUnavailable(error.retryAfterSeconds, "speech is not available just now")
    case "SpeechFailed":
      return error.code === "service_unavailable"
        ? serviceUnavailable(1, error.message)
        : new WireError({ status: 502, code: error.code, message: error.message })
    case "EncoderOverloaded":
      return rateLimited(1, "encoders")
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
