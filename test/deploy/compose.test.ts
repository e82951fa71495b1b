import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { roleDeployments } from "../../deploy/generate/roles.ts"

interface Service {
  readonly image: string
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
}

const folder = join(import.meta.dirname, "../../deploy/docker")
const read = (name: string) => readFileSync(join(folder, name), "utf8")
const { services } = parse(read("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}

// The same secrets as Kubernetes', each in a file of its own.
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
  it("has every role, the broker, and an operator for commands", () => {
    const roles = roleDeployments.map(({ name }) => name)
    assert.deepStrictEqual(Object.keys(services).toSorted(), [...roles, "nats", "operator"].toSorted())
  })

  it.each(roleDeployments)("runs $name with the image, the memory and the secrets that Kubernetes gives it", (role) => {
    const service = services[role.name] ?? assert.fail()
    assert.strictEqual(service.image, `starling-${role.image}:\${STARLING_TAG:-dev}`)
    assert.deepStrictEqual(service.command, ["role", role.name])
    assert.strictEqual(bytesOf(service.mem_limit), bytesOf(role.memoryMax))
    assert.deepStrictEqual(
      service.env_file ?? [],
      role.secrets.map((name) => ({ path: filesOf[name] ?? assert.fail(name), required: false }))
    )
  })

  it.each(Object.entries(services))(
    "gives %s no rights, nothing to write, and an end to all it takes",
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

  it("says of each of its variables in .env.example what it is without", () => {
    const used = [...read("compose.yaml").matchAll(/\$\{(STARLING_\w+):-([^}]*)\}/gu)].map(
      ([, name, without]) => `${name}=${without}`
    )
    const told = [...read(".env.example").matchAll(/^\w+=.*$/gmu)].map(([line]) => line)
    assert.deepStrictEqual(told.toSorted(), [...new Set(used)].toSorted())
  })
})
