import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { roleNames } from "#base"
import { bundle } from "../../deploy/docker/bundle.ts"
import { startNatsServer, type TestNatsServer } from "../../dev/fixtures/nats-server.ts"

const folder = mkdtempSync(join(tmpdir(), "starling-bundle-"))
const program = join(folder, "app/main.js")
let server: TestNatsServer

beforeAll(async () => {
  await bundle(folder)
  withEngines()
  server = await startNatsServer()
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const firstLine = (child: ChildProcess) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    child.stdout?.on("data", (piece: Buffer) => {
      text += piece.toString()
      if (text.includes("\n")) resolve(text)
    })
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready`)))
  })

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("exit", resolve))

// As in the image: the engines' packages beside the others.
const withEngines = () => cpSync(join(folder, "speech"), join(folder, "app"), { recursive: true })

describe("the bundle", () => {
  it.each(roleNames)("runs %s, alive and ready, and exits when it is told to", async (role) => {
    const child = spawn(process.execPath, [program, "role", role, "--ready-json"], {
      stdio: ["ignore", "pipe", "ignore"],
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        BUS_URL: server.url,
        TELEMETRY_PORT: "0",
        SPEECH_API_PORT: "0",
        MODEL_GATEWAY_PORT: "0",
        PIPELINE_API_PORT: "0",
        CONSOLE_PORT: "0"
      }
    })
    const { metrics } = JSON.parse(await firstLine(child)) as { readonly metrics: string }

    const statuses = await Promise.all(["livez", "readyz", "metrics"].map((path) => fetch(`${metrics}/${path}`)))
    const exit = ended(child)
    child.kill("SIGTERM")

    assert.deepStrictEqual(
      statuses.map(({ status }) => status),
      [200, 200, 200]
    )
    assert.strictEqual(await exit, 0)
  })

  it("refuses to run the fleet of one machine in a container, and says that it runs roles", () => {
    const { status, stderr } = spawnSync(process.execPath, [program, "up"], { encoding: "utf8", timeout: 120_000 })

    assert.strictEqual(status, 2)
    assert.include(stderr, "role <name>")
  })

  it("runs any command by its name", () => {
    const { status, stdout } = spawnSync(join(folder, "app/starling"), ["topology"], {
      encoding: "utf8",
      timeout: 120_000
    })

    assert.strictEqual(status, 0)
    assert.include(stdout, "DELIVERIES")
  })

  it("contains the program that copies streams", () => {
    const { status } = spawnSync(process.execPath, [join(folder, "app/backup.js")], { timeout: 120_000 })

    assert.strictEqual(status, 2)
  })
})
