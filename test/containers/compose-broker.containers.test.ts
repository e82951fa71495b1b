/**
 * The broker of `deploy/docker/compose.yaml` and its users. Each container runs as in that file, without a need for
 * Compose.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { imagesAreMade } from "./images.ts"

interface Service {
  readonly image: string
  readonly command: ReadonlyArray<string>
  readonly user?: string
  readonly tmpfs?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes: ReadonlyArray<string | { readonly source: string; readonly target: string }>
}

const folder = join(import.meta.dirname, "../../deploy/docker")
const { services } = parse(readFileSync(join(folder, "compose.yaml"), "utf8"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}

const project = `starling-broker-${process.pid}`
const run = promisify(execFile)
const docker = async (...parameters: ReadonlyArray<string>) => (await run("docker", [...parameters])).stdout.trim()

const mount = (volume: Service["volumes"][number]) =>
  typeof volume === "string"
    ? `${project}-${volume}`
    : `${join(folder, volume.source.replace(/^\$\{\w+:-(.*)\}$/u, "$1"))}:${volume.target}:ro`

// As compose.test.ts holds each service to.
const closed = "--read-only --cap-drop ALL --security-opt no-new-privileges:true".split(" ")

/** The arguments of `docker` that run a service: options before its image, and its command unless another is given. */
const asComposed = (name: string, before: ReadonlyArray<string> = [], command?: ReadonlyArray<string>) => {
  const { image, command: own, user, tmpfs = [], environment = {}, volumes } = services[name] ?? assert.fail(name)
  const tag = process.env["STARLING_IMAGES"] ?? "containers"
  return [
    "run",
    "--label",
    `starling.test=${project}`,
    "--network",
    project,
    ...closed,
    ...(user === undefined ? [] : ["--user", user]),
    ...tmpfs.flatMap((each) => ["--tmpfs", each]),
    ...Object.entries(environment).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
    ...volumes.flatMap((volume) => ["--volume", mount(volume)]),
    ...before,
    image.replace("${STARLING_TAG:-dev}", tag),
    ...(command ?? own)
  ]
}
const once = (name: string, ...command: ReadonlyArray<string>) =>
  docker(...asComposed(name, ["--rm"], command.length === 0 ? undefined : command))
const standing = (name: string) =>
  docker(...asComposed(name, ["--detach", "--name", `${project}-${name}`, "--network-alias", name]))
const kept = (user: string) =>
  docker(...asComposed("bus-users", ["--rm", "--entrypoint", "cat"], [`/bus/broker/users/${user}`]))

beforeAll(async () => {
  await imagesAreMade()
  await docker("network", "create", project)
  await once("bus-users")
  await standing("nats")
  // As composed it goes on, and keeps them.
  await once("bus-streams", "broker", "streams")
})
afterAll(async () => {
  const containers = (await docker("ps", "--all", "--quiet", "--filter", `label=starling.test=${project}`)).split("\n")
  for (const id of containers.filter((each) => each !== "")) await docker("rm", "--force", "--volumes", id)
  const volumes = (await docker("volume", "ls", "--quiet", "--filter", `name=${project}-`)).split("\n")
  for (const name of volumes.filter((each) => each !== "")) await docker("volume", "rm", name)
  await docker("network", "rm", project)
})

describe("the broker of compose.yaml", () => {
  it("takes commands from the operator, and rejects a client without a user", async () => {
    assert.include(await once("operator", "publish", "sandbox.leak_detected", "--example"), "in EVENTS")
    const nobody = asComposed("operator", ["--rm", "--env", "BUS_PASSWORDS_FOLDER="], ["token", "list"])
    const refused = await docker(...nobody).then(
      () => "let in",
      (error: { readonly stderr: string }) => error.stderr
    )
    assert.include(refused, "does not let in anybody without a user")
  })

  it("has a role as its own user, which sees no other user's password", async () => {
    const id = await standing("sweeper")
    const ready = "fetch('http://127.0.0.1:9400/readyz').then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"
    const isReady = () =>
      docker("exec", id, "node", "-e", ready).then(
        () => true,
        () => false
      )
    await until(isReady, { withinMs: startWithinMs })

    assert.strictEqual(await docker("exec", id, "ls", "/run/bus"), "sweeper")
    assert.notMatch((await run("docker", ["logs", id])).stderr, /forbids|Violation/u)
  })

  it("keeps the passwords when its users are created again, and each user has its own", async () => {
    const before = [await kept("operator"), await kept("sweeper")]
    await once("bus-users")

    assert.deepStrictEqual([await kept("operator"), await kept("sweeper")], before)
    assert.notStrictEqual(before[0], before[1])
    assert.include(await once("operator", "token", "list"), "scopes")
  })
})
