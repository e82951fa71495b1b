/**
 * The idempotency key of a request, which comes as the header `Idempotency-Key`, as a field of the body, or
 * as both when they agree.
 */
import { Effect, Option } from "effect"
import { HttpCall } from "./HttpCall.ts"
import { validationFailed } from "./wire-errors.ts"
import type { WireError } from "./WireError.ts"

const charactersMax = 255
// Counted are characters, not UTF-16 units.
const acceptable = /^[^\p{Cc}]{1,255}$/u

/** `field`: the `idempotency_key` of the form or the JSON body. */
export const idempotencyKey = (field: string | undefined): Effect.Effect<string | undefined, WireError, HttpCall> =>
  Effect.flatMap(HttpCall, (call) => {
    const header = Option.getOrUndefined(call.header("idempotency-key"))
    const faults: Record<string, string> = {}
    if (header !== undefined && !acceptable.test(header)) faults["Idempotency-Key"] = rule
    if (field !== undefined && !acceptable.test(field)) faults["idempotency_key"] = rule
    if (header !== undefined && field !== undefined && header !== field) {
      faults["idempotency_key"] ??= "differs from the header Idempotency-Key"
    }
    return Object.keys(faults).length > 0 ? Effect.fail(validationFailed(faults)) : Effect.succeed(header ?? field)
  })

const rule = `must be 1 to ${charactersMax} characters, none of them a control character`
