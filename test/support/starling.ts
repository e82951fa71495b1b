/** Starts the launcher as a person would, in a home of its own, on any free ports. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type BusAddress, homeAddress, passwordsOf } from "./bus-address.ts"
import type { ReadyReport } from "../../services/fleet/commands/up.ts"

const root = join(import.meta.dirname, "../..")

export interface Home {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  readonly remove: () => void
}

export const newHome = (changes: Readonly<Record<string, string>> = {}): Home => {
  const folder = mkdtempSync(join(tmpdir(), "starling-home-"))
  const environment = {
    ...process.env,
    STARLING_HOME: folder,
    STARLING_CONFIG: undefined,
    STARLING_NATS_PORT: "0",
    STARLING_RECEIVER_PORT: "0",
    TELEMETRY_PORT: "0",
    PIPELINE_API_PORT: "0",
    SPEECH_API_PORT: "0",
    MODEL_GATEWAY_PORT: "0",
    ...changes
  }
  return { folder, environment, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

type Whole<A> = { readonly [Key in keyof A]-?: Whole<A[Key]> }

/** What a fleet of all roles says when it is ready; one that is told to run fewer says less. */
export type Ready = Whole<ReadyReport>

export interface RunningFleet {
  readonly ready: Ready
  readonly pid: number
  readonly log: () => string
  /** Its broker as one of the house: a role, `operator`, or `stream-keeper`, which sees everything stored. */
  readonly busAs: (user: string) => BusAddress
  /** Its broker as an internal service has it, who knows the ready line alone. */
  readonly serviceBus: BusAddress
  /** The section `Bus` of one more role of this fleet, in a process of its own. */
  readonly roleBus: Readonly<Record<string, string>>
  /** Resolves with the exit code, or the signal. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>
}

export const startFleet = (home: Home): Promise<RunningFleet> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = spawn("./starling", ["up", "--ready-json"], {
      cwd: root,
      env: home.environment,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [out, log] = ["", ""]
    const ended = new Promise<number | NodeJS.Signals | null>((end) =>
      child.once("exit", (code, signal) => end(signal ?? code))
    )
    child.stderr?.on("data", (data: Buffer) => (log += data.toString()))
    child.stdout?.on("data", (data: Buffer) => {
      out += data.toString()
      if (!out.includes("\n")) return
      const ready = JSON.parse(out) as Ready
      const stop = (signal: NodeJS.Signals) => {
        child.kill(signal)
        return ended
      }
      const { user, pass: password } = ready.natsCredentials
      resolve({
        ready,
        pid: child.pid ?? 0,
        log: () => log,
        busAs: (party) => homeAddress(home.folder, ready.nats, party),
        serviceBus: { url: ready.nats, user, password },
        roleBus: { Url: ready.nats, PasswordsFolder: passwordsOf(home.folder), Topology: "verify" },
        stop
      })
    })
    void ended.then((code) => reject(new Error(`the fleet ended with ${code}:\n${log}`)))
  })

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export const starling = (home: Home, ...parameters: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn("./starling", [...parameters], { cwd: root, env: home.environment })
    let [out, error] = ["", ""]
    child.stdout.on("data", (data: Buffer) => (out += data.toString()))
    child.stderr.on("data", (data: Buffer) => (error += data.toString()))
    child.once("exit", (code) => resolve({ code, out, error }))
  })

export const until = async (is: () => boolean | Promise<boolean>, withinMs = 20_000) => {
  const deadline = performance.now() + withinMs
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
