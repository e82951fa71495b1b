/** Processes of the payment scenarios: started, told apart by what they say first, ended by their ids. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Passed } from "./timed-proxy.ts"

const startMs = 60_000

export const endOf = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.kill("SIGTERM")
  })

export interface Helper<Said> {
  readonly said: Said
  readonly pid: number
  readonly ask: <Answer>(order: string) => Promise<Answer>
  readonly end: () => Promise<void>
}

/** One of the scripts beside this file. */
export const startHelper = <Said>(script: string, ...parameters: ReadonlyArray<string>) =>
  new Promise<Helper<Said>>((resolve, reject) => {
    const child = fork(join(import.meta.dirname, script), [...parameters], { serialization: "advanced" })
    const failed = () => reject(new Error(`${script} ended before it was ready`))
    child.once("exit", failed)
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

export const startProxy = async (chainUrl: string, upstreamUrl: string) => {
  const proxy = await startHelper<{ chain: string; provider: string }>("timed-proxy.ts", chainUrl, upstreamUrl)
  return {
    chain: proxy.said.chain,
    provider: proxy.said.provider,
    begin: () => proxy.ask<number>("begin"),
    report: () => proxy.ask<ReadonlyArray<Passed>>("report"),
    end: proxy.end
  }
}

export interface Roles {
  readonly url: string
  readonly metrics: string
  readonly pid: number
  readonly end: () => Promise<void>
}

/** The three roles of payments in one process, as `./starling up` runs them. */
export const startRoles = async (
  configuration: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string>>
): Promise<Roles> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-load-"))
  const config = join(folder, "config.json")
  writeFileSync(config, JSON.stringify(configuration))
  const roles = ["payment-verifier", "payment-settler", "model-gateway"]
  const flags = (process.env["LOAD_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "")
  const child = spawn(process.execPath, [...flags, "services/fleet/main.ts", "role", ...roles, "--ready-json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment, STARLING_CONFIG: config, TELEMETRY_PORT: "0" }
  })
  const ready = await new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
    let out = ""
    const timer = setTimeout(() => reject(new Error("the roles were not ready in time")), startMs)
    child.once("exit", (code) => reject(new Error(`the roles ended with ${code}`)))
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString()
      if (!out.includes("\n")) return
      clearTimeout(timer)
      resolve(JSON.parse(out) as Record<string, string>)
    })
  })
  const end = async () => {
    await endOf(child)
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: ready["model-gateway"] ?? "", metrics: ready["metrics"] ?? "", pid: child.pid ?? 0, end }
}
