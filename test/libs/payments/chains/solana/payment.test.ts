import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { claimKeyOf } from "#payments/contract"
import { checkPayment } from "../../../../../libs/payments/chains/solana/payment.ts"
import { base64Of, memo, network, payloadOf } from "./transactions.ts"
import { amount, offlineOptions, offlineScene, paymentMaker, vectorsOf } from "./vectors.ts"

const nowMs = 1_790_000_000_000

const vectors = await vectorsOf(offlineScene)
const make = await paymentMaker(offlineScene)

describe("a Solana payment, checked without the chain", () => {
  it.each(vectors)("$name: $reason", ({ payload, requirements, reason }) => {
    const result = checkPayment(offlineOptions, payload, requirements, nowMs)

    assert.strictEqual(Result.isFailure(result) ? result.failure.reason : null, reason)
    if (Result.isFailure(result)) assert.strictEqual(result.failure.code, "PAYMENT_INVALID")
  })

  it("has payer, receiver, amount and the latest end", () => {
    const requirements = make.requirements()
    const result = checkPayment(offlineOptions, payloadOf(base64Of(make.wire()), requirements), requirements, nowMs)

    assert(Result.isSuccess(result))
    const { claimKey, messageHash, ...checked } = result.success
    assert.strictEqual(checked.payer, offlineScene.payer.address)
    assert.strictEqual(checked.amount, amount)
    assert.strictEqual(checked.feePayer, offlineScene.feePayer.address)
    assert.strictEqual(checked.validBeforeMs, nowMs + 90_000)
    const { asset } = requirements
    assert.strictEqual(claimKey, claimKeyOf({ network, asset, payer: offlineScene.payer.address, nonce: messageHash }))
  })

  it("is the same payment with other bytes in the fee payer's slot, and another one with another memo", () => {
    const requirements = make.requirements()
    const keyOf = (wire: Uint8Array) => {
      const result = checkPayment(offlineOptions, payloadOf(base64Of(wire), requirements), requirements, nowMs)
      assert(Result.isSuccess(result))
      return result.success.claimKey
    }
    const filled = make.wire({ alterSignatures: ([, ...rest]) => [new Uint8Array(64).fill(3), ...rest] })

    assert.strictEqual(keyOf(filled), keyOf(make.wire()))
    assert.notStrictEqual(keyOf(make.wire({ tail: [memo("one")] })), keyOf(make.wire({ tail: [memo("two")] })))
  })

  it("is refused under a key for which anybody can sign", () => {
    // Thirty-two zeros are a point of order four, and the system program's address; people burn tokens there.
    const anybody = { address: "11111111111111111111111111111111", sign: () => forged }
    const forged = new Uint8Array(64)
    forged[0] = 1
    const requirements = make.requirements()
    const attempts = Array.from({ length: 32 }, (_, index) =>
      make.wire({ signers: [anybody], transfer: { authority: anybody.address }, tail: [memo(`${index}`)] })
    )

    for (const wire of attempts) {
      const result = checkPayment(offlineOptions, payloadOf(base64Of(wire), requirements), requirements, nowMs)
      assert.strictEqual(
        Result.isFailure(result) && result.failure.reason,
        "invalid_exact_svm_payload_signature_invalid"
      )
    }
  })
})
