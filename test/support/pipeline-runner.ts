/** Runners as people start them: `./starling runner`, each with a folder of its own, ended by its pid. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { storesFolder } from "../../dev/fixtures/stores.ts"

const root = join(import.meta.dirname, "../..")

export interface TestRunner {
  readonly log: () => string
  /** How often it was started. */
  readonly starts: () => number
  /** Ends it in order; answers with its exit code. */
  readonly stop: () => Promise<number | NodeJS.Signals | null>
}

export interface TestRunnerOptions {
  readonly nats: string
  /** Of the fleet with that broker; a broker elsewhere knows no users here. */
  readonly home?: string
  readonly agents: ReadonlyArray<string>
  readonly atOnce?: number
  readonly more?: ReadonlyArray<string>
}

/** One that dies is started again, in the same folder. */
export const startRunner = async (options: TestRunnerOptions): Promise<TestRunner> => {
  const { nats, home, agents, atOnce = 4, more = [] } = options
  const folder = mkdtempSync(join(storesFolder(), "starling-runner-"))
  const environment = home === undefined ? process.env : { ...process.env, STARLING_HOME: home }
  const parameters = [
    "runner",
    ...agents.flatMap((agent) => ["--agent", agent]),
    "--at-once",
    String(atOnce),
    "--folder",
    folder,
    "--nats",
    nats,
    "--wait",
    "2000",
    ...more
  ]
  let [log, starts, isStopping] = ["", 0, false]
  let child: ChildProcess
  let ended: Promise<number | NodeJS.Signals | null>
  const start = () => {
    starts += 1
    const started = spawn("./starling", parameters, {
      cwd: root,
      env: environment,
      stdio: ["ignore", "ignore", "pipe"]
    })
    child = started
    started.stderr.on("data", (data: Buffer) => (log += data.toString()))
    ended = new Promise((resolve) =>
      started.once("exit", (code, signal) => {
        if (!isStopping) start()
        resolve(signal ?? code)
      })
    )
  }
  start()
  await until(() => log.includes("the runner takes work"), { withinMs: startWithinMs }).catch(() => {
    child.kill("SIGKILL")
    throw new Error(`the runner did not start:\n${log}`)
  })
  return {
    log: () => log,
    starts: () => starts,
    stop: async () => {
      isStopping = true
      child.kill("SIGTERM")
      const how = await ended
      rmSync(folder, { recursive: true, force: true })
      return how
    }
  }
}
