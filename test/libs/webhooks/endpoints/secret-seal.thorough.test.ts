import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { secretSeal } from "#webhooks"

const text = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{16,80}$/u))

describe("the seal of an endpoint's secret", () => {
  it.prop("opens with the same key and endpoint, and shows nothing of the secret", [text, text], ([key, secret]) => {
    const seal = secretSeal(`key ${key}`)
    const sealed = seal.seal("endpoint", secret)
    assert.deepStrictEqual(seal.open("endpoint", sealed), Result.succeed(secret))
    assert.notInclude(sealed, secret)
    assert.isTrue(Result.isFailure(seal.open("another", sealed)))
    assert.isTrue(Result.isFailure(secretSeal(`other ${key}`).open("endpoint", sealed)))
    assert.isTrue(Result.isFailure(secretSeal(undefined).open("endpoint", sealed)))
  })
})
