import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration } from "#configuration"
import { paymentRequired, requirementsFor } from "#payments"
import { type CallFacts, quoteCall } from "../../../../services/model-gateway/payments/quote.ts"
import { quoteWriter } from "../../../../services/model-gateway/payments/replies.ts"
import { testNetwork } from "../../../support/payments.ts"

const { Payments } = Result.getOrThrow(decodeConfiguration({ Payments: { Networks: [testNetwork] } }))
const facts: CallFacts = {
  path: "/api/v1/chat/completions",
  chain: "evm",
  model: "demo/echo",
  prices: {
    inputMicroUsdPerMillionTokens: 1_000_000,
    outputMicroUsdPerMillionTokens: 2_000_000,
    flatMicroUsd: undefined
  },
  prompt: { textBytes: 4_000, images: 0 },
  outputTokens: 1_000,
  count: 1
}

const terms = { payments: Payments, origin: "http://127.0.0.1:7402", isOffered: () => true }

describe("a quote", () => {
  it("has a token price: the estimated input, a tenth of the longest answer, and the fee", () => {
    const quote = quoteCall(facts, terms)
    // 1,024 tokens at a millionth of a dollar each, 100 at two, and a thousandth of a dollar.
    assert.strictEqual(quote?.offers[0].requirements.amount, "2224")
    assert.strictEqual(quote?.offers[0].priceUsd, "0.002224")
    assert.strictEqual(quote?.resource.url, "http://127.0.0.1:7402/api/v1/chat/completions")
    assert.include(quote?.resource.description, "~1024 input, 1000 max")
  })

  it("has a flat price where configured, for each image", () => {
    const prices = { ...facts.prices, flatMicroUsd: 20_000 }
    const quote = quoteCall({ ...facts, prices, count: 3 }, terms)
    assert.strictEqual(quote?.offers[0].requirements.amount, "61000")
    assert.notInclude(quote?.resource.description, "tokens")
  })

  it("has an entry for each way to pay, in the configured order: a guess for exact, the longest answer for upto", () => {
    const settlers = ["0x1111111111111111111111111111111111111111", "0x2222222222222222222222222222222222222222"]
    const network = { ...testNetwork, Schemes: ["exact", "upto"] as const, FacilitatorAddresses: settlers }
    const payments = { ...Payments, Networks: [network] }
    const quotes = [0, 1, 2].map((turn) => quoteCall(facts, { ...terms, payments, turn }))
    const [first] = quotes
    assert.deepStrictEqual(
      first?.offers.map(({ requirements: { scheme, amount } }) => [scheme, amount]),
      [
        ["exact", "2224"],
        // 1,024 tokens at a millionth of a dollar each, 1,000 at two, and a thousandth of a dollar.
        ["upto", "4024"]
      ]
    )
    assert.deepStrictEqual(
      quotes.map((quote) => quote?.offers[1]?.requirements.extra),
      [0, 1, 0].map((at) => ({
        name: "USDC",
        version: "2",
        assetTransferMethod: "permit2",
        facilitatorAddress: settlers[at]
      }))
    )
    // A client may have signed an earlier quote, which named another settler.
    const offer = first?.offers[1] ?? assert.fail("no offer")
    const accepted = (facilitatorAddress: string) => ({
      x402Version: 2 as const,
      payload: {},
      accepted: { ...offer.requirements, extra: { ...offer.requirements.extra, facilitatorAddress } }
    })
    const named = (address: string) => requirementsFor(offer, accepted(address)).extra?.["facilitatorAddress"]
    assert.strictEqual(named(settlers[1] ?? ""), settlers[1])
    assert.strictEqual(named("0x3333333333333333333333333333333333333333"), settlers[0])
  })

  it("omits a chain that is not configured, or not offered now", () => {
    assert.isUndefined(quoteCall({ ...facts, chain: "solana" }, terms))
    assert.isUndefined(quoteCall(facts, { ...terms, isOffered: () => false }))
  })
})

describe("a quote writer", () => {
  const bazaar = { body: '"bazaar":{"info":1}', header: "" }
  const quoteFor = (textBytes: number) => {
    const quote = quoteCall({ ...facts, prompt: { ...facts.prompt, textBytes } }, terms)
    if (quote === undefined) throw new Error("nothing is offered")
    return quote
  }

  it("keeps the bytes of a quote that is given again, in each shape of its own", () => {
    const write = quoteWriter(() => bazaar)
    const first = write(quoteFor(4_000), "chat")
    assert.strictEqual(write(quoteFor(4_000), "chat"), first)
    const { headers, body } = paymentRequired(quoteFor(4_000), "chat", bazaar)
    assert.deepInclude(first, { status: 402, code: "PAYMENT_REQUIRED", headers, body })
    assert.strictEqual(
      write(quoteFor(4_000), "messages").body,
      paymentRequired(quoteFor(4_000), "messages", bazaar).body
    )
  })

  it("writes another one for another price", () => {
    const write = quoteWriter(() => bazaar)
    write(quoteFor(4_000), "chat")
    assert.strictEqual(write(quoteFor(400_000), "chat").body, paymentRequired(quoteFor(400_000), "chat", bazaar).body)
  })

  it("forgets the oldest, so that callers cannot fill its memory", () => {
    const write = quoteWriter(() => bazaar)
    const quoteOf = (model: string) => quoteCall({ ...facts, model }, terms) ?? quoteFor(0)
    const first = write(quoteOf("demo/first"), "chat")
    for (let index = 0; index < 511; index++) write(quoteOf(`demo/${index}`), "chat")
    assert.strictEqual(write(quoteOf("demo/first"), "chat"), first)
    write(quoteOf("demo/last"), "chat")
    assert.notStrictEqual(write(quoteOf("demo/first"), "chat"), first)
  })
})
