import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { SettleResponse, SupportedResponse, VerifyResponse } from "#payments/contract"
import {
  readFacilitatorRequest,
  settleAnswer,
  supportedAnswer,
  verifyAnswer
} from "../../../../services/payment-verifier/facilitator/api.ts"
import { testPayload, testRequirements } from "../../../support/payments.ts"

const request = { x402Version: 2, paymentPayload: testPayload("one"), paymentRequirements: testRequirements }

describe("our workers as a facilitator", () => {
  it("read the requests of any x402 server, and name every fault of anything else", () => {
    assert.deepStrictEqual(Result.getOrThrow(readFacilitatorRequest(request)), request)
    const faults = readFacilitatorRequest({ ...request, x402Version: 1, paymentRequirements: {} })
    if (Result.isSuccess(faults)) return assert.fail("taken")
    assert.includeMembers(
      faults.failure.map(({ path }) => path),
      ["/x402Version", "/paymentRequirements/network"]
    )
  })

  it("answer a verification: good, refused with its reason, or unknown now", () => {
    const good = verifyAnswer({ _tag: "Verified", payer: "0xp" })
    assert.deepStrictEqual([good.status, good.body], [200, { isValid: true, payer: "0xp" }])
    const bad = verifyAnswer({ _tag: "Refused", code: "PAYMENT_UNFUNDED", reason: "insufficient_funds", payer: "0xp" })
    assert.deepStrictEqual(bad.body, { isValid: false, invalidReason: "insufficient_funds", payer: "0xp" })
    const unknown = verifyAnswer({ _tag: "Unavailable", retryAfterSeconds: 3, reason: "chain is gone" })
    assert.deepStrictEqual([unknown.status, unknown.headers], [503, { "retry-after": "3" }])
    for (const { body } of [good, bad, unknown]) assert.isTrue(Schema.is(VerifyResponse)(body))
  })

  it("answer a settlement: paid, refused, or pending with the sent transaction", () => {
    const settled = settleAnswer({ _tag: "Settled", transaction: "0xaa" }, testRequirements, "0xp").body
    assert.deepInclude(settled, { success: true, transaction: "0xaa", amount: testRequirements.amount })
    const refused = settleAnswer({ _tag: "Refused", code: "PAYMENT_INVALID", reason: "r" }, testRequirements, null).body
    assert.deepInclude(refused, { success: false, errorReason: "r", transaction: "" })
    const pending = settleAnswer({ _tag: "Pending", transaction: "0xaa" }, testRequirements, null).body
    assert.deepInclude(pending, { success: false, errorReason: "settlement_pending", transaction: "0xaa" })
    for (const body of [settled, refused, pending]) assert.isTrue(Schema.is(SettleResponse)(body))
  })

  it("name the networks that they settle on, and their signers", () => {
    const supported = supportedAnswer(
      [testRequirements, { scheme: "exact", network: "solana:5eykt" }],
      [
        { network: "eip155:84532", address: "0xs" },
        { network: "eip155:8453", address: "0xs" },
        { network: "solana:5eykt", address: "S" }
      ]
    )
    assert.deepStrictEqual(supported.signers, { "eip155:*": ["0xs"], "solana:*": ["S"] })
    assert.deepStrictEqual(
      supported.kinds.map(({ network, extra }) => [network, extra]),
      [
        ["eip155:84532", testRequirements.extra],
        ["solana:5eykt", undefined]
      ]
    )
    assert.isTrue(Schema.is(SupportedResponse)(supported))
  })
})
