import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { streamKeeper } from "../../deploy/generate/users.ts"
import { type Authority, newAuthority } from "../support/certificates.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { program } from "../../dev/fixtures/starling.ts"
import { passwordOf, startFleetBroker } from "../support/fleet-broker.ts"

let authority: Authority
let server: TestNatsServer
let folder: string
let configuration: string

// As production has it: the address and the authority are in the file, the user and the password in the environment.
beforeAll(async () => {
  authority = newAuthority()
  const broker = authority.sign("localhost", "broker")
  server = await startFleetBroker({
    tls: {
      server: `cert_file: ${JSON.stringify(broker.certificate)}, key_file: ${JSON.stringify(broker.key)}`,
      keeper: { caFile: authority.caFile }
    }
  })
  folder = mkdtempSync(join(tmpdir(), "starling-pod-"))
  configuration = join(folder, "starling.config.json")
  const Bus = { Url: `tls://localhost:${server.port}`, TlsCaFile: authority.caFile, Topology: "verify", Replicas: 3 }
  writeFileSync(configuration, JSON.stringify({ Bus }))
})
afterAll(async () => {
  await server.stop()
  authority.remove()
  rmSync(folder, { recursive: true })
})

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

/** A command as `kubectl exec` runs it: with only the pod's environment. */
const inPod = (environment: Readonly<Record<string, string | undefined>>, ...parameters: ReadonlyArray<string>) =>
  new Promise<Ran>((resolve) => {
    const env = {
      PATH: process.env["PATH"],
      STARLING_HOME: join(folder, "home"),
      STARLING_CONFIG: configuration,
      ...environment
    }
    execFile(process.execPath, [program, ...parameters], { cwd: folder, env, timeout: 120_000 }, (fault, out, error) =>
      resolve({ code: fault === null ? 0 : typeof fault.code === "number" ? fault.code : null, out, error })
    )
  })

const podOf = (user: string) => ({ BUS_USER: user, BUS_PASSWORD: passwordOf(user) })

describe("a command in a pod of the operator", () => {
  it.each([
    { command: "token make --role member", says: /^[\w-]{20,}\n$/u },
    { command: "token list", says: /^id +/u },
    { command: "tail --last 5", says: /^$/u },
    { command: "tail --attempts --last 5", says: /^$/u },
    { command: "consents", says: /.*/u }
  ])("reaches the pod's broker: $command", async ({ command, says }) => {
    const ran = await inPod(podOf("operator"), ...command.split(" "))

    assert.strictEqual(ran.code, 0, ran.error)
    assert.match(ran.out, says)
  })

  it("may publish no actor's event, and names the users that may", async () => {
    const ran = await inPod(podOf("operator"), "publish", "work_item.merged", "--example")

    assert.strictEqual(ran.code, 1)
    assert.strictEqual(
      ran.error,
      "starling: the broker's user operator may not publish the event work_item.merged (events.work_item.merged); pipeline-api, console may\n"
    )
  })
})

describe("a command in a pod of a role", () => {
  it.each([
    {
      command: "token make --role member",
      may: /user pipeline-api may not write token-make in AUDIT .*; console, operator may\n$/u
    },
    {
      command: "tail --attempts --last 5",
      may: /user pipeline-api may not (?:read|look at) the .*; .*operator may\n$/u
    }
  ])(
    "names the permission that the role's user lacks, and the users that have it: $command",
    async ({ command, may }) => {
      const ran = await inPod(podOf("pipeline-api"), ...command.split(" "))

      assert.strictEqual(ran.code, 1)
      assert.match(ran.error, may)
      assert.strictEqual(ran.error.trim().split("\n").length, 1, ran.error)
    }
  )

  it("may do what the role's user may: list tokens", async () => {
    const ran = await inPod(podOf("pipeline-api"), "token", "list")

    assert.strictEqual(ran.code, 0, ran.error)
  })

  it("finds the only password in a role's container, and the operator's among many", async () => {
    const passwords = join(folder, "passwords")
    mkdirSync(passwords)
    writeFileSync(join(passwords, "pipeline-api"), `${passwordOf("pipeline-api")}\n`)
    const asRole = await inPod({ BUS_PASSWORDS_FOLDER: passwords }, "token", "make")
    assert.match(asRole.error, /user pipeline-api may not write token-make in AUDIT/u)

    writeFileSync(join(passwords, "operator"), `${passwordOf("operator")}\n`)
    const asOperator = await inPod({ BUS_PASSWORDS_FOLDER: passwords }, "token", "list")
    assert.strictEqual(asOperator.code, 0, asOperator.error)
  })

  it("names the wrong key of the file", async () => {
    const broken = join(folder, "broken.json")
    writeFileSync(
      broken,
      JSON.stringify({ Bus: { Url: "tls://10.0.0.1:4222", Replica: 3 }, Webhooks: "of no concern" })
    )
    const ran = await inPod({ ...podOf("operator"), STARLING_CONFIG: broken }, "token", "list")

    assert.strictEqual(ran.code, 1)
    assert.include(ran.error, "Bus.Replica")
    assert.notInclude(ran.error, "Webhooks")
  })

  it("says where it looked when it finds no broker", async () => {
    const ran = await inPod({ ...podOf("operator"), STARLING_CONFIG: undefined }, "token", "list")

    assert.strictEqual(ran.code, 69)
    assert.match(ran.error, /no fleet has run in .*home yet/u)
  })
})

describe("a command as the user that keeps the streams", () => {
  it("hands the broker back before a rollback", async () => {
    const ran = await inPod(podOf(streamKeeper), "broker", "before-rollback")

    assert.strictEqual(ran.code, 0, ran.error)
    assert.match(ran.out, /^the relay of a release before accounts goes on after record \d+ of LOG; 0 events/u)
  })
})
