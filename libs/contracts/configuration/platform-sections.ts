/** `Bus`, `Telemetry` and `Fleet`: where the broker is, what is shown of a process, and which roles run in it. */
import { Schema } from "effect"
import { optional, section, withDefault } from "./defaults.ts"

const file = Schema.NonEmptyString

const areNamed = (url: string) => !url.split(",").some((server) => /\/\/(?:\d+\.\d+\.\d+\.\d+|\[)/u.test(server))

export const Bus = section(
  {
    Url: withDefault(
      Schema.NonEmptyString,
      "nats://127.0.0.1:4222",
      "One or more servers, separated by commas. `tls://`: never without encryption."
    ),
    TlsCaFile: optional(
      file,
      "The authorities that sign the broker's certificate, as PEM; without it, those that Node believes. Read at every connection. Set, there is never a connection without encryption."
    ),
    TlsCertificateFile: optional(
      file,
      "What the role shows a broker that verifies its clients, as PEM with the chain."
    ),
    TlsKeyFile: optional(file, "The key of that certificate, as PEM."),
    CredentialsFile: optional(file, "A `.creds` file, for a broker whose users are made by an operator's JWT."),
    User: optional(Schema.NonEmptyString, "The role's user on the broker."),
    Password: optional(Schema.RedactedFromValue(Schema.NonEmptyString), "Its password."),
    PasswordsFolder: optional(
      file,
      "A folder with a file for each user, named after it, with its password. Each role is then the user of its own name, also where several run in one process; goes before `User`, `Password` and `CredentialsFile`. Read at the start."
    ),
    Topology: withDefault(
      Schema.Literals(["create", "verify"]),
      "create",
      "`create` makes the streams; `verify` only checks them, for deployments where somebody else owns them."
    ),
    Replicas: withDefault(Schema.Literals([1, 3, 5]), 1, "Of each stream.")
  },
  ({ Url, TlsCaFile, TlsCertificateFile, TlsKeyFile }) => {
    if ((TlsCertificateFile === undefined) !== (TlsKeyFile === undefined)) {
      return "TlsCertificateFile and TlsKeyFile come together"
    }
    const isEncrypted = Url.includes("tls://") || TlsCaFile !== undefined || TlsKeyFile !== undefined
    // The client library would hold the certificate against the name `localhost`.
    return !isEncrypted || areNamed(Url) || "with TLS, servers in Url go by a name and not by an address"
  }
)

export const logLevels = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"] as const

export const Telemetry = section({
  LogLevel: withDefault(Schema.Literals(logLevels), "Info", "The least that is logged."),
  OtlpUrl: optional(Schema.NonEmptyString, "Base URL of an OTLP/HTTP collector; without it nothing is traced."),
  TraceSampleRatio: withDefault(
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    0.01,
    "Share of the traces that is kept."
  ),
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where metrics and health are served."),
  Port: withDefault(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })), 9_400, "0: any free one.")
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
  Roles: withDefault(
    Schema.Array(Schema.Literals(roleNames)),
    usualRoles,
    "The roles of this process. Those that sell need providers and networks, and are named where they are wanted."
  )
})
