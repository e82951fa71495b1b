import { assert, describe, it } from "@effect/vitest"
import { chainIdOf } from "../../../../../libs/payments/chains/evm/settings.ts"

describe("the name of an EVM network", () => {
  it("holds the chain's id", () => {
    assert.strictEqual(chainIdOf("eip155:8453"), 8_453n)
    assert.strictEqual(chainIdOf("eip155:1"), 1n)
  })

  it.each(["eip155:0", "eip155:08453", "eip155:", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "eip155:8453 "])(
    "is refused when it is %j",
    (name) => assert.throws(() => chainIdOf(name), RangeError)
  )
})
