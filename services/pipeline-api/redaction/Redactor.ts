/** The role's redaction: what is configured, and the values of the variables that hold secrets. */
import { Context, Effect, Layer } from "effect"
import { Configuration, Environment } from "#runtime"
import { makeRedact, type Redact } from "./redact.ts"

export class Redactor extends Context.Service<Redactor, { readonly redact: Redact }>()(
  "starling/pipeline-api/Redactor"
) {
  static readonly layer = Layer.effect(
    Redactor,
    Effect.gen(function* () {
      const { Redaction } = yield* Configuration
      const environment = yield* Environment
      const secrets = Redaction.SecretEnvVars.flatMap((name) => environment[name] ?? [])
      return Redactor.of({ redact: makeRedact(Redaction.Patterns, secrets) })
    })
  )
}
