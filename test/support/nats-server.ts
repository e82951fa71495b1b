/**
 * A real nats-server for a test or a load test: its own folder, its own port, ended by its pid. It can be
 * killed the hard way and started again on the same port and store.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { connect as connectSocket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.ts"

export interface TestNatsServer {
  readonly url: string
  readonly port: number
  readonly pid: () => number
  /** SIGKILL; resolves when the process is gone. */
  readonly kill9: () => Promise<void>
  /** Starts it again on the same port and store. */
  readonly start: () => Promise<void>
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>
}

const findBinary = () => {
  const tools = join(import.meta.dirname, "../../.starling/tools")
  const installed = existsSync(tools) ? readdirSync(tools).filter((name) => name.startsWith("nats-server-")) : []
  const known = installed.map((name) => join(tools, name, "nats-server")).find((path) => existsSync(path))
  return process.env["STARLING_NATS_SERVER"] ?? known ?? "nats-server"
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connectSocket(port, "127.0.0.1")
    const end = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once("data", () => end(true))
    socket.once("error", () => end(false))
    socket.setTimeout(1_000, () => end(false))
  })

export interface TestNatsOptions {
  /** Further lines of the configuration. */
  readonly configuration?: string
  /** What the configuration refers to. */
  readonly environment?: Readonly<Record<string, string>>
  /** Where it stores what it is told, and leaves it; otherwise a folder that goes with it. */
  readonly store?: string
}

export const startNatsServer = async (options: TestNatsOptions = {}): Promise<TestNatsServer> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-nats-"))
  const port = await freePort()
  const config = join(folder, "server.conf")
  const store = options.store ?? join(folder, "data")
  writeFileSync(
    config,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(store)} }\n${options.configuration ?? ""}\n`
  )
  let child: ChildProcess | undefined

  const start = async () => {
    child = spawn(findBinary(), ["-c", config], {
      stdio: "ignore",
      env: { ...process.env, ...options.environment }
    })
    let failed: Error | undefined
    child.once("error", (error) => (failed = error))
    const deadline = performance.now() + 30_000
    while (!(await answers(port))) {
      if (failed !== undefined) throw failed
      if (performance.now() > deadline) throw new Error("nats-server did not answer within 30 s")
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      const running = child
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return resolve()
      running.once("exit", () => resolve())
      running.kill(signal)
    })
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: () => child?.pid ?? 0,
    kill9: () => end("SIGKILL"),
    start,
    stop: async () => {
      await end("SIGTERM")
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
