/** Reads a secret whose variable is named in the configuration. A missing one must stop the start: without
 * it, what should be signed would leave unsigned. */
import { Effect } from "effect"
import { type ConfigurationFault } from "./InvalidConfiguration.ts"
import { Environment } from "./Environment.ts"
import { Secrets } from "./Secrets.ts"

/** Fails with a fault that names the variable and where it is asked for. The secret is kept out of all logs. */
export const secretFromEnv = Effect.fnUntraced(function* (
  variable: string,
  path: string
): Effect.fn.Return<string, ConfigurationFault> {
  const value = (yield* Environment)[variable]
  if (value === undefined) {
    return yield* Effect.fail({ path, message: `the environment variable ${variable} is not set` })
  }
  if (value.trim() === "") {
    return yield* Effect.fail({ path, message: `the environment variable ${variable} is empty` })
  }
  const secrets = yield* Secrets
  secrets.add(value)
  return value
})
