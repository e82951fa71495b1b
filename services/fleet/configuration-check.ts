/**
 * Every fault of a configuration, in one report and before anything starts: its shape, duplicates, contradictions, and
 * secrets that are unset or invalid, as far as the roles to be run read them. An unreadable part hides no fault of the
 * readable ones.
 */
import { Effect, Result } from "effect"
import {
  configurationInput,
  type ConfigurationSource,
  decodeConfiguration,
  entriesOf,
  inFileOrder,
  isJson,
  type Json,
  readableConfiguration
} from "#configuration"
import { type RoleName, roleNames, secretFault, type SecretKind } from "#base"
import { type ConfigurationFault, Environment, InvalidConfiguration, variableFault } from "#runtime"

type Variables = Readonly<Record<string, string | undefined>>

interface Finding extends ConfigurationFault {
  /** It works today. The next release refuses it. */
  readonly isWarning?: boolean
}

/** A check that concerns a single role. */
type RoleCheck = (file: Json, environment: Variables) => ReadonlyArray<Finding>

interface NamedVariable {
  /** Undefined, or unreadable, if the configuration names none. */
  readonly variable: unknown
  readonly path: string
  readonly kind: SecretKind
}

const findingsIn = (environment: Variables, { variable, path, kind }: NamedVariable): ReadonlyArray<Finding> => {
  const fault = typeof variable === "string" ? variableFault(environment, variable, kind) : undefined
  if (fault === undefined) return []
  return [{ path, message: fault.message, ...(fault.isNoSecret ? {} : { isWarning: true }) }]
}

/** Secrets of each entry of a list, their kinds by the keys that name their variables. */
const secretsOf =
  (kinds: Readonly<Record<string, SecretKind>>, section: string, list?: string): RoleCheck =>
  (file, environment) =>
    entriesOf(file, section, list).flatMap(([index, entry]) =>
      Object.entries(kinds).flatMap(([key, kind]) => {
        const path = `${section}${list === undefined ? "" : `.${list}`}[${index}].${key}`
        return findingsIn(environment, { variable: entry[key], path, kind })
      })
    )

/** The one secret of a section. */
const secretIn =
  (section: string, key: string, kind: SecretKind): RoleCheck =>
  (file, environment) => {
    const keys = file[section]
    return findingsIn(environment, { variable: isJson(keys) ? keys[key] : undefined, path: `${section}.${key}`, kind })
  }

const sealingKey = secretIn("WebhookDelivery", "SecretsKeyEnvVar", "sealing")
const previousSealingKey = secretIn("WebhookDelivery", "PreviousSecretsKeyEnvVar", "sealing")

const brokerPassword: RoleCheck = ({ Bus }) => {
  const password = isJson(Bus) ? Bus["Password"] : undefined
  const fault = typeof password === "string" ? secretFault("password", password) : undefined
  if (fault === undefined) return []
  return [{ path: "Bus.Password", message: fault.message, ...(fault.isNoSecret ? {} : { isWarning: true }) }]
}

/** A role's checks are loaded with it: a process carries nothing of the roles that it does not run. */
const checks: Partial<Record<RoleName, () => Promise<ReadonlyArray<RoleCheck>>>> = {
  console: async () => [secretIn("Console", "PageProxySecretEnvVar", "proof"), sealingKey, previousSealingKey],
  "webhook-dispatcher": async () => [
    secretsOf(
      {
        SecretEnvVar: "signature",
        StandardWebhooksSecretEnvVar: "standardWebhooks",
        OAuthSecretEnvVar: "password",
        ProxyPasswordEnvVar: "password"
      },
      "Webhooks"
    ),
    secretIn("WebhookDelivery", "ProxyPasswordEnvVar", "password"),
    sealingKey,
    previousSealingKey
  ],
  "model-gateway": async () => {
    const { modelFaultsOf } = await import("#model-gateway/models")
    return [secretsOf({ KeyEnvVar: "provider" }, "ModelGateway", "Providers"), modelFaultsOf]
  },
  "payment-settler": async () => {
    const { entryKeyFaultsOf, keyFaultsOf, passwordFaultsOf } = await import("#payment-settler/faults")
    const ofEntries =
      (list: string): RoleCheck =>
      (file, environment) =>
        entriesOf(file, "Payments", list).flatMap(([index, entry]) =>
          entryKeyFaultsOf(entry, `Payments.${list}[${index}]`, environment)
        )
    return [
      (file, environment) =>
        entriesOf(file, "Payments", "Networks").flatMap(([index, entry]) => keyFaultsOf(entry, index, environment)),
      (file, environment) =>
        entriesOf(file, "Payments", "Signers").flatMap(([index, entry]) => passwordFaultsOf(entry, index, environment)),
      ofEntries("Channels"),
      ofEntries("Refunds")
    ]
  }
}

interface Report {
  /** Nothing starts with one of these. */
  readonly faults: ReadonlyArray<ConfigurationFault>
  /** The next release refuses these. */
  readonly warnings: ReadonlyArray<ConfigurationFault>
}

/** Checks for the roles that the configuration names, or for the given ones. */
export const reportFor = async (
  input: unknown,
  environment: Variables,
  only?: ReadonlyArray<RoleName>
): Promise<Report> => {
  const decoded = decodeConfiguration(input)
  const shape = Result.isFailure(decoded) ? decoded.failure : []
  const file = readableConfiguration(input)
  const loaded = await Promise.all((only ?? rolesOf(file)).map((role) => checks[role]?.() ?? []))
  // Two roles can have the same check.
  const found = [...new Set([brokerPassword, ...loaded.flat()])].flatMap((check) => check(file, environment))
  const [faults, warnings] = [false, true].map((isWarning) =>
    found.flatMap((one) => ((one.isWarning ?? false) === isWarning ? [{ path: one.path, message: one.message }] : []))
  )
  return { faults: inFileOrder(input, [...shape, ...(faults ?? [])]), warnings: inFileOrder(input, warnings ?? []) }
}

/** The readable role names; all roles when none are named. */
const rolesOf = ({ Fleet }: Json): ReadonlyArray<RoleName> => {
  const named = isJson(Fleet) ? Fleet["Roles"] : undefined
  return Array.isArray(named) ? roleNames.filter((role) => named.includes(role)) : roleNames
}

/**
 * Fails with all faults at once, after a warning about what works only until the next release. Calls no other process
 * and starts nothing.
 */
export const checkConfiguration = Effect.fn("checkConfiguration")(function* (
  source: ConfigurationSource,
  only?: ReadonlyArray<RoleName>
) {
  const { input, repeated } = yield* configurationInput(source)
  const environment = yield* Environment
  const { faults, warnings } = yield* Effect.promise(() => reportFor(input, environment, only))
  if (warnings.length > 0) {
    const lines = warnings.map(({ path, message }) => `  - ${path}: ${message}`)
    yield* Effect.logWarning(`secrets that the next release refuses:\n${lines.join("\n")}`)
  }
  const all = inFileOrder(input, [...faults, ...repeated])
  if (all.length > 0) return yield* new InvalidConfiguration({ faults: all })
})
