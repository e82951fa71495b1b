/** The role webhook-dispatcher as a process of its own, as a container runs it. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

interface DispatcherProcess {
  /** Sends a signal; after SIGKILL it ends when the process has. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

export const startDispatcherProcess = (server: TestNatsServer) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(server)),
      ({ end }) => Effect.promise(() => end("SIGKILL"))
    ),
    ({ child, end }): DispatcherProcess => ({
      kill: (signal) =>
        signal === "SIGKILL" ? Effect.promise(() => end(signal)) : Effect.sync(() => void child.kill(signal))
    })
  )

const start = async (server: TestNatsServer) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-dispatcher-"))
  const path = join(folder, "config.json")
  const configuration = {
    Telemetry: { Port: 0, LogLevel: "Error" },
    Bus: { Url: server.url, Topology: "verify" },
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] }
  }
  writeFileSync(path, JSON.stringify(configuration))
  const child = spawn(process.execPath, ["services/cli/main.ts", "role", "webhook-dispatcher", "--ready-json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, STARLING_CONFIG: path }
  })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve())
    void ended.then(() => reject(new Error("the dispatcher ended before it was ready")))
  })
  return { child, end }
}
