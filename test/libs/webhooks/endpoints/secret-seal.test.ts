import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { secretSeal } from "#webhooks"

describe("the seal of an endpoint's secret", () => {
  it("opens with the same key and endpoint, and shows nothing of the secret", () => {
    const [key, secret] = ["k".repeat(32), "a secret of sixteen"]
    const seal = secretSeal(`key ${key}`)
    const sealed = seal.seal("endpoint", secret)
    assert.deepStrictEqual(seal.open("endpoint", sealed), Result.succeed(secret))
    assert.notInclude(sealed, secret)
    assert.isTrue(Result.isFailure(seal.open("another", sealed)))
    assert.isTrue(Result.isFailure(secretSeal(`other ${key}`).open("endpoint", sealed)))
    assert.isTrue(Result.isFailure(secretSeal(undefined).open("endpoint", sealed)))
  })

  it("without a key only encodes, and what was kept so opens when a key is set later", () => {
    const sealed = secretSeal(undefined).seal("a", "a secret of sixteen")
    assert.deepStrictEqual(secretSeal("k".repeat(32)).open("a", sealed), Result.succeed("a secret of sixteen"))
  })

  it("cannot be opened when it was changed, cut or is of an unknown kind", () => {
    const seal = secretSeal("key")
    const sealed = seal.seal("a", "secret")
    for (const broken of [sealed.slice(0, -2), `${sealed}AA`, "aes-256-gcm:", "rot13:frperg", ""]) {
      assert.isTrue(Result.isFailure(seal.open("a", broken)), broken)
    }
  })
})
