/** A real Prometheus for a test: its own folder, a free port of loopback, ended by its pid; and its HTTP API. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"

export interface RunningPrometheus {
  /** The `data` of an answer. */
  readonly ask: <A>(path: string, parameters?: Readonly<Record<string, string>>) => Promise<A>
  readonly stop: () => Promise<void>
}

export const startPrometheus = async (
  program: string,
  scrapes: ReadonlyArray<unknown>,
  rules: unknown
): Promise<RunningPrometheus> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-prometheus-"))
  const address = `127.0.0.1:${await freePort()}`
  writeFileSync(join(folder, "rules.yaml"), stringify(rules, { aliasDuplicateObjects: false }))
  const configuration = { global: { evaluation_interval: "1s" }, rule_files: ["rules.yaml"], scrape_configs: scrapes }
  writeFileSync(join(folder, "prometheus.yaml"), stringify(configuration, { aliasDuplicateObjects: false }))
  const child = spawn(
    program,
    [
      `--config.file=${folder}/prometheus.yaml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`
    ],
    { stdio: ["ignore", "ignore", "pipe"] }
  )
  let log = ""
  child.stderr.on("data", (data: Buffer) => (log += data.toString()))
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended:\n${log}`)
      return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true
    },
    { withinMs: startWithinMs }
  )
  return {
    ask: async <A>(path: string, parameters: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`)
      const { data, error } = (await answer.json()) as { readonly data: A; readonly error?: string }
      if (error !== undefined) throw new Error(`${path} ${JSON.stringify(parameters)}: ${error}`)
      return data
    },
    stop: async () => {
      child.kill("SIGTERM")
      await ended
      rmSync(folder, { recursive: true })
    }
  }
}
