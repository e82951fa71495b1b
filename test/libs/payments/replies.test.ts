import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { paymentCodes, PaymentRequired } from "#payments/contract"
import {
  modelResource,
  offerOf,
  paymentRequired,
  type PaymentReply,
  settledHeaders,
  settlementFailed,
  unsettledHeaders,
  verificationFailed
} from "#payments"
import { testNetwork } from "../../support/payments.ts"

const resource = modelResource({
  origin: "https://models.example.com/",
  path: "/api/v1/chat/completions",
  model: "demo/echo",
  tokens: { input: 64, output: 8_192 }
})
const offer = offerOf(testNetwork, 25_685n, { maxTimeoutSeconds: 600 })
const quote = { resource, offers: [offer] as const }
const shapes = ["chat", "messages", "responses"] as const
const header = (reply: PaymentReply) => reply.headers["payment-required"] ?? ""
const decoded = (text: string) => Buffer.from(text, "base64").toString("utf8")
const bodyOf = (reply: PaymentReply): Record<string, unknown> => JSON.parse(reply.body)

const failure = { code: "PAYMENT_UNFUNDED", reason: "insufficient_funds", payer: "0xabc" } as const

describe("a 402", () => {
  it.each(shapes)("of %s mirrors the header in its body byte for byte", (shape) => {
    const reply = paymentRequired(quote, shape)
    const text = decoded(header(reply))
    const accepts = `"accepts":${text.slice(text.indexOf('"accepts":') + 10, text.indexOf("]") + 1)}`
    assert.isAbove(accepts.length, 100)
    assert.include(reply.body, accepts)
    assert.include(reply.body, '"x402Version":2')
    assert.isTrue(text.startsWith('{"x402Version":2,'))
    const body = bodyOf(reply)
    assert.deepStrictEqual(body["accepts"], JSON.parse(text).accepts)
    assert.deepStrictEqual(body["price"], { amount: "0.025685", currency: "USD" })
    assert.deepStrictEqual(body["paymentInfo"], { network: "base-sepolia", asset: "USDC", x402Version: 2 })
    assert.strictEqual(body["message"], "This endpoint requires x402 payment")
  })

  it("with a second way to pay stays below the usual limit of a proxy, and names only exact to older clients", () => {
    const settlers = ["0x1111111111111111111111111111111111111111"]
    const network = { ...testNetwork, FacilitatorAddresses: settlers }
    const upto = offerOf(network, 99_999_999n, { maxTimeoutSeconds: 600, scheme: "upto" })
    const both = paymentRequired({ resource, offers: [offer, upto] }, "chat")
    const full = JSON.parse(decoded(header(both)))
    assert.deepStrictEqual(
      full.accepts.map(({ scheme }: { readonly scheme: string }) => scheme),
      ["exact", "upto"]
    )
    assert.deepStrictEqual(full.extensions.eip2612GasSponsoring, { info: { version: "1" } })
    assert.isDefined(full.extensions["payment-identifier"])
    const older = JSON.parse(decoded(both.headers["x-payment-required"] ?? ""))
    assert.deepStrictEqual(older.accepts, [offer.requirements])
    assert.strictEqual(both.headers["www-authenticate"], `X402 requirements="${both.headers["x-payment-required"]}"`)
    const bytes = Object.entries(both.headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
    assert.isBelow(bytes, 4_000)
    const alone = paymentRequired({ resource, offers: [upto] }, "chat")
    assert.strictEqual(alone.headers["x-payment-required"], header(alone))
  })

  it("answers a payer that has not approved Permit2 with the status that the specification names", () => {
    const required = {
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      reason: "permit2_allowance_required",
      payer: "0xabc"
    } as const
    const reply = verificationFailed(quote, "chat", required)
    assert.strictEqual(reply.status, 412)
    assert.strictEqual(JSON.parse(decoded(header(reply))).error, "permit2_allowance_required")
    assert.strictEqual(bodyOf(reply)["code"], "PERMIT2_ALLOWANCE_REQUIRED")
  })

  it("uses the vendor's words on the vendor's routes", () => {
    assert.strictEqual(bodyOf(paymentRequired(quote, "chat"))["error"], "Payment Required")
    assert.deepStrictEqual(bodyOf(paymentRequired(quote, "responses"))["error"], {
      message: "This endpoint requires x402 payment",
      type: "payment_required",
      param: null,
      code: null
    })
    const messages = bodyOf(paymentRequired(quote, "messages"))
    assert.strictEqual(messages["type"], "error")
    assert.deepStrictEqual(messages["error"], {
      type: "payment_required",
      message: "This endpoint requires x402 payment"
    })
  })

  it("carries the quote under three names, uncacheable, readable for web pages, in less than 3 kB", () => {
    const long = modelResource({
      origin: "https://models.some-longer-name.example.com",
      path: "/solana/api/v1/chat/completions",
      model: `provider-with-a-name/${"m".repeat(60)}`,
      tokens: { input: 10_000_000, output: 10_000_000 }
    })
    for (const reply of [
      paymentRequired({ ...quote, resource: long }, "chat"),
      verificationFailed({ ...quote, resource: long }, "chat", {
        ...failure,
        reason: "invalid_exact_evm_payload_authorization_valid_before"
      })
    ]) {
      const { headers } = reply
      assert.strictEqual(headers["x-payment-required"], header(reply))
      assert.strictEqual(headers["www-authenticate"], `X402 requirements="${header(reply)}"`)
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.include(headers["access-control-expose-headers"], "PAYMENT-REQUIRED")
      const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
      assert.isBelow(bytes, 3_000)
    }
  })

  it("is a quote as in the contract, with the configured origin", () => {
    const json = JSON.parse(decoded(header(paymentRequired(quote, "chat"))))
    const quoted = Schema.decodeUnknownSync(PaymentRequired)(json)
    assert.strictEqual(quoted.resource.url, "https://models.example.com/api/v1/chat/completions")
    assert.strictEqual(quoted.resource.description, "demo/echo API call (~64 input, 8192 max output tokens)")
    assert.deepStrictEqual(quoted.accepts, [offer.requirements])
    assert.property(quoted.extensions, "payment-identifier")
  })
})

describe("a refused payment", () => {
  it.each(paymentCodes)("%s has its code, its payer and a fresh quote", (code) => {
    const reply = verificationFailed(quote, "chat", { ...failure, code })
    const body = bodyOf(reply)
    assert.strictEqual(body["code"], code)
    assert.strictEqual(body["payer"], "0xabc")
    assert.strictEqual(JSON.parse(decoded(header(reply))).error, "insufficient_funds")
    const isReplay = code === "PAYMENT_REPLAY"
    assert.strictEqual(body["error"], isReplay ? "Payment authorization already used" : "Payment verification failed")
    if (isReplay) assert.strictEqual(body["message"], "Sign a fresh payment authorization for each request.")
    assert.include(body["debug"], "insufficient")
  })

  it.each(paymentCodes)("%s has every field of its contract, verified or settled", (code) => {
    const chainFacts = { network: "eip155:84532", transaction: null }
    for (const reply of [
      verificationFailed(quote, "chat", { ...failure, code }),
      settlementFailed(quote, "chat", { ...failure, code, ...chainFacts })
    ]) {
      const body = bodyOf(reply)
      assert.hasAllKeys(body, ["error", "code", "message", "debug", "payer"])
      for (const [key, value] of Object.entries(body)) assert.isNotEmpty(value, key)
      assert.strictEqual(reply.headers["x-error-code"], code)
    }
    for (const shape of ["messages", "responses"] as const) {
      const { error } = bodyOf(verificationFailed(quote, shape, { ...failure, code })) as { error: object }
      assert.containsAllKeys(error, ["type", "message", "code"])
    }
  })

  it("names both causes where a wallet is empty or a signed time is over, for a chain tells them apart badly", () => {
    const message = String(bodyOf(verificationFailed(quote, "chat", failure))["message"])
    assert.match(message, /^Fund the wallet\..* time of the payment has passed .* sign again\.$/u)
  })

  it("says of a payer that owes what helps, which no other signature does", () => {
    const owing = { ...failure, code: "PAYMENT_INVALID", reason: "payer_owes_an_uncollected_payment" } as const
    const message = String(bodyOf(verificationFailed(quote, "chat", owing))["message"])
    assert.match(message, /owes an earlier payment .* pay from another wallet/u)
  })

  it("without a known payer names none", () => {
    assert.notProperty(bodyOf(verificationFailed(quote, "chat", { ...failure, payer: null })), "payer")
  })

  it("keeps the vendor's envelope, with its code, and the words that clients look for", () => {
    const expired = { ...failure, reason: "expired_signature" }
    const message = "Payment verification failed: expired_signature"
    const messages = verificationFailed(quote, "messages", expired)
    assert.deepStrictEqual(bodyOf(messages), {
      type: "error",
      error: { type: "payment_required", message, code: "PAYMENT_UNFUNDED" }
    })
    const responses = verificationFailed(quote, "responses", expired)
    assert.deepStrictEqual(bodyOf(responses), {
      error: { message, type: "payment_required", param: null, code: "PAYMENT_UNFUNDED" }
    })
    assert.isNotEmpty(header(messages))
    for (const shape of shapes) {
      const refused = [
        verificationFailed(quote, shape, expired),
        settlementFailed(quote, shape, { ...expired, network: "eip155:84532", transaction: null })
      ]
      for (const { headers } of refused) assert.strictEqual(headers["x-error-code"], "PAYMENT_UNFUNDED")
    }
  })

  it("shows no address or key of the verifier's call, and keeps the reason", () => {
    const debugOf = (detail: string) =>
      String(bodyOf(verificationFailed(quote, "chat", { ...failure, detail }))["debug"])
    const leaked = debugOf("POST https://rpc.example.com/v3/0123456789abcdef: Bearer sk-abcdef at 10.0.0.7:8545")
    for (const secret of ["example.com", "0123456789abcdef", "sk-abcdef", "10.0.0.7"]) assert.notInclude(leaked, secret)
    assert.include(debugOf("eip155:84532 is not offered here"), "eip155:84532 is not offered here")
    assert.include(debugOf("accepted.payTo is not what is quoted"), "accepted.payTo is not what is quoted")
  })

  it("by the chain, after the call, is a failed settlement, not a failed verification", () => {
    for (const shape of shapes) {
      const reply = settlementFailed(quote, shape, { ...failure, network: "eip155:84532", transaction: null })
      assert.include(reply.body, "Payment settlement failed")
      assert.notInclude(reply.body, "verification")
      assert.strictEqual(reply.headers["x-should-retry"], "false")
      assert.isNotEmpty(header(reply))
      assert.deepStrictEqual(JSON.parse(decoded(reply.headers["payment-response"] ?? "")), {
        success: false,
        errorReason: "insufficient_funds",
        transaction: "",
        network: "eip155:84532",
        payer: "0xabc"
      })
    }
    const body = bodyOf(settlementFailed(quote, "chat", { ...failure, network: "n:1", transaction: null }))
    assert.deepInclude(body, { error: "Payment settlement failed", code: "PAYMENT_UNFUNDED", payer: "0xabc" })
  })
})

describe("a paid answer", () => {
  it("carries its receipt and is not cacheable", () => {
    const headers = settledHeaders({ transaction: "0xaa", network: "eip155:84532", payer: "0xabc" })
    assert.strictEqual(headers["x-payment-receipt"], "0xaa")
    assert.strictEqual(headers["cache-control"], "private")
    assert.deepStrictEqual(JSON.parse(decoded(headers["payment-response"] ?? "")), {
      success: true,
      transaction: "0xaa",
      network: "eip155:84532",
      payer: "0xabc"
    })
  })

  it("without the chain's confirmation says so, in characters that a header may have", () => {
    const headers = unsettledHeaders("timed out\r\nset-cookie: a")
    assert.strictEqual(headers["x-payment-settled"], "false")
    assert.strictEqual(headers["x-payment-settle-error-class"], "timed_out__set-cookie__a")
  })
})
