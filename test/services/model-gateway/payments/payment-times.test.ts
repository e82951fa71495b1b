import { assert, describe, it } from "@effect/vitest"
import { collectByMs, neededMs, validBeforeMsOf } from "../../../../services/model-gateway/payments/quote.ts"
import { testPayload } from "../../../support/payments.ts"

const limits = { FirstByteSeconds: 120, StreamSeconds: 500 }

describe("the required lifetime of a payment", () => {
  it.each([
    ["a whole answer's time and a margin", "whole", 600, 150_000],
    ["a stream's time and a margin", "stream", 900, 530_000],
    ["what a fresh one has left when its stream was not begun in time", "stream", 600, 420_000],
    ["never less than a whole answer's", "stream", 300, 150_000],
    ["never more than a fresh one is", "stream", 120, 60_000]
  ] as const)("is %s", (_what, kind, MaxTimeoutSeconds, wanted) => {
    assert.strictEqual(neededMs(limits, { MaxTimeoutSeconds }, kind), wanted)
  })

  it("is the payer's own on an EVM chain, and unknown elsewhere", () => {
    const payment = testPayload("one")
    assert.strictEqual(validBeforeMsOf(payment), 4_102_444_800_000)
    const solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    assert.isUndefined(validBeforeMsOf({ ...payment, accepted: { ...payment.accepted, network: solana } }))
    assert.isUndefined(validBeforeMsOf({ ...payment, payload: {} }))
  })
})

describe("the last moment to collect a payment", () => {
  it("is a margin before its end, and half a minute after its check on Solana", () => {
    assert.strictEqual(collectByMs("eip155:84532", 600_000), 570_000)
    // The verifier counts the latest end of a blockhash that was made just now.
    assert.strictEqual(collectByMs("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", 1_000_000 + 90_000), 1_030_000)
  })
})
