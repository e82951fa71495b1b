/**
 * The home of a fleet and its configuration, from the environment and the working folder; and its private files.
 */
import { resolve } from "node:path"
import { randomUUID } from "node:crypto"
import { rename, rm, writeFile } from "node:fs/promises"
import { Effect } from "effect"
import { Environment } from "#runtime"

export interface FleetSettings {
  readonly home: string
  readonly configPath: string
  /** A file named by STARLING_CONFIG must exist. */
  readonly isConfigNamed: boolean
  /** The port for the embedded nats-server. */
  readonly natsPort: number
  readonly receiverPort: number
  /** From here on: the ports of the local chains and the local provider of models. */
  readonly evmPort: number
  readonly solanaPort: number
  readonly upstreamPort: number
}

export const secretVariable = "STARLING_DEMO_SECRET"
const demoSecret = "a-secret-for-trying-things-out"

export const readSettings = Effect.map(Environment, (environment): FleetSettings => {
  const named = environment["STARLING_CONFIG"]
  return {
    home: resolve(environment["STARLING_HOME"] ?? ".starling"),
    configPath: resolve(named ?? "starling.config.json"),
    isConfigNamed: named !== undefined,
    natsPort: portOf(environment["STARLING_NATS_PORT"], 4_222),
    receiverPort: portOf(environment["STARLING_RECEIVER_PORT"], 7_480),
    evmPort: portOf(environment["STARLING_EVM_PORT"], 0),
    solanaPort: portOf(environment["STARLING_SOLANA_PORT"], 0),
    upstreamPort: portOf(environment["STARLING_UPSTREAM_PORT"], 0)
  }
})

/** The embedded nats-server's own folder. */
export const natsFolder = (home: string) => `${home}/nats`

export const demoSecretOf = (environment: Readonly<Record<string, string | undefined>>) =>
  environment[secretVariable] ?? demoSecret

/** Replaces a missing configuration file: one endpoint, the receiver that `up` starts. */
export const demoConfiguration = (receiverUrl: string) => ({
  Webhooks: [{ Name: "demo", Url: receiverUrl, SecretEnvVar: secretVariable, EventFilter: ["*"] }]
})

const portOf = (text: string | undefined, otherwise: number) => {
  const port = Number(text)
  return text !== undefined && Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : otherwise
}

/** Atomically writes a file that only its owner can read, even over one that others can read. */
export const writePrivately = (path: string, text: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const draft = `${path}.${randomUUID()}`
    try {
      await writeFile(draft, text, { mode: 0o600, flag: "wx" })
      await rename(draft, path)
    } finally {
      await rm(draft, { force: true })
    }
  })
