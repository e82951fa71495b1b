/**
 * A settler whose keys are in keystores, as the compose file and the manifests of Kubernetes start it: their settings and
 * no other, the files in the folder and with the modes that each of them mounts, by the user of the image, within the
 * memory that it gets. It settles, deposits, claims and gives back by these keys.
 */
import { spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { parseAllDocuments, parse } from "yaml"
import { sealKeystore } from "#payments"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { program } from "../../dev/fixtures/starling.ts"
import { eventually, startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { keystoresFolder } from "../../deploy/generate/roles.ts"
import { channelPayer } from "../support/channel-client.ts"
import { channelOptions } from "../support/channel-fleet.ts"
import { chat } from "../support/gateway.ts"
import { payingFetch } from "../support/payment-client.ts"
import { type PaymentFleet, withPayments } from "../support/payment-fleet.ts"
import { path } from "../support/payment-kills.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const root = join(import.meta.dirname, "../..")
/** Of the image; a pod names its own. */
const imageUser = 1_000

type Json = Readonly<Record<string, unknown>>

interface Deployment {
  /** Who runs it. */
  readonly user: number
  /** What the settler is told by its environment; what is another here than there is `elsewhere`. */
  readonly environment: Readonly<Record<string, string>>
  readonly memoryMaxMiB: number
  /** Puts the files as they are mounted. */
  readonly mount: (folder: string, files: Readonly<Record<string, string>>) => void
}

const read = (file: string) => readFileSync(join(root, "deploy", file), "utf8")
const mebibytes = (text: string) => Number(/^([0-9]+)Mi?$/iu.exec(text)?.[1])

const compose = (): Deployment => {
  const { services } = parse(read("docker/compose.yaml"), { merge: true }) as {
    readonly services: Readonly<
      Record<string, { readonly environment: Record<string, string>; readonly mem_limit: string }>
    >
  }
  const { environment = {}, mem_limit = "" } = services["payment-settler"] ?? {}
  return {
    user: imageUser,
    environment,
    memoryMaxMiB: mebibytes(mem_limit),
    // As deploy/examples/README.md has them made: one's own, given to the user of the image.
    mount: (folder, files) => {
      mkdirSync(folder, { mode: 0o700 })
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(folder, name), text, { mode: name.endsWith(".json") ? 0o600 : 0o644 })
        chownSync(join(folder, name), imageUser, imageUser)
      }
      chownSync(folder, imageUser, imageUser)
    }
  }
}

interface Pod {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly runAsUser?: number; readonly fsGroup?: number }
        readonly containers: ReadonlyArray<{
          readonly env: ReadonlyArray<{ readonly name: string; readonly value?: string }>
          readonly resources: { readonly limits: { readonly memory: string } }
        }>
        readonly volumes: ReadonlyArray<{
          readonly secret?: { readonly secretName: string; readonly defaultMode: number }
        }>
      }
    }
  }
}

const kubernetes = (): Deployment => {
  const documents = parseAllDocuments(read("k8s/base/payment-settler.yaml")).map((each) => each.toJSON() as Pod)
  const pod = documents.find(({ kind }) => kind === "Deployment")?.spec.template.spec ?? assert.fail("no deployment")
  const [container] = pod.containers
  const files = pod.volumes.find(({ secret }) => secret?.secretName === "starling-settler-keystores")?.secret
  const { runAsUser: user = imageUser, fsGroup } = pod.securityContext
  assert.strictEqual(fsGroup, user)
  return {
    user,
    environment: Object.fromEntries((container?.env ?? []).map(({ name, value = "" }) => [name, value])),
    memoryMaxMiB: mebibytes(container?.resources.limits.memory ?? ""),
    // A secret's volume: root's, of the pod's group, each file a link into a folder that is replaced as a whole.
    mount: (folder, written) => {
      const version = join(folder, "..2026_01_01")
      mkdirSync(version, { recursive: true })
      for (const [name, text] of Object.entries(written)) {
        writeFileSync(join(version, name), text)
        chownSync(join(version, name), 0, user)
        chmodSync(join(version, name), files?.defaultMode ?? 0)
        symlinkSync(join("..data", name), join(folder, name))
      }
      symlinkSync("..2026_01_01", join(folder, "..data"))
      for (const each of [folder, version]) {
        chownSync(each, 0, user)
        chmodSync(each, 0o2750)
      }
    }
  }
}

/** Where a key is, under its name in the configuration. */
const signersOf = (keys: Readonly<Record<string, `0x${string}`>>) =>
  Object.entries(keys).map(([Name, key]) => ({
    Name,
    Address: privateKeyToAccount(key).address,
    KeystoreFile: `${keystoresFolder}/${Name}.json`,
    PasswordFile: `${keystoresFolder}/${Name}.password`
  }))

/** The keystores and their passwords, encrypted as `keys new` does. */
const filesOf = (keys: Readonly<Record<string, `0x${string}`>>) =>
  Effect.forEach(Object.entries(keys), ([name, key]) =>
    Effect.map(sealKeystore(Buffer.from(key.slice(2), "hex"), `the password of ${name}`), (text) => [
      [`${name}.json`, text] as const,
      [`${name}.password`, `the password of ${name}\n`] as const
    ])
  ).pipe(Effect.map((files) => Object.fromEntries(files.flat())))

interface Given {
  readonly fleet: PaymentFleet
  readonly folder: string
  readonly keys: Readonly<Record<string, `0x${string}`>>
}

/** The configuration as it is deployed, with the keys under their names. `folder` stands for the mounted one. */
const configurationOf = ({ fleet, folder, keys }: Given) => {
  const { Payments, ...rest } = fleet.configuration as Json & {
    readonly Payments: { readonly Networks: ReadonlyArray<Json>; readonly Channels: ReadonlyArray<Json> }
  }
  const { SettlerKeyEnvVars: _, ...network } = Payments.Networks[0] ?? {}
  const { AuthorizerKeyEnvVar: __, ...channels } = Payments.Channels[0] ?? {}
  const { Bus: ___, ...settings } = rest
  const written = {
    ...settings,
    Payments: {
      ...Payments,
      Signers: signersOf(keys),
      Networks: [{ ...network, Signers: Object.keys(keys).filter((name) => name !== "authorizer") }],
      Channels: [{ ...channels, AuthorizerSigner: "authorizer" }]
    }
  }
  return JSON.stringify(written).replaceAll(keystoresFolder, folder)
}

const start = (deployment: Deployment, given: Given) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { folder, fleet } = given
      const at = (name: string) => join(folder, "..", name)
      mkdirSync(at("bus"))
      writeFileSync(at("bus/payment-settler"), "a password\n", { mode: 0o444 })
      writeFileSync(at("starling.config.json"), configurationOf(given), { mode: 0o444 })
      const port = String(await freePort())
      const elsewhere: Readonly<Record<string, string>> = {
        BUS_URL: fleet.server.url,
        BUS_PASSWORDS_FOLDER: at("bus"),
        BUS_PASSWORD: "a password",
        STARLING_CONFIG: at("starling.config.json"),
        TELEMETRY_HOST: "127.0.0.1",
        TELEMETRY_PORT: port
      }
      const told = Object.entries(deployment.environment).map(([name, value]) => [name, elsewhere[name] ?? value])
      const image = {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        TELEMETRY_PORT: port,
        BUS_URL: fleet.server.url
      }
      const child = spawn(process.execPath, [program, "role", "payment-settler"], {
        cwd: root,
        env: { ...image, ...Object.fromEntries(told) },
        uid: deployment.user,
        gid: deployment.user,
        stdio: ["ignore", "ignore", "pipe"]
      })
      let error = ""
      child.stderr.on("data", (data: Buffer) => (error += data.toString()))
      const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
      const status = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status
      await until(async () => child.exitCode !== null || (await status()) === 200, { withinMs: startWithinMs })
      if (child.exitCode !== null) return assert.fail(error)
      return { pid: child.pid ?? 0, child, ended, error: () => error }
    }),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
  )

const fieldOf = (text: string, field: string) => new RegExp(`^${field}:\\s+(\\S+)`, "mu").exec(text)?.[1]

describe.skipIf(process.getuid?.() !== 0)("a settler that is deployed with keystores (root alone can start it)", () => {
  const { options } = channelOptions({
    roles: ["payment-verifier", "model-gateway"],
    chain: { settlerCount: 2, seed: "settler keystores" },
    settler: { ChannelClaimSeconds: 0.5 }
  })
  // Of the same keys for both: to encrypt one takes most of a second of a processor.
  let files: Readonly<Record<string, string>> | undefined

  it.live.each([
    ["Docker Compose", compose],
    ["Kubernetes", kubernetes]
  ] as const)("settles, deposits, claims and gives back by them, as started by %s", ([, deploymentOf]) => {
    let secrets: Readonly<Record<string, string>> = {}
    const configure: NonNullable<typeof options.configure> = (parts) => {
      const configured = options.configure(parts)
      secrets = configured.environment
      return configured
    }
    return withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const names = { TEST_SETTLER_0: "till-1", TEST_SETTLER_1: "till-2", TEST_CHANNEL_AUTHORIZER: "authorizer" }
          const keys = Object.fromEntries(
            Object.entries(names).map(([variable, name]) => [name, secrets[variable] as `0x${string}`])
          )
          const around = yield* temporaryFolder
          chmodSync(around, 0o755)
          const deployment = deploymentOf()
          const folder = join(around, "keystores")
          files ??= yield* filesOf(keys)
          deployment.mount(folder, files)
          assert.includeMembers(readdirSync(folder), ["till-1.json", "till-1.password", "authorizer.json"])
          const settler = yield* start(deployment, { fleet, folder, keys })

          const body = JSON.stringify(chat("hello"))
          const call = { method: "POST", headers: { "content-type": "application/json" }, body }
          const exact = yield* Effect.promise(() =>
            payingFetch(fleet.chain.payer.privateKey)(`${fleet.url}${path}`, call)
          )
          assert.strictEqual(exact.status, 200)
          const key = generatePrivateKey()
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 10_000_000n)
          const payer = channelPayer(fleet.chain.rpcUrl, key)
          const paid = yield* Effect.promise(() => payer.fetch(`${fleet.url}${path}`, call))
          assert.strictEqual(paid.status, 200)
          const charged = (yield* Effect.promise(payer.known))?.charged ?? 0n
          assert.isTrue(charged > 0n)
          yield* eventually(fleet.transfers, { is: (transfers) => transfers.includes(charged) })
          assert.isTrue((yield* Effect.promise(() => payer.refund(`${fleet.url}/v1/channels`))).success)

          const status = readFileSync(`/proc/${settler.pid}/status`, "utf8")
          assert.strictEqual(fieldOf(status, "Uid"), String(deployment.user))
          assert.isBelow(Number(fieldOf(status, "VmHWM")) / 1_024, deployment.memoryMaxMiB)
          const environment = readFileSync(`/proc/${settler.pid}/environ`, "utf8")
          for (const secret of Object.values(keys)) {
            assert.notInclude(environment, secret.slice(2))
            assert.notInclude(settler.error(), secret.slice(2))
          }
        }),
      { ...options, configure }
    )
  })
})
