import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"

const root = join(import.meta.dirname, "../..")
const folders: Array<string> = []
const children: Array<ChildProcess> = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGTERM")
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

interface Written {
  readonly figures: ReadonlyArray<{ readonly scenario: string; readonly name: string; readonly met?: boolean }>
  readonly failures: ReadonlyArray<{ readonly sentence: string; readonly detail: string }>
}

/** As `./starling load` runs it, once everything is installed. */
const load = (environment: Readonly<Record<string, string>>, ...parameters: ReadonlyArray<string>) =>
  new Promise<{ code: number | null; error: string; report: Written | undefined }>((resolve) => {
    const folder = mkdtempSync(join(tmpdir(), "starling-load-test-"))
    folders.push(folder)
    const child = spawn(process.execPath, ["load-tests/main.ts", ...parameters, "--out", folder], {
      cwd: root,
      env: { ...process.env, LOAD_RECORDS: "2000", ...environment }
    })
    children.push(child)
    let error = ""
    child.stdout.resume()
    child.stderr.on("data", (data: Buffer) => (error += data.toString()))
    child.once("close", (code) => {
      const file = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith(".json")) : undefined
      const report = file === undefined ? undefined : (JSON.parse(readFileSync(join(folder, file), "utf8")) as Written)
      resolve({ code, error, report })
    })
  })

describe("./starling load", () => {
  it("names in a sentence what the machine lacks, with 69 and a report", async () => {
    const { code, error, report } = await load({ STARLING_NATS_SERVER: "/nowhere/nats-server" }, "pipeline")
    assert.strictEqual(code, 69, error)
    assert.include(
      error,
      "starling: commands could not be measured: the program /nowhere/nats-server is not on this machine"
    )
    assert.notMatch(error, /^\s+at /mu)
    // A part with the same missing program does not begin.
    assert.notInclude(error, "budget ...")
    assert.strictEqual(report?.failures.length, 1)
    assert.isTrue(report?.figures.some(({ name }) => name === "load average before it"))
  })

  it("beside another fleet's ports names the failure, continues with the next part, and writes its measurements", async () => {
    // The role is started with a flag that no program of this kind knows.
    const broken = { LOAD_NODE_FLAGS: "--no-such-flag" }
    const theirs = { PIPELINE_API_PORT: "7401", BUS_URL: "nats://127.0.0.1:9", STARLING_NATS_PORT: "4222" }
    const { code, error, report } = await load({ ...broken, ...theirs }, "pipeline")
    assert.match(error, /^left out of the environment: .*BUS_URL.*PIPELINE_API_PORT.*STARLING_NATS_PORT/u)
    assert.strictEqual(code, 1, error)
    const [failure, ...others] = report?.failures ?? []
    assert.include(
      failure?.sentence,
      "commands was not measured to its end: pipeline-api ended with 9 before it was ready"
    )
    assert.deepStrictEqual(others, [])
    assert.include(error, failure?.sentence ?? "?")
    assert.notMatch(error, /^\s+at /mu)
    assert.isTrue(report?.figures.some(({ name }) => name === "records loaded"))
  })
})
