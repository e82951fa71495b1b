import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { tryAggregate, wordsOf } from "../../../../../libs/payments/chains/evm/token.ts"
import { asset } from "../../../../../dev/fixtures/evm/terms.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

describe("a multicall", () => {
  it.prop("gives no result, or as many words as requested", [Bytes], ([bytes]) => {
    const words = wordsOf(hexOf(Uint8Array.from(bytes)), 2)

    assert.isTrue(words === undefined || words.length === 2)
  })

  it("gives no result for an empty answer", () => {
    assert.isUndefined(wordsOf("0x", 2))
  })

  it("is whole words after the selector", () => {
    assert.strictEqual((tryAggregate(asset, [new Uint8Array(36), new Uint8Array(68)]).length - 4) % 32, 0)
  })
})
