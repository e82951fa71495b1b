import { assert, describe, it } from "@effect/vitest"
import { claimKeyOf } from "#payments/contract"
import { collectByMs, statedClaimKey, statedEndMs } from "#payments"
import { hex32, testPayload, testRequirements } from "../../../support/payments.ts"

const solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
const payment = testPayload("one")

describe("what a payment says of itself", () => {
  it("is its end and its claim's key on an EVM chain", () => {
    const { network, asset } = testRequirements
    const payer = hex32("payer alice").slice(0, 42)
    assert.strictEqual(statedEndMs(payment), 4_102_444_800_000)
    assert.strictEqual(
      statedClaimKey(payment, testRequirements),
      claimKeyOf({ network, asset, payer, nonce: hex32("one") })
    )
  })

  it("is nothing on Solana, on an unknown chain, and for what is no payment", () => {
    for (const network of [solana, "other:1"]) {
      assert.isUndefined(statedEndMs({ ...payment, accepted: { ...payment.accepted, network } }))
      assert.isUndefined(statedClaimKey(payment, { ...testRequirements, network }))
    }
    assert.isUndefined(statedEndMs({ ...payment, payload: {} }))
    assert.isUndefined(statedClaimKey({ ...payment, payload: {} }, testRequirements))
  })
})

describe("the last moment to collect a payment", () => {
  it("is a margin before its end, and half a minute after its check on Solana", () => {
    assert.strictEqual(collectByMs("eip155:84532", 600_000), 570_000)
    // The verifier counts the latest end of a blockhash that was made just now.
    assert.strictEqual(collectByMs(solana, 1_000_000 + 90_000), 1_030_000)
  })
})
