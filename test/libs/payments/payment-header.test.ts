import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { addressToken, AtomicAmount, claimKeyOf, ClaimKey, payerKeyOf, type PaymentPayload } from "#payments/contract"
import { encodeToken, subjects } from "#base"
import { decodePayment, matchOffer, paymentIdentifier, readPayment } from "#payments"
import { testPayload, testRequirements } from "../../support/payments.ts"

const payload = testPayload("one")
const encoded = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64")
const good = encoded(payload)
const none = { "payment-signature": [], "x-payment": [] }

const refusal = <A>(
  result: Result.Result<A, { readonly code: string; readonly reason: string; readonly detail?: string }>
) => (Result.isFailure(result) ? [result.failure.code, result.failure.reason, result.failure.detail ?? ""] : ["taken"])

describe("a payment header", () => {
  it("is read under either name, or both when they are equal", () => {
    assert.deepStrictEqual(Result.getOrThrow(readPayment(none)), null)
    for (const headers of [
      { ...none, "payment-signature": [good] },
      { ...none, "x-payment": [good] },
      { "payment-signature": [good], "x-payment": [good] }
    ]) {
      assert.deepStrictEqual(Result.getOrThrow(readPayment(headers)), payload)
    }
    assert.deepStrictEqual(Result.getOrThrow(decodePayment(good.replace(/=+$/u, ""))), payload)
  })

  it("is refused when it is repeated, or its two names differ", () => {
    const other = encoded(testPayload("two"))
    const twice = readPayment({ ...none, "payment-signature": [good, good] })
    assert.deepStrictEqual(refusal(twice).slice(0, 2), ["PAYMENT_INVALID", "invalid_payload"])
    const both = readPayment({ "payment-signature": [good], "x-payment": [other] })
    assert.include(refusal(both)[2], "different payments")
    const joined = readPayment({ ...none, "x-payment": [`${good}, ${good}`] })
    assert.include(refusal(joined)[2], "more than once")
  })

  it("that is JSON and not base64 of it is refused as that, with its commas, under either name", () => {
    const raw = JSON.stringify(payload)
    for (const headers of [
      { ...none, "payment-signature": [raw] },
      { ...none, "x-payment": [` ${raw}`] }
    ]) {
      assert.include(refusal(readPayment(headers))[2], "the header is JSON")
    }
  })

  const nested = (depth: number) => {
    let value: unknown = 1
    for (let level = 0; level < depth; level += 1) value = { a: value }
    return value
  }
  const wallet = "0x1111111111111111111111111111111111111111"
  const ofWallet = (more: object = {}) => ({ ...payload, payload: { authorization: { from: wallet } }, ...more })
  const payerOf = (header: string) => {
    const read = decodePayment(header)
    return Result.isFailure(read) ? read.failure.payer : "taken"
  }
  it.each<readonly [what: string, header: string, payer: string | null]>([
    ["of another version", encoded(ofWallet({ x402Version: 1 })), wallet],
    ["for no offer", encoded(ofWallet({ accepted: undefined })), wallet],
    ["too deep", encoded(ofWallet({ extensions: { a: nested(20) } })), wallet],
    ["by upto", encoded({ payload: { permit2Authorization: { from: wallet } } }), wallet],
    ["by channel", encoded({ payload: { channelConfig: { payer: wallet } } }), wallet],
    ["that is JSON", JSON.stringify(ofWallet({ x402Version: 1 })), wallet],
    ["in the other alphabet", Buffer.from(JSON.stringify(ofWallet({ odd: "???>>>" }))).toString("base64url"), wallet],
    ["of somebody who is no address", encoded({ payload: { authorization: { from: "me" } } }), null],
    ["of nobody", encoded({ payload: { authorization: [] } }), null],
    ["of a prototype", encoded({ payload: "x", authorization: null }), null],
    ["that is no JSON", Buffer.from("{").toString("base64"), null]
  ])("names the payer where it can be read: %s", (_what, header, payer) => {
    assert.strictEqual(payerOf(header), payer)
  })

  it.each<readonly [what: string, header: string, reason: string, detail: string]>([
    ["empty", "", "invalid_payload", "not standard base64"],
    ["not base64", "{}", "invalid_payload", "not standard base64"],
    ["of the other alphabet", `${good.slice(0, 8)}-_-_`, "invalid_payload", "not standard base64"],
    ["padded in the middle", "eyJh==fQ", "invalid_payload", "not standard base64"],
    ["too long", "A".repeat(8_193), "invalid_payload", "longer than 8192"],
    ["not JSON", Buffer.from("{").toString("base64"), "invalid_payload", "UTF-8 JSON"],
    ["not UTF-8", Buffer.from([0xff, 0xfe]).toString("base64"), "invalid_payload", "UTF-8 JSON"],
    ["too deep", encoded({ ...payload, extensions: { a: nested(20) } }), "invalid_payload", "deeper than 16"],
    [
      "after a prototype",
      Buffer.from(JSON.stringify(payload).replace('"signature"', '"__proto__":{},"signature"')).toString("base64"),
      "invalid_payload",
      "__proto__"
    ],
    ["of nothing", encoded(null), "invalid_payload", ""],
    ["of version 1", encoded({ ...payload, x402Version: 1 }), "invalid_x402_version", ""],
    [
      "of another scheme",
      encoded({ ...payload, accepted: { ...testRequirements, scheme: "streaming" } }),
      "invalid_scheme",
      ""
    ],
    ["of no chain", encoded({ ...payload, accepted: { ...testRequirements, network: "base" } }), "invalid_network", ""],
    [
      "of an amount with a sign",
      encoded({ ...payload, accepted: { ...testRequirements, amount: "-1" } }),
      "invalid_payload",
      "/accepted/amount"
    ],
    ["without a payload", encoded({ ...payload, payload: undefined }), "invalid_payload", "/payload"]
  ])("%s is refused with a reason", (_what, header, reason, detail) => {
    const [code, text, message] = refusal(decodePayment(header))
    assert.deepStrictEqual([code, text], ["PAYMENT_INVALID", reason])
    assert.include(message, detail)
  })

  it.prop("with any characters is read or refused, and never breaks", [Schema.String], ([text]) => {
    assert.oneOf(refusal(decodePayment(text))[0], ["PAYMENT_INVALID", "taken"])
    assert.oneOf(refusal(decodePayment(Buffer.from(text).toString("base64")))[0], ["PAYMENT_INVALID", "taken"])
  })

  it("full of unknown keys is read without them", () => {
    const read = Result.getOrThrow(decodePayment(encoded({ ...payload, surprise: 1 })))
    assert.notProperty(read, "surprise")
  })
})

describe("a client's accepted terms", () => {
  const accepting = (change: Partial<PaymentPayload["accepted"]>): PaymentPayload => ({
    ...payload,
    accepted: { ...testRequirements, ...change }
  })

  it("are matched by their fields: addresses in any case, additions allowed", () => {
    for (const change of [
      {},
      { asset: testRequirements.asset.toLowerCase() },
      { payTo: testRequirements.payTo.toUpperCase().replace("0X", "0x") },
      { extra: { name: "USDC", version: "2", more: { of: "it" } } }
    ]) {
      assert.strictEqual(Result.getOrThrow(matchOffer(accepting(change), [testRequirements])), testRequirements)
    }
  })

  it.each<readonly [field: string, change: Partial<PaymentPayload["accepted"]>, reason: string]>([
    ["amount", { amount: "25684" }, "invalid_payment_requirements"],
    ["asset", { asset: testRequirements.payTo }, "invalid_payment_requirements"],
    ["payTo", { payTo: testRequirements.asset }, "invalid_payment_requirements"],
    ["maxTimeoutSeconds", { maxTimeoutSeconds: 601 }, "invalid_payment_requirements"],
    ["extra.version", { extra: { name: "USDC", version: "1" } }, "invalid_payment_requirements"],
    ["extra.name", { extra: {} }, "invalid_payment_requirements"],
    ["eip155:8453", { network: "eip155:8453" }, "invalid_network"]
  ])("with another %s are refused", (field, change, reason) => {
    const [code, text, message] = refusal(matchOffer(accepting(change), [testRequirements]))
    assert.deepStrictEqual([code, text], ["PAYMENT_INVALID", reason])
    assert.include(message, field)
  })

  it("hear what differs from the offer of their own scheme, whatever stands before it", () => {
    const upto = { ...testRequirements, scheme: "upto" as const }
    const [, text, message] = refusal(matchOffer(accepting({ scheme: "upto", amount: "1" }), [testRequirements, upto]))
    assert.strictEqual(text, "invalid_payment_requirements")
    assert.include(message, "amount")
    const [, other] = refusal(matchOffer(accepting({ scheme: "batch-settlement" }), [testRequirements, upto]))
    assert.strictEqual(other, "invalid_scheme")
  })

  it("may be any of the offers, and Solana's addresses are case-sensitive", () => {
    const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    const solana = { ...testRequirements, network, asset: "EPjFWdd5Auf", payTo: "AbC", extra: { feePayer: "F" } }
    const offers = [testRequirements, solana]
    assert.strictEqual(Result.getOrThrow(matchOffer(accepting(solana), offers)), solana)
    const wrong = matchOffer(accepting({ ...solana, payTo: "aBc" }), offers)
    assert.include(refusal(wrong)[2], "payTo")
  })
})

describe("a client's payment identifier", () => {
  const named = (id: unknown): PaymentPayload => ({
    ...payload,
    extensions: { "payment-identifier": { info: { required: false, id } } }
  })

  it("has 16 to 128 plain characters, or is absent", () => {
    assert.isNull(Result.getOrThrow(paymentIdentifier(payload)))
    assert.isNull(Result.getOrThrow(paymentIdentifier({ ...payload, extensions: { "payment-identifier": 1 } })))
    for (const id of ["a".repeat(16), "pay_7d5d747b-e160", "Z".repeat(128)]) {
      assert.strictEqual(Result.getOrThrow(paymentIdentifier(named(id))), id)
    }
    for (const id of ["a".repeat(15), "a".repeat(129), "with a space in it", 7, null, "ü".repeat(20)]) {
      assert.strictEqual(refusal(paymentIdentifier(named(id)))[0], "PAYMENT_INVALID")
    }
  })
})

describe("the key of a claim", () => {
  const parts = { network: "eip155:84532", asset: "0xAb", payer: "0xCd", nonce: "0xEF" }

  it("is the same for any spelling of hex, and different for any other part", () => {
    const key = claimKeyOf(parts)
    assert.strictEqual(claimKeyOf({ ...parts, asset: "0xaB", payer: "0xCD", nonce: "0xef" }), key)
    for (const part of ["network", "asset", "payer", "nonce"] as const) {
      assert.notStrictEqual(claimKeyOf({ ...parts, [part]: "other" }), key)
    }
    assert.isTrue(Schema.is(ClaimKey)(key))
    assert.strictEqual(payerKeyOf(parts.network, "0xCD"), payerKeyOf(parts.network, "0xcd"))
    assert.strictEqual(
      subjects.receipts("eip155:84532", addressToken("eip155:84532", "0xCD")),
      "receipts.eip155=3a84532.0xcd"
    )
    assert.strictEqual(subjects.settlements("eip155:84532"), `settlements.${encodeToken("eip155:84532")}`)
  })

  it("keeps the case of base58, which distinguishes accounts", () => {
    const solana = { ...parts, network: "solana:5eykt" }
    assert.notStrictEqual(claimKeyOf(solana), claimKeyOf({ ...solana, payer: "0xcd" }))
  })
})

describe("an amount", () => {
  it("is a whole number of at most 256 bits in its one spelling", () => {
    const is = Schema.is(AtomicAmount)
    for (const text of ["0", "1", "25685", (2n ** 256n - 1n).toString()]) assert.isTrue(is(text), text)
    for (const text of ["", "01", "-1", "1.5", "1e3", "0x1", " 1", (2n ** 256n).toString(), "9".repeat(79)]) {
      assert.isFalse(is(text), text)
    }
  })
})
