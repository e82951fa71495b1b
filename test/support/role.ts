/** Roles in one process as a container runs them: `./starling role <name>...`, own configuration file, own port. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../dev/fixtures/free-port.ts"

const root = join(import.meta.dirname, "../..")

export interface RoleOptions {
  readonly configuration: Readonly<Record<string, unknown>>
  readonly environment?: Readonly<Record<string, string>>
}

export interface RunningRole {
  readonly url: string
  readonly out: () => string
  readonly error: () => string
  /** The log, every line read as the JSON it must be. */
  readonly log: () => ReadonlyArray<Readonly<Record<string, unknown>>>
  /** The answer's status, or 0 without an answer. */
  readonly status: (path: string) => Promise<number>
  readonly metrics: () => Promise<string>
  /** Resolves with the exit code, or the signal, when the process has ended. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly signal: (signal: NodeJS.Signals) => void
}

const started: Array<RunningRole> = []

/** One role by its name, or several in the same process. */
export const startRole = async (names: string | ReadonlyArray<string>, options: RoleOptions): Promise<RunningRole> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-role-"))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = join(folder, "config.json")
  writeFileSync(config, JSON.stringify(options.configuration))
  const child = spawn("./starling", ["role", ...[names].flat()], {
    cwd: root,
    env: { ...process.env, STARLING_CONFIG: config, TELEMETRY_PORT: String(port), ...options.environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let [out, error] = ["", ""]
  child.stdout.on("data", (data: Buffer) => (out += data.toString()))
  child.stderr.on("data", (data: Buffer) => (error += data.toString()))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("close", (code, signal) => {
      rmSync(folder, { recursive: true, force: true })
      resolve(signal ?? code)
    })
  )
  const answerTo = (path: string) => fetch(`${url}${path}`).catch(() => undefined)
  const role: RunningRole = {
    url,
    ended,
    out: () => out,
    error: () => error,
    log: () =>
      error
        .split("\n")
        // Before the role starts, the launcher prints its installations.
        .filter((line) => line !== "" && !line.startsWith("starling: "))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    status: async (path) => (await answerTo(path))?.status ?? 0,
    metrics: async () => (await answerTo("/metrics"))?.text() ?? "",
    signal: (signal) => void child.kill(signal)
  }
  started.push(role)
  return role
}

/** Ends every role that a test has left running. */
export const endRoles = async () => {
  for (const role of started.splice(0)) {
    role.signal("SIGKILL")
    await role.ended
  }
}
