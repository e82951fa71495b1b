/** Processes that a scenario starts: scripts beside it, and roles as a container runs them. Ended by their ids. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { RoleName } from "#base"
import { program } from "#dev/fixtures/starling"
import { until } from "./loops.ts"

const startMsMax = 90_000

/** The exit code; null for one that a signal ended. */
export const endOf = (child: ChildProcess, signal: NodeJS.Signals = "SIGTERM") =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode)
    child.once("exit", (code) => resolve(code))
    child.kill(signal)
  })

export interface Helper<Said> {
  /** What it told first: that it is ready, and where. */
  readonly said: Said
  readonly pid: number
  readonly ask: <Answer>(order: string) => Promise<Answer>
  readonly end: () => Promise<unknown>
}

export const startHelper = <Said>(script: string, ...parameters: ReadonlyArray<string>) =>
  new Promise<Helper<Said>>((resolve, reject) => {
    // As anybody would start it: with none of the flags of the process that measures.
    const child = fork(script, [...parameters], { serialization: "advanced", execArgv: [] })
    const failed = (code: number | null) => reject(new Error(`${script} ended with ${code} before it was ready`))
    child.once("exit", failed)
    child.once("error", reject)
    child.once("message", (said) => {
      child.off("exit", failed)
      const ask = <Answer>(order: string) =>
        new Promise<Answer>((told) => {
          child.once("message", (answer) => told(answer as Answer))
          child.send(order)
        })
      resolve({ said: said as Said, pid: child.pid ?? 0, ask, end: () => endOf(child) })
    })
  })

export interface Roles {
  /** Of the APIs among them, by role. */
  readonly urls: Readonly<Record<string, string>>
  readonly metrics: string
  readonly pid: number
  /** How they ended and how long that took. */
  readonly end: (signal?: NodeJS.Signals) => Promise<{ readonly code: number | null; readonly tookMs: number }>
}

type Sections = Readonly<Record<string, unknown>>

/** The named roles in one process, ready. */
export const startRoles = async (
  roles: ReadonlyArray<RoleName>,
  configuration: Sections,
  environment: Readonly<Record<string, string>> = {}
): Promise<Roles> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-load-"))
  const config = join(folder, "config.json")
  const telemetry = { Port: 0, LogLevel: process.env["LOAD_LOG"] ?? "Error" }
  writeFileSync(config, JSON.stringify({ Telemetry: telemetry, ...configuration }))
  const flags = (process.env["LOAD_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "")
  const child = spawn(process.execPath, [...flags, program, "role", ...roles, "--ready-json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment, STARLING_CONFIG: config }
  })
  const { metrics = "", ...urls } = JSON.parse(await firstLineOf(child, roles.join(", "))) as Record<string, string>
  const isReady = async () => (await fetch(`${metrics}/readyz`).catch(() => undefined))?.status === 200
  await until(isReady, startMsMax, `${roles.join(", ")} was ready`).catch(async (error: unknown) => {
    await endOf(child)
    throw error
  })
  const end = async (signal: NodeJS.Signals = "SIGTERM") => {
    const started = performance.now()
    const code = await endOf(child, signal)
    rmSync(folder, { recursive: true, force: true })
    return { code, tookMs: performance.now() - started }
  }
  return { urls, metrics, pid: child.pid ?? 0, end }
}

const firstLineOf = (child: ChildProcess, name: string) =>
  new Promise<string>((resolve, reject) => {
    let out = ""
    const tooLate = new Error(`${name} said nothing within ${startMsMax / 1_000} s of its start`)
    const timer = setTimeout(() => void endOf(child).then(() => reject(tooLate)), startMsMax)
    const ended = (how: unknown) => {
      clearTimeout(timer)
      reject(new Error(`${name} ended with ${how} before it was ready; its own words are above`))
    }
    child.once("exit", (code, signal) => ended(code ?? signal))
    child.once("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.stdout?.on("data", (data: Buffer) => {
      out += data.toString()
      if (!out.includes("\n")) return
      clearTimeout(timer)
      resolve(out)
    })
  })
