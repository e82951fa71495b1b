/**
 * Secrets of this process, registered so that no log line can show one: the logger replaces each with `<redacted>`.
 * Texts shorter than six characters are not registered, because replacing them would garble everything.
 */
import { Context, Effect } from "effect"
import { type Fault, type SecretFault, secretFault, type SecretKind } from "#base"
import { Environment } from "./host.ts"

const charactersMin = 6

export interface KnownSecrets {
  readonly add: (secret: string) => void
  readonly redact: (text: string) => string
}

export const makeSecrets = (): KnownSecrets => {
  const known = new Set<string>()
  return {
    add: (given) => {
      // Whoever prints it may leave out a trailing line break.
      const secret = given.trim()
      if (secret.length < charactersMin) return
      known.add(secret)
      // The secret as it appears in a line of JSON, if it contains a quote or a backslash.
      known.add(JSON.stringify(secret).slice(1, -1))
    },
    redact: (text) => {
      let clean = text
      for (const secret of known) clean = clean.replaceAll(secret, "<redacted>")
      return clean
    }
  }
}

const processSecrets = makeSecrets()

export const Secrets = Context.Reference<KnownSecrets>("starling/runtime/Secrets", {
  defaultValue: () => processSecrets
})

/** Why a variable holds no secret, or an invalid one of its kind; undefined if it is valid. Pure. */
export const variableFault = (
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
  kind: SecretKind
): SecretFault | undefined => {
  const value = environment[variable]
  if (value === undefined) return { message: `the environment variable ${variable} is not set`, isNoSecret: true }
  if (value.trim() === "") return { message: `the environment variable ${variable} is empty`, isNoSecret: true }
  const fault = secretFault(kind, value)
  return fault && { ...fault, message: `${variable}: ${fault.message}` }
}

/**
 * A secret whose variable the configuration names, kept out of all logs. A missing or invalid one stops the start:
 * messages would go out unsigned, or signed with a key that everybody knows. The startup report names an invalid one.
 */
export const secretFromEnv = Effect.fnUntraced(function* ({
  variable,
  path,
  kind
}: NamedSecret): Effect.fn.Return<string, Fault> {
  const environment = yield* Environment
  const fault = variableFault(environment, variable, kind)
  if (fault?.isNoSecret === true) return yield* Effect.fail({ path, message: fault.message })
  const value = environment[variable] ?? ""
  const secrets = yield* Secrets
  secrets.add(value)
  return value
})

interface NamedSecret {
  readonly variable: string
  /** The configuration key that names it. */
  readonly path: string
  readonly kind: SecretKind
}
