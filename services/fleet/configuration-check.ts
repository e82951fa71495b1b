/**
 * Every fault of a configuration, in one report and before anything starts: its shape, duplicates, contradictions, and
 * secrets that are not set, as far as the roles that are to run read them. An unreadable part hides no fault of the
 * readable ones.
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
import { keyFaultsOf, passwordFaultsOf } from "#payment-settler/faults"

type Variables = Readonly<Record<string, string | undefined>>

/** The faults that concern one role alone. */
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

/** The one secret of a section. */
const secretIn =
  (section: string, key: string): RoleCheck =>
  (file, environment) => {
    const keys = file[section]
    const variable = isJson(keys) ? keys[key] : undefined
    const message = typeof variable === "string" ? unsetSecret(environment, variable) : undefined
    return message === undefined ? [] : [{ path: `${section}.${key}`, message }]
  }

const checks: Partial<Record<RoleName, ReadonlyArray<RoleCheck>>> = {
  console: [secretIn("Console", "PageProxySecretEnvVar")],
  "webhook-dispatcher": [
    secretsOf(["SecretEnvVar", "StandardWebhooksSecretEnvVar"], "Webhooks"),
    secretIn("WebhookDelivery", "SecretsKeyEnvVar")
  ],
  "model-gateway": [secretsOf(["KeyEnvVar"], "ModelGateway", "Providers"), modelFaultsOf],
  "payment-settler": [
    (file, environment) =>
      entriesOf(file, "Payments", "Networks").flatMap(([index, entry]) => keyFaultsOf(entry, index, environment)),
    (file, environment) =>
      entriesOf(file, "Payments", "Signers").flatMap(([index, entry]) => passwordFaultsOf(entry, index, environment))
  ]
}

/** Checks for the roles that the configuration names, or for the given ones. Pure. */
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

/** The roles that can be read; all when none are named. */
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
