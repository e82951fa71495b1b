/**
 * Secrets of this process, registered so that no log line can show one: the logger replaces each by `<redacted>`. Texts
 * shorter than six characters are not registered; replacing them would garble everything.
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
      // Who shows it may well leave out a line break at its end.
      const secret = given.trim()
      if (secret.length < charactersMin) return
      known.add(secret)
      // The secret's form in a line of JSON, when it contains a quote or a backslash.
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

/** Why a variable gives no secret, or a bad one of its kind; undefined when it gives a good one. Pure. */
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
 * A secret whose variable the configuration names, kept out of all logs. One that is missing, or is none, stops the
 * start: messages would leave unsigned, or signed with a key that everybody has. The report of the start names a bad one.
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
  /** The key of the configuration that names it. */
  readonly path: string
  readonly kind: SecretKind
}
