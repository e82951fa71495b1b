/**
 * The process' redaction: what is configured, the values of the variables that hold secrets, and what is known by
 * sight. Who was given no configuration still takes out what is known by sight.
 */
import { Context, Effect, Layer } from "effect"
import { Configuration } from "../Configuration.ts"
import { Environment } from "../Environment.ts"
import { makeRedact, type Redact } from "./redact.ts"

export const Redactor = Context.Reference<{ readonly redact: Redact }>("starling/runtime/Redactor", {
  defaultValue: () => ({ redact: makeRedact() })
})

/** As the configuration has it. */
export const redactorLayer = Layer.effect(
  Redactor,
  Effect.gen(function* () {
    const { Redaction } = yield* Configuration
    const environment = yield* Environment
    const secrets = Redaction.SecretEnvVars.flatMap((name) => environment[name] ?? [])
    return { redact: makeRedact(Redaction.Patterns, secrets) }
  })
)
