import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { roleNames } from "#contracts"
import type { TestNatsServer } from "../support/nats-server.ts"
import { passwordOf, startFleetBroker } from "./fleet-broker.ts"
import { repository } from "./tools.ts"

let server: TestNatsServer
beforeAll(async () => void (server = await startFleetBroker()))
afterAll(() => server.stop())

const ready = (child: ChildProcess) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    child.stdout?.on("data", (piece: Buffer) => {
      text += piece.toString()
      if (text.includes("\n")) resolve(text)
    })
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready`)))
  })

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("exit", resolve))

// As they are in production: the streams are others', and the user has no more than its role needs.
const environmentOf = (role: string) => ({
  PATH: process.env["PATH"],
  BUS_URL: server.url,
  BUS_USER: role,
  BUS_PASSWORD: passwordOf(role),
  BUS_TOPOLOGY: "verify",
  TELEMETRY_PORT: "0",
  SPEECH_API_PORT: "0",
  MODEL_GATEWAY_PORT: "0",
  PIPELINE_API_PORT: "0",
  PAYMENT_VERIFIER_FACILITATOR_PORT: "0"
})

describe("a role with its own user", () => {
  it.each(roleNames)("%s gets ready and is forbidden nothing that it asks for", async (role) => {
    const child = spawn(process.execPath, [join(repository, "services/fleet/main.ts"), "role", role, "--ready-json"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: environmentOf(role)
    })
    let log = ""
    child.stderr.on("data", (piece: Buffer) => void (log += piece.toString()))
    const { metrics } = JSON.parse(await ready(child).catch((error) => assert.fail(`${error}\n${log}`))) as {
      readonly metrics: string
    }
    const exit = ended(child)

    // Two beats of leases, sweeps and consumers.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    const { status } = await fetch(`${metrics}/readyz`)
    child.kill("SIGTERM")

    assert.strictEqual(await exit, 0)
    assert.strictEqual(status, 200)
    assert.notMatch(log, /Permissions Violation|forbids/u)
  })

  it("is not let in with another role's password", async () => {
    const environment = { ...environmentOf("sweeper"), BUS_PASSWORD: passwordOf("pipeline-api") }
    const child = spawn(
      process.execPath,
      [join(repository, "services/fleet/main.ts"), "role", "sweeper", "--ready-json"],
      {
        stdio: ["ignore", "pipe", "ignore"],
        env: environment
      }
    )
    const first = await Promise.race([
      ready(child).then(
        () => "ready",
        () => "ended"
      ),
      new Promise<string>((resolve) => setTimeout(() => resolve("kept out"), 3_000))
    ])
    const exit = ended(child)
    child.kill("SIGKILL")
    await exit

    assert.notStrictEqual(first, "ready")
  })
})
