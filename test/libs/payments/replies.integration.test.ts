/** The protocol's own library reads our output, and we read its output. */
import { assert, describe, it } from "@effect/vitest"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { parsePaymentPayload, parsePaymentRequired } from "@x402/core/schemas"
import { Result } from "effect"
import { matchOffer, modelResource, offerOf, paymentRequired, readPayment, verificationFailed } from "#payments"
import { testNetwork, testPayload } from "../../support/payments.ts"

const offer = offerOf(testNetwork, 25_685n, { maxTimeoutSeconds: 600 })
const resource = modelResource({ origin: "http://127.0.0.1:7402", path: "/api/v1/messages", model: "demo/echo" })
const quote = { resource, offers: [offer] as const }
const failure = { code: "PAYMENT_INVALID", reason: "invalid_exact_evm_signature", payer: null } as const

describe("the reference library", () => {
  it.each([
    ["of an unpaid call", paymentRequired(quote, "messages")],
    ["of a refused payment", verificationFailed(quote, "chat", failure)]
  ])("reads the quote %s", (_which, reply) => {
    const read = decodePaymentRequiredHeader(reply.headers["payment-required"] ?? "")
    assert.isTrue(parsePaymentRequired(read).success)
    assert.deepStrictEqual<unknown>(read.accepts, [offer.requirements])
    assert.strictEqual(read.resource?.url, "http://127.0.0.1:7402/api/v1/messages")
  })

  it("writes a payment that our code reads and that matches its quote", () => {
    const payload = { ...testPayload("one"), accepted: { ...offer.requirements }, resource }
    assert.isTrue(parsePaymentPayload(payload).success)
    const header = encodePaymentSignatureHeader(payload as Parameters<typeof encodePaymentSignatureHeader>[0])
    const read = Result.getOrThrow(readPayment({ "payment-signature": [header], "x-payment": [] }))
    assert.deepStrictEqual(read, payload)
    assert.isTrue(read !== null && Result.isSuccess(matchOffer(read, [offer.requirements])))
  })
})
