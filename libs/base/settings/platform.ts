/**
 * `Bus`, `Telemetry`, `Fleet` and `Redaction`: where the broker is, what telemetry a process exports, which roles it
 * runs, and which texts are secrets.
 */
import { Result, Schema } from "effect"
import { isName } from "../primitives.ts"
import { EnvironmentName, optional, required, section, shownAs, span, whole, withDefault } from "./keys.ts"

const file = Schema.NonEmptyString

const areNamed = (url: string) => !url.split(",").some((server) => /\/\/(?:\d+\.\d+\.\d+\.\d+|\[)/u.test(server))

export const Bus = section(
  {
    Url: shownAs("origins")(
      withDefault(
        Schema.NonEmptyString,
        "nats://127.0.0.1:4222",
        "One or more servers, separated by commas. `tls://`: never without encryption."
      )
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
    Password: shownAs("nothing")(optional(Schema.RedactedFromValue(Schema.NonEmptyString), "Its password.")),
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
    // With an address in Url, the client library would check the certificate against the name `localhost`.
    return !isEncrypted || areNamed(Url) || "with TLS, servers in Url go by a name and not by an address"
  }
)

const logLevels = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"] as const

export const Telemetry = section({
  LogLevel: withDefault(Schema.Literals(logLevels), "Info", "The least that is logged."),
  OtlpUrl: shownAs("origins")(
    optional(Schema.NonEmptyString, "Base URL of an OTLP/HTTP collector; without it nothing is traced.")
  ),
  TraceSampleRatio: withDefault(span(0, 1), 0.01, "Share of the traces that is kept."),
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where metrics and health are served."),
  Port: withDefault(whole(0, 65_535), 9_400, "0: any free one.")
})

/** The existing roles. A role's name is its folder, its deployment, its user on the bus and its label. */
export const roleNames = [
  "pipeline-api",
  "webhook-dispatcher",
  "sweeper",
  "speech-api",
  "speech-sequencer",
  "speech-synthesizer",
  "model-gateway",
  "payment-verifier",
  "payment-settler",
  "console"
] as const
export type RoleName = (typeof roleNames)[number]

/** The default is every role except these: without configured providers they have nothing to serve. */
const needsProviders: ReadonlyArray<RoleName> = ["model-gateway", "payment-verifier", "payment-settler"]
const usualRoles = roleNames.filter((name) => !needsProviders.includes(name))

export const Fleet = section({
  Roles: withDefault(
    Schema.Array(Schema.Literals(roleNames)),
    usualRoles,
    "The roles of this process. Those that sell need providers and networks, and are named where they are wanted."
  ),
  Workspace: withDefault(
    Schema.String.check(Schema.isBetweenLength(1, 100), isName),
    "default",
    "The workspace whose tokens may reach the whole fleet: its events, receipts, work items and settings. Tokens of every other one act within their workspace alone. The same for all roles and for commands."
  )
})

const patternCharactersMax = 500

// The usual cause of a search in more than linear time: a repeated group that contains a repetition.
const repeatsWithin = (source: string) => {
  let holdsRepetition = false
  for (const [token] of source.matchAll(/\\.|\(|\)(?:[+*]|\{\d+,\d*\})?|[+*]|\{\d+,\d*\}/gsu)) {
    if (token.startsWith(")") && token.length > 1 && holdsRepetition) return true
    holdsRepetition = !/^[()]/u.test(token) && (holdsRepetition || !token.startsWith("\\"))
  }
  return false
}
const refersBack = /\\(?:[1-9]|k<)/u

/** Patterns run over every text that people or agents wrote, so they must be linear. */
const isSearchable = (source: string) => {
  const compiled = Result.try(() => new RegExp(source, "gu"))
  if (Result.isFailure(compiled)) return "not a regular expression (with the flag u)"
  if (compiled.success.test("")) return "finds a secret in an empty text"
  if (refersBack.test(source)) return "a reference back to a group may take very long"
  return !repeatsWithin(source) || "a repeated group that repeats within may take very long"
}

export const RedactionPattern = Schema.Struct({
  Name: required(Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,64}$/u)), "What stands in its place: `[name]`."),
  // It can be the very secret that it finds.
  Pattern: shownAs("nothing")(
    required(
      Schema.String.check(Schema.isBetweenLength(1, patternCharactersMax), Schema.makeFilter(isSearchable)),
      "A regular expression with the flag u."
    )
  ),
  Flags: optional(Schema.Literals(["i"]), "`i`: whatever the case.")
})
export interface RedactionPattern extends Schema.Schema.Type<typeof RedactionPattern> {}

/** Secrets beyond the well-known ones: keys of providers, tokens, private keys, passwords in URLs. */
export const Redaction = section({
  Patterns: withDefault(
    Schema.Array(RedactionPattern).check(Schema.isMaxLength(64)),
    [],
    "Further secrets, each removed from questions, answers, reasons and errors before they are kept or told, and from what is kept of messages that break their schema."
  ),
  SecretEnvVars: withDefault(
    Schema.Array(EnvironmentName).check(Schema.isMaxLength(64)),
    [],
    "Variables whose values are secrets wherever they occur."
  )
})
export interface Redaction extends Schema.Schema.Type<typeof Redaction> {}

/** The sections decoded by `Configuration` that belong to no product. */
export interface PlatformSections {
  readonly Bus: typeof Bus.Type
  readonly Fleet: typeof Fleet.Type
  readonly Redaction: Redaction
  readonly Telemetry: typeof Telemetry.Type
}
