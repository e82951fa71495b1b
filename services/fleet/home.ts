/**
 * The home of a fleet and its configuration, from the environment and the working folder; and its private files.
 *
 * The passwords of the broker's users: a file each, named after its user, in a folder that only its owner can enter.
 * They are made at the first start and kept, so that a service with one still gets in after a restart; a removed file
 * is made anew at the next start.
 *
 * They are 256 random bits, stored in the clear: a slow hash protects passwords that can be guessed, and would cost a
 * processor at every connection. A reader of the server's file can read these too.
 */
import { join, resolve } from "node:path"
import { randomBytes, randomUUID } from "node:crypto"
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { Effect } from "effect"
import { Environment, Secrets } from "#runtime"

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

/** Takes the place of a missing configuration file: one endpoint, the receiver that `up` starts. */
export const demoConfiguration = (receiverUrl: string) => ({
  Webhooks: [{ Name: "demo", Url: receiverUrl, SecretEnvVar: secretVariable, EventFilter: ["*"] }]
})

const portOf = (text: string | undefined, otherwise: number) => {
  const port = Number(text)
  return text !== undefined && Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : otherwise
}

/** Writes a file that only its owner can read, even over one that others can: whole, or not at all. */
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

const passwordBytes = 32

/** Below the server's own folder. */
export const passwordsFolder = (serverFolder: string) => join(serverFolder, "users")

export const readPassword = (folder: string, user: string): Effect.Effect<string | undefined> =>
  Effect.tryPromise(() => readFile(join(folder, user), "utf8")).pipe(
    Effect.map((text) => (text.trim() === "" ? undefined : text.trim())),
    Effect.orElseSucceed(() => undefined)
  )

/** Reads the passwords, and makes missing ones; no log of this process shows one. */
export const keepPasswords = Effect.fn("keepPasswords")(function* (folder: string, users: ReadonlyArray<string>) {
  const { add } = yield* Secrets
  yield* Effect.promise(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
  })
  const kept = yield* Effect.forEach(
    users,
    Effect.fnUntraced(function* (user) {
      const found = yield* readPassword(folder, user)
      // Only letters and digits, so that it can follow any option, and stand in any file.
      const password = found ?? randomBytes(passwordBytes).toString("hex")
      add(password)
      // A file that was put there by hand may be readable to others.
      if (found === undefined) yield* writePrivately(join(folder, user), `${password}\n`)
      else yield* Effect.promise(() => chmod(join(folder, user), 0o600))
      return [user, password] as const
    }),
    { concurrency: "unbounded" }
  )
  return new Map(kept)
})
