/**
 * The last line before the caller: whatever a handler ended with becomes an answer that can be sent, in the
 * API's envelope. Defects are logged with their causes and tell the caller nothing but that they happened.
 */
import { validateHeaderName, validateHeaderValue } from "node:http"
import { Cause, Effect, Option } from "effect"
import { type Answer, jsonAnswer } from "./answers.ts"
import { internalError, serviceUnavailable } from "./wire-errors.ts"
import { type RenderError, renderStandardError, type WireError } from "./WireError.ts"

export const refuse = (cause: Cause.Cause<WireError>, renderError: RenderError, requestId: string) =>
  Effect.flatMap(refusalOf(cause), (error) =>
    Effect.catchDefect(written(error, renderError, requestId), (defect) =>
      Effect.andThen(
        Effect.logError("a defect while writing an error", Cause.die(defect)),
        written(internalError(), renderStandardError, requestId)
      )
    )
  )

/** Throws for a head that node refuses to write, when it is too late for an answer that says so. */
export const assertSendable = ({ status, headers }: Answer): void => {
  if (status < 200 || status > 599) throw new RangeError(`${status} is not the status of an answer`)
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}

const refusalOf = (cause: Cause.Cause<WireError>): Effect.Effect<WireError> => {
  // Stopped while its caller waits: by a process that ends, or by itself.
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(serviceUnavailable(1, "the request was stopped"))
  const failure = Cause.findErrorOption(cause)
  if (Option.isSome(failure) && !Cause.hasDies(cause)) return Effect.succeed(failure.value)
  return Effect.as(Effect.logError("a defect while answering", cause), internalError())
}

const written = (error: WireError, renderError: RenderError, requestId: string) =>
  Effect.sync(() => {
    const answer = jsonAnswer(renderError(error, requestId), { status: error.status, headers: error.headers ?? {} })
    assertSendable(answer)
    return answer
  })
