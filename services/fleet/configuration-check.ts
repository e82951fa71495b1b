/**
 * Everything that is wrong with a configuration, in one report and before anything starts: its shape, what is there twice,
 * what does not fit together, and secrets that are not set, as far as the roles that are to run read them. What cannot be
 * read hides nothing of what can.
 */
import { Effect, Result } from "effect"
import {
  decodeConfiguration,
  entriesOf,
  inFileOrder,
  isJson,
  type Json,
  readableConfiguration,
  type RoleName,
  roleNames
} from "#contracts"
import {
  type ConfigurationFault,
  configurationInput,
  type ConfigurationSource,
  Environment,
  InvalidConfiguration,
  unsetSecret
} from "#runtime"
import { modelFaultsOf } from "#model-gateway/models"
import { keyFaultsOf } from "#payment-settler/faults"

type Variables = Readonly<Record<string, string | undefined>>

/** What a role alone finds wrong. */
type RoleCheck = (file: Json, environment: Variables) => ReadonlyArray<ConfigurationFault>

const secretsOf =
  (keys: ReadonlyArray<string>, section: string, list?: string): RoleCheck =>
  (file, environment) =>
    entriesOf(file, section, list).flatMap(([index, entry]) =>
      keys.flatMap((key) => {
        const variable = entry[key]
        const message = typeof variable === "string" ? unsetSecret(environment, variable) : undefined
        if (message === undefined) return []
        return [{ path: `${section}${list === undefined ? "" : `.${list}`}[${index}].${key}`, message }]
      })
    )

const checks: Partial<Record<RoleName, ReadonlyArray<RoleCheck>>> = {
  "webhook-dispatcher": [secretsOf(["SecretEnvVar", "StandardWebhooksSecretEnvVar"], "Webhooks")],
  "model-gateway": [secretsOf(["KeyEnvVar"], "ModelGateway", "Providers"), modelFaultsOf],
  "payment-settler": [
    (file, environment) =>
      entriesOf(file, "Payments", "Networks").flatMap(([index, entry]) => keyFaultsOf(entry, index, environment))
  ]
}

/** Of the roles that the configuration names, or of those given. Pure. */
export const faultsFor = (
  input: unknown,
  environment: Variables,
  only?: ReadonlyArray<RoleName>
): ReadonlyArray<ConfigurationFault> => {
  const decoded = decodeConfiguration(input)
  const shape = Result.isFailure(decoded) ? decoded.failure : []
  const file = readableConfiguration(input)
  const roles = only ?? rolesOf(file)
  const found = roles.flatMap((role) => (checks[role] ?? []).flatMap((check) => check(file, environment)))
  return inFileOrder(input, [...shape, ...found])
}

/** Those that can be read; all where none are named. */
const rolesOf = ({ Fleet }: Json): ReadonlyArray<RoleName> => {
  const named = isJson(Fleet) ? Fleet["Roles"] : undefined
  return Array.isArray(named) ? roleNames.filter((role) => named.includes(role)) : roleNames
}

/** Fails with all faults at once. Calls no other process and starts nothing. */
export const checkConfiguration = Effect.fn("checkConfiguration")(function* (
  source: ConfigurationSource,
  only?: ReadonlyArray<RoleName>
) {
  const input = yield* configurationInput(source)
  const faults = faultsFor(input, yield* Environment, only)
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
})
