/** Reads a secret whose variable is named in the configuration. A missing one must stop the start: without
 * it, what should be signed would leave unsigned. */
import { Effect } from "effect"
import { type ConfigurationFault } from "./InvalidConfiguration.ts"
import { Environment } from "./Environment.ts"
import { Secrets } from "./Secrets.ts"

/** Why a secret cannot be had of a variable; undefined when it can. Pure. */
export const unsetSecret = (
  environment: Readonly<Record<string, string | undefined>>,
  variable: string
): string | undefined => {
  const value = environment[variable]
  if (value === undefined) return `the environment variable ${variable} is not set`
  return value.trim() === "" ? `the environment variable ${variable} is empty` : undefined
}

/** Fails with a fault that names the variable and where it is asked for. The secret is kept out of all logs. */
export const secretFromEnv = Effect.fnUntraced(function* (
  variable: string,
  path: string
): Effect.fn.Return<string, ConfigurationFault> {
  const environment = yield* Environment
  const message = unsetSecret(environment, variable)
  if (message !== undefined) return yield* Effect.fail({ path, message })
  const value = environment[variable] ?? ""
  const secrets = yield* Secrets
  secrets.add(value)
  return value
})
