/** Each trial has a folder for temporary files of its own, which must be empty when it has ended. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { until } from "../../dev/fixtures/eventually.ts"
import { storesFolder } from "../../dev/fixtures/stores.ts"

const folders: Array<string> = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const trial = (changes: NodeJS.ProcessEnv = {}) => {
  const folder = mkdtempSync(join(storesFolder(), "starling-trial-"))
  folders.push(folder)
  const child: ChildProcess = spawn("./starling", ["try"], {
    cwd: join(import.meta.dirname, "../.."),
    // A shell that names another fleet's console, ports and roles.
    env: {
      ...process.env,
      TMPDIR: folder,
      STARLING_CONSOLE: "http://127.0.0.1:1",
      STARLING_TOKEN: "of another fleet",
      CONSOLE_PORT: "1",
      FLEET_ROLES: '["sweeper"]',
      ...changes
    }
  })
  const said = { out: "", error: "" }
  child.stdout?.on("data", (data: Buffer) => (said.out += data.toString()))
  child.stderr?.on("data", (data: Buffer) => (said.error += data.toString()))
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return { said, ended, stop: () => child.kill("SIGINT"), left: () => readdirSync(folder) }
}

/** What a person reads, in this order. */
const story = [
  /^\$ \.\/starling up$/mu,
  /^\$ \.\/starling endpoints add try http:\S+ --set MaxAttempts=2$/mu,
  /signature=good, answered 204/u,
  /signature=good, answered 500/u,
  /WebhookDeliveriesAbandoned \(warning\)/u,
  // On a slow machine its cause is seen, too, and stands above it.
  /✗ (?:WebhookDeliveriesAbandoned|WebhookEndpointFailing): .*try/u,
  /^ {12}\.\/starling abandoned resend --endpoint try$/mu,
  /^\$ \.\/starling abandoned resend --endpoint try$/mu,
  /signature=good, answered 204/u,
  /nothing is wrong|has another cause/u,
  /^Done in \d+ s\./mu
]

describe("./starling try", () => {
  it("shows a failure from green to red to green, and leaves nothing", async () => {
    const { said, ended, left } = trial()
    assert.strictEqual(await ended, 0, said.error)
    story.reduce((rest, pattern) => {
      const found = pattern.exec(rest)
      assert.isNotNull(found, `${pattern} in\n${rest}`)
      return rest.slice((found?.index ?? 0) + 1)
    }, said.out)
    assert.deepStrictEqual(left(), [])
  })

  it("cleans up on Ctrl-C", async () => {
    const { said, ended, stop, left } = trial()
    await until(() => said.out.includes("answered 500"), { withinMs: 120_000 })
    stop()
    assert.strictEqual(await ended, 130)
    assert.deepStrictEqual(left(), [])
  })

  it("keeps the log of a fleet that does not start, says where, and ends with 1", async () => {
    const { said, ended, left } = trial({ STARLING_NATS_SERVER: "/bin/false" })
    assert.strictEqual(await ended, 1)
    const [, log = ""] = /^starling: up ended with .*\n {2}the fleet's log: (\S+)$/mu.exec(said.error) ?? []
    assert.include(readFileSync(log, "utf8"), "nats-server")
    assert.deepStrictEqual(
      left().map((name) => readdirSync(join(log, "../..", name))),
      [["log"]]
    )
  })
})
