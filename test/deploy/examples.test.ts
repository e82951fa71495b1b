import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Configuration, decodeConfiguration } from "#configuration"
import { knownTokenOf } from "#payments/contract"
import { Environment } from "#runtime"
import { readEvmKey } from "#payments"
import { newKey } from "../../dev/fixtures/evm/terms.ts"
import { checkModelGateway } from "../../services/model-gateway/role.ts"

const folder = join(import.meta.dirname, "../../deploy/examples")
const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
const written = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"))
const readme = readFileSync(join(folder, "README.md"), "utf8")

/** Every variable that a configuration names, anywhere in it. */
const variablesOf = (value: unknown, key = ""): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((one) => variablesOf(one, key))
  if (typeof value === "string") return /EnvVars?$/u.test(key) ? [value] : []
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => variablesOf(one, name))
}

describe.each(names)("the example configuration %s", (name) => {
  const configuration = Result.getOrThrow(decodeConfiguration(written(name)))
  const variables = variablesOf(configuration)

  it("fits the schema, and sells on networks with known tokens, so that it names none", () => {
    for (const { Network, Asset } of configuration.Payments.Networks) {
      assert.strictEqual(Asset, knownTokenOf(Network)?.asset)
    }
    assert.isAbove(configuration.Payments.Networks.length, 0)
    assert.notMatch(JSON.stringify(written(name)), /"Asset/u)
    assert.deepStrictEqual(configuration.Fleet.Roles, ["model-gateway", "payment-verifier", "payment-settler"])
  })

  it("names its secrets, each in the table of variables, and holds none", () => {
    const row = readme.split("\n").find((line) => line.includes(`\`${name}\``)) ?? ""
    assert.isAbove(variables.length, 0)
    for (const variable of variables) assert.include(row, `\`${variable}\``)
    assert.deepStrictEqual(row.match(/`[A-Z0-9_]+`/gu)?.toSorted(), variables.map((one) => `\`${one}\``).toSorted())
  })

  it.effect("has models and providers that fit together once its secrets are set", () => {
    const environment = Object.fromEntries(variables.map((variable) => [variable, newKey()]))
    for (const { Network, SettlerKeyEnvVars } of configuration.Payments.Networks) {
      if (!Network.startsWith("eip155:")) continue
      for (const variable of SettlerKeyEnvVars) {
        assert.isTrue(Result.isSuccess(readEvmKey(Network, environment[variable] ?? "")))
      }
    }
    return checkModelGateway.pipe(
      Effect.provide(Layer.mergeAll(Configuration.layerOf(written(name)), Layer.succeed(Environment, environment))),
      Effect.asVoid
    )
  })
})

it("has an example for each of the networks and ways to be settled that the documents promise", () => {
  assert.deepStrictEqual(names.toSorted(), [
    "base-upto-keystore.json",
    "base.json",
    "facilitator.json",
    "polygon-arbitrum-optimism.json",
    "solana.json"
  ])
})
