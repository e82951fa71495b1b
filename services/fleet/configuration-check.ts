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

/** A role's checks are loaded with it: a process carries nothing of the roles that it does not run. */
const checks: Partial<Record<RoleName, () => Promise<ReadonlyArray<RoleCheck>>>> = {
  console: async () => [secretIn("Console", "PageProxySecretEnvVar")],
  "webhook-dispatcher": async () => [
    secretsOf(["SecretEnvVar", "StandardWebhooksSecretEnvVar"], "Webhooks"),
    secretIn("WebhookDelivery", "SecretsKeyEnvVar")
  ],
  "model-gateway": async () => {
    const { modelFaultsOf } = await import("#model-gateway/models")
    return [secretsOf(["KeyEnvVar"], "ModelGateway", "Providers"), modelFaultsOf]
  },
  "payment-settler": async () => {
    const { keyFaultsOf, passwordFaultsOf } = await import("#payment-settler/faults")
    return [
      (file, environment) =>
        entriesOf(file, "Payments", "Networks").flatMap(([index, entry]) => keyFaultsOf(entry, index, environment)),
      (file, environment) =>
        entriesOf(file, "Payments", "Signers").flatMap(([index, entry]) => passwordFaultsOf(entry, index, environment))
    ]
  }
}

/** Checks for the roles that the configuration names, or for the given ones. */
export const faultsFor = async (
  input: unknown,
  environment: Variables,
  only?: ReadonlyArray<RoleName>
): Promise<ReadonlyArray<ConfigurationFault>> => {
  const decoded = decodeConfiguration(input)
  const shape = Result.isFailure(decoded) ? decoded.failure : []
  const file = readableConfiguration(input)
  const loaded = await Promise.all((only ?? rolesOf(file)).map((role) => checks[role]?.() ?? []))
  const found = loaded.flat().flatMap((check) => check(file, environment))
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
  const environment = yield* Environment
  const faults = yield* Effect.promise(() => faultsFor(input, environment, only))
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
})
