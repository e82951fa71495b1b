/** `Bus`, `Telemetry` and `Fleet`: where the broker is, what is shown of a process, and which roles run in it. */
import { Schema } from "effect"
import { section, withDefault } from "./defaults.ts"

export const Bus = section({
  /** One or more servers, separated by commas. */
  Url: withDefault(Schema.NonEmptyString, "nats://127.0.0.1:4222"),
  CredentialsFile: Schema.optionalKey(Schema.NonEmptyString),
  User: Schema.optionalKey(Schema.NonEmptyString),
  Password: Schema.optionalKey(Schema.RedactedFromValue(Schema.NonEmptyString)),
  /** `create` makes the streams; `verify` only checks them, for deployments where somebody else owns them. */
  Topology: withDefault(Schema.Literals(["create", "verify"]), "create"),
  Replicas: withDefault(Schema.Literals([1, 3, 5]), 1)
})

export const logLevels = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"] as const

export const Telemetry = section({
  LogLevel: withDefault(Schema.Literals(logLevels), "Info"),
  /** Base URL of an OTLP/HTTP collector; without it nothing is traced. */
  OtlpUrl: Schema.optionalKey(Schema.NonEmptyString),
  TraceSampleRatio: withDefault(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })), 0.01),
  /** Where metrics and health are served. */
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1"),
  Port: withDefault(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })), 9_400)
})

/** The roles that exist. A role's name is its folder, its deployment, its user on the bus and its label. */
export const roleNames = [
  "pipeline-api",
  "webhook-dispatcher",
  "sweeper",
  "speech-api",
  "speech-sequencer",
  "speech-synthesizer",
  "model-gateway",
  "payment-verifier",
  "payment-settler"
] as const
export type RoleName = (typeof roleNames)[number]

/** Without a word about it: every role but those that serve nothing before they are told whom to ask. */
const needsProviders: ReadonlyArray<RoleName> = ["model-gateway", "payment-verifier", "payment-settler"]
const usualRoles = roleNames.filter((name) => !needsProviders.includes(name))

export const Fleet = section({
  Roles: withDefault(Schema.Array(Schema.Literals(roleNames)), usualRoles)
})
