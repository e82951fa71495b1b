/** A role as a process of its own, as a container runs it, so that a test can kill it. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { RoleName } from "#base"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { program, programEnvironment } from "../../dev/fixtures/starling.ts"

interface RoleProcess {
  /** Where its API listens; empty for a role without one. */
  readonly url: string
  /** Sends a signal; after SIGKILL it ends when the process has. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Completes when the process has ended. */
  readonly ended: Effect.Effect<void>
}

/** Ready when it answers; killed at the end of the scope. */
export const startRoleProcess = (server: TestNatsServer, role: RoleName, settings: Settings = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(server, role, settings)),
      ({ end }) => Effect.promise(() => end("SIGKILL"))
    ),
    ({ child, url, end, ended }): RoleProcess => ({
      url,
      ended: Effect.promise(() => ended),
      kill: (signal) =>
        signal === "SIGKILL" ? Effect.promise(() => end(signal)) : Effect.sync(() => void child.kill(signal))
    })
  )

/** Over the usual ones. */
type Settings = Readonly<Record<string, unknown>>

const start = async (server: TestNatsServer, role: RoleName, settings: Settings) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-role-"))
  const path = join(folder, "config.json")
  const configuration = {
    Telemetry: { Port: 0, LogLevel: "Error" },
    Bus: { Url: server.url, Topology: "verify" },
    Console: { Port: 0 },
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
    ...settings
  }
  writeFileSync(path, JSON.stringify(configuration))
  const child = spawn(process.execPath, [program, "role", role, "--ready-json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...programEnvironment, STARLING_CONFIG: path }
  })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const said = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(line.toString("utf8")))
    void ended.then(() => reject(new Error(`the role ${role} ended before it was ready`)))
  })
  return { child, url: (JSON.parse(said) as Readonly<Record<string, string>>)[role] ?? "", end, ended }
}
