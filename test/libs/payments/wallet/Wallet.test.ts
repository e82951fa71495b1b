import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readQuote, usdText } from "../../../../libs/payments/wallet/Wallet.ts"

const offer = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "25685",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 600,
  extra: { name: "USDC", version: "2" }
}
const solanaOffer = {
  ...offer,
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
}
const headerOf = (...accepts: ReadonlyArray<unknown>) =>
  Buffer.from(JSON.stringify({ x402Version: 2, resource: { url: "http://localhost/x" }, accepts })).toString("base64")
const evm = { chain: "evm", microUsdMax: 25_685n, limitName: "--max-usd" } as const

const refusal = (header: string | undefined, order: Parameters<typeof readQuote>[1] = evm) => {
  const read = readQuote(header, order)
  return Result.isFailure(read) ? read.failure : assert.fail("it was taken")
}

describe("a quote", () => {
  it("is signed up to the highest allowed price, from its first offer", () => {
    const read = Result.getOrThrow(readQuote(headerOf(offer, { ...offer, amount: "1" }), evm))
    assert.strictEqual(read.microUsd, 25_685n)
    assert.strictEqual(read.requirements.payTo, offer.payTo)
  })

  it("is signed by the way to pay that is asked for, and by no other", () => {
    const upto = { ...offer, scheme: "upto", amount: "20000" }
    const both = headerOf(offer, upto)
    assert.strictEqual(Result.getOrThrow(readQuote(both, { ...evm, scheme: "upto" })).microUsd, 20_000n)
    assert.strictEqual(Result.getOrThrow(readQuote(both, { ...evm, scheme: "exact" })).microUsd, 25_685n)
    assert.include(refusal(headerOf(offer), { ...evm, scheme: "upto" }), "offers no way to pay by upto")
  })

  it("above the highest price is not signed, and the price is shown", () => {
    assert.include(
      refusal(headerOf({ ...offer, amount: "25686" })),
      "0.025686 USD, more than the 0.025685 of --max-usd"
    )
  })

  it("in another token than its chain's dollar is not signed, whatever the token's name", () => {
    assert.include(refusal(headerOf({ ...offer, asset: `0x${"12".repeat(20)}` })), "no dollar that is known")
    assert.include(refusal(headerOf({ ...offer, network: "eip155:1" })), "no dollar that is known")
    const spelled = { ...solanaOffer, asset: solanaOffer.asset.toLowerCase() }
    assert.include(refusal(headerOf(spelled), { ...evm, chain: "solana" }), "no dollar that is known")
  })

  it("is recognised in any spelling of an EVM chain's dollar", () => {
    assert.isTrue(Result.isSuccess(readQuote(headerOf({ ...offer, asset: offer.asset.toLowerCase() }), evm)))
  })

  it("for another chain than requested is not signed", () => {
    assert.include(refusal(headerOf(solanaOffer)), "which is not evm")
    assert.isTrue(Result.isSuccess(readQuote(headerOf(solanaOffer), { ...evm, chain: "solana" })))
    assert.include(refusal(headerOf(offer), { ...evm, chain: "solana" }), "which is not solana")
  })

  it("that is missing or unreadable is reported", () => {
    assert.include(refusal(undefined), "does not say which")
    assert.include(refusal("x"), "cannot be read")
    assert.include(refusal(headerOf()), "cannot be read")
  })
})

describe("millionths of a dollar", () => {
  it.each([
    [0n, "0.000000"],
    [1n, "0.000001"],
    [25_685n, "0.025685"],
    [1_000_000n, "1.000000"],
    [-2_000n, "-0.002000"]
  ] as const)("%s are %s", (micro, text) => assert.strictEqual(usdText(micro), text))
})
