/** A real Alertmanager for a test: its own folder, a free port of loopback, ended by its pid. It tells nobody. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"

export interface SentAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly status: { readonly state: string; readonly inhibitedBy: ReadonlyArray<string> }
}

export interface RunningAlertmanager {
  readonly url: string
  /** Those that fire. */
  readonly alerts: () => Promise<ReadonlyArray<SentAlert>>
  readonly stop: () => Promise<void>
}

export const startAlertmanager = async (program: string, inhibitRules: unknown): Promise<RunningAlertmanager> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-alertmanager-"))
  const url = `http://127.0.0.1:${await freePort()}`
  const configuration = { route: { receiver: "nobody" }, receivers: [{ name: "nobody" }], inhibit_rules: inhibitRules }
  writeFileSync(join(folder, "alertmanager.yaml"), stringify(configuration, { aliasDuplicateObjects: false }))
  const child = spawn(
    program,
    [
      `--config.file=${folder}/alertmanager.yaml`,
      `--storage.path=${folder}/data`,
      `--web.listen-address=${new URL(url).host}`,
      "--cluster.listen-address="
    ],
    { stdio: ["ignore", "ignore", "pipe"] }
  )
  let log = ""
  child.stderr.on("data", (data: Buffer) => (log += data.toString()))
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`alertmanager ended:\n${log}`)
      return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true
    },
    { withinMs: startWithinMs }
  )
  return {
    url,
    alerts: async () => (await fetch(`${url}/api/v2/alerts`)).json() as Promise<ReadonlyArray<SentAlert>>,
    stop: async () => {
      child.kill("SIGTERM")
      await ended
      rmSync(folder, { recursive: true })
    }
  }
}
