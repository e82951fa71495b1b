/**
 * Secrets of this process, registered so that no log line can show one: the logger replaces each by `<redacted>`. Texts
 * shorter than six characters are not registered; replacing them would garble everything.
 */
import { Context, Effect } from "effect"
import type { Fault } from "#contracts"
import { Environment } from "./host.ts"

const charactersMin = 6

export interface KnownSecrets {
  readonly add: (secret: string) => void
  readonly redact: (text: string) => string
}

export const makeSecrets = (): KnownSecrets => {
  const known = new Set<string>()
  return {
    add: (secret) => {
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

/** Why a variable gives no secret; undefined when it gives one. Pure. */
export const unsetSecret = (
  environment: Readonly<Record<string, string | undefined>>,
  variable: string
): string | undefined => {
  const value = environment[variable]
  if (value === undefined) return `the environment variable ${variable} is not set`
  return value.trim() === "" ? `the environment variable ${variable} is empty` : undefined
}

/**
 * A secret whose variable the configuration names, kept out of all logs. A missing secret must stop the start, because
 * messages would leave unsigned without it. The fault names the variable and the key that asks for it.
 */
export const secretFromEnv = Effect.fnUntraced(function* (
  variable: string,
  path: string
): Effect.fn.Return<string, Fault> {
  const environment = yield* Environment
  const message = unsetSecret(environment, variable)
  if (message !== undefined) return yield* Effect.fail({ path, message })
  const value = environment[variable] ?? ""
  const secrets = yield* Secrets
  secrets.add(value)
  return value
})
