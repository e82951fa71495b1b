import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { environmentValue } from "#configuration"
import { machineUsers } from "../../services/fleet/nats-server/configuration.ts"
import { keystoresFolder, metricsPort, roleDeployments } from "../../deploy/generate/roles.ts"

interface Service {
  readonly image: string
  readonly restart: string
  readonly command: ReadonlyArray<string>
  readonly read_only: boolean
  readonly cap_drop: ReadonlyArray<string>
  readonly security_opt: ReadonlyArray<string>
  readonly stop_grace_period: string
  readonly mem_limit: string
  readonly pids_limit: number
  readonly logging: { readonly options: Readonly<Record<string, string>> }
  readonly ports?: ReadonlyArray<string>
  readonly env_file?: ReadonlyArray<{ readonly path: string; readonly required: boolean }>
  readonly environment: Readonly<Record<string, string>>
  readonly volumes?: ReadonlyArray<string | object>
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>
}

const folder = join(import.meta.dirname, "../../deploy/docker")
const read = (name: string) => readFileSync(join(folder, name), "utf8")
const { services, volumes } = parse(read("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, object>>
}

// The same secrets as on Kubernetes, each in a file of its own.
const filesOf: Readonly<Record<string, string>> = {
  "starling-webhook-secrets": "webhooks.env",
  "starling-provider-keys": "providers.env",
  "starling-settler-keys": "settlers.env"
}
const bytesOf = (limit: string) => {
  const [, count, unit] = /^(\d+)([mg]|Mi|Gi)$/u.exec(limit) ?? assert.fail(limit)
  return Number(count) * (unit?.toLowerCase().startsWith("g") === true ? 2 ** 30 : 2 ** 20)
}

describe("compose.yaml", () => {
  it("has every role, the broker and its preparation, and an operator for commands", () => {
    const roles = roleDeployments.map(({ name }) => name)
    const others = ["nats", "bus-users", "bus-streams", "operator"]
    assert.deepStrictEqual(Object.keys(services).toSorted(), [...roles, ...others].toSorted())
  })

  it("gives each user of the broker its own password alone", () => {
    const mountsOf = (name: string) =>
      (services[name]?.volumes ?? []).filter((volume) => typeof volume === "string" && volume.startsWith("bus-"))
    const users = machineUsers.map(({ user }) => user)
    assert.deepStrictEqual(
      mountsOf("bus-users").toSorted(),
      ["bus-broker:/bus/broker", ...users.map((user) => `bus-${user}:/bus/users/${user}`)].toSorted()
    )
    const whose = ["nats", "keystores", "bus-broker", ...users.map((user) => `bus-${user}`)]
    assert.deepStrictEqual(Object.keys(volumes).toSorted(), whose.toSorted())
    const clients = Object.keys(services).filter((name) => name !== "nats" && name !== "bus-users")
    for (const name of clients) {
      const user = name === "bus-streams" ? "stream-keeper" : name
      assert.deepStrictEqual(mountsOf(name), [`bus-${user}:/run/bus:ro`], name)
      assert.strictEqual(services[name]?.environment["BUS_PASSWORDS_FOLDER"], "/run/bus")
      assert.strictEqual(services[name]?.environment["BUS_TOPOLOGY"], "verify")
    }
    assert.deepStrictEqual(mountsOf("nats"), ["bus-broker:/etc/nats/users:ro"])
    assert.match(read("nats.conf"), /^include users\/users\.conf$/mu)
    assert.notMatch(`${read("compose.yaml")}${read("nats.conf")}`, /password:|pass=|PASSWORD[:=]/iu)
  })

  it("starts the broker once it has users, and the roles beside whoever keeps their streams", () => {
    const whenDone = { condition: "service_completed_successfully" }
    assert.deepStrictEqual(services["nats"]?.depends_on, { "bus-users": whenDone })
    const whenStarted = { condition: "service_started" }
    assert.deepStrictEqual(services["bus-streams"]?.depends_on, { nats: whenStarted })
    assert.deepStrictEqual(services["bus-streams"]?.command, ["broker", "streams", "--keep"])
    assert.strictEqual(services["bus-streams"]?.restart, "unless-stopped")
    for (const { name } of roleDeployments)
      assert.deepStrictEqual(services[name]?.depends_on["bus-streams"], whenStarted)
  })

  it.each(roleDeployments)("runs $name with the same image, memory and secrets as Kubernetes", (role) => {
    const service = services[role.name] ?? assert.fail()
    assert.strictEqual(service.image, `starling-${role.image}:\${STARLING_TAG:-dev}`)
    assert.deepStrictEqual(service.command, ["role", role.name])
    assert.strictEqual(bytesOf(service.mem_limit), bytesOf(role.memoryMax))
    const isGivenFiles = JSON.stringify(service.volumes).includes(keystoresFolder)
    assert.strictEqual(isGivenFiles, role.secretFiles?.folder === keystoresFolder)
    assert.deepStrictEqual(
      service.env_file ?? [],
      role.secrets.map((name) => ({ path: filesOf[name] ?? assert.fail(name), required: false }))
    )
  })

  it.each(Object.entries(services))(
    "gives %s no rights, nothing to write, and limits on all resources",
    (_, service) => {
      assert.isTrue(service.read_only)
      assert.deepStrictEqual(service.cap_drop, ["ALL"])
      assert.deepStrictEqual(service.security_opt, ["no-new-privileges:true"])
      assert.isAbove(bytesOf(service.mem_limit), 0)
      assert.deepStrictEqual(Object.keys(service.logging.options).toSorted(), ["max-file", "max-size"])
      // A drain takes 30 s, and the broker goes after the roles.
      assert.isAtLeast(Number.parseInt(service.stop_grace_period, 10), 30)
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/u)
    }
  )

  it("tells the console where every other role shows its metrics", () => {
    const told = environmentValue(services["console"]?.environment["CONSOLE_PROCESSES"] ?? "")
    const others = roleDeployments.filter(({ name }) => name !== "console")
    assert.deepStrictEqual(
      told,
      others.map(({ name }) => `http://${name}:${metricsPort}`)
    )
  })

  it("states the default of each of its variables in .env.example", () => {
    const used = [...read("compose.yaml").matchAll(/\$\{(STARLING_\w+):-([^}]*)\}/gu)].map(
      ([, name, without]) => `${name}=${without}`
    )
    const told = [...read(".env.example").matchAll(/^\w+=.*$/gmu)].map(([line]) => line)
    assert.deepStrictEqual(told.toSorted(), [...new Set(used)].toSorted())
  })
})
