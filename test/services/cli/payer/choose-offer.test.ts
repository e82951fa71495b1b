import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { knownTokens } from "#payments/contract"
import { chooseOffer, type PayerTerms } from "../../../../services/cli/payer/choose-offer.ts"

const assetOf = (name: string) => knownTokens.find(({ plainName }) => plainName === name)

const entry = (scheme: string, name: string, changes: object = {}) => ({
  scheme,
  network: assetOf(name)?.network,
  amount: "25685",
  asset: assetOf(name)?.asset,
  payTo: "0x1111111111111111111111111111111111111111",
  maxTimeoutSeconds: 600,
  ...changes
})

const quoteOf = (accepts: ReadonlyArray<object>, url = "https://models.example.com/v1/chat/completions") =>
  Buffer.from(JSON.stringify({ x402Version: 2, resource: { url }, accepts })).toString("base64")

const terms: PayerTerms = {
  schemes: ["exact"],
  networks: undefined,
  isMainnet: false,
  hosts: ["models.example.com"]
}

const test = entry("exact", "base-sepolia")
const real = entry("exact", "base")
const upto = entry("upto", "base-sepolia")

const taken: ReadonlyArray<readonly [string, ReadonlyArray<object>, Partial<PayerTerms>, number]> = [
  ["the only one", [test], {}, 0],
  ["that of a test network, although the first is real", [real, test], {}, 1],
  ["the first, with real money allowed", [real, test], { isMainnet: true }, 0],
  ["that of the named network", [real, test], { isMainnet: true, networks: ["eip155:84532"] }, 1],
  ["that of an allowed scheme", [upto, test], {}, 1],
  ["the first of two allowed schemes", [upto, test], { schemes: ["exact", "upto"] }, 0],
  ["the one of EVM", [entry("exact", "solana-devnet"), test], {}, 1]
]

const refused: ReadonlyArray<readonly [string, ReadonlyArray<object>, Partial<PayerTerms>, string]> = [
  ["real money", [real], {}, "no way to pay may be taken: the dollars of base are real, which takes --mainnet"],
  ["another scheme", [upto], {}, "upto is not allowed by --scheme"],
  ["a channel", [entry("batch-settlement", "base-sepolia")], {}, "batch-settlement is not allowed by --scheme"],
  ["another network", [test], { networks: ["eip155:8453"] }, "base-sepolia is not allowed by --network"],
  ["Solana", [entry("exact", "solana-devnet")], {}, "solana-devnet is no chain of EVM"],
  ["an unknown network", [entry("exact", "base", { network: "eip155:5" })], {}, "is no dollar that is known"],
  [
    "a token that is no dollar",
    [entry("exact", "base-sepolia", { asset: "0x2222222222222222222222222222222222222222" })],
    { isMainnet: true },
    "0x2222222222222222222222222222222222222222 on base-sepolia is no dollar that is known"
  ],
  ["what is no address", [entry("exact", "base-sepolia", { payTo: "0x12" })], {}, "0x12 is no address to pay to"],
  [
    "a payment that could be charged a day later",
    [entry("exact", "base-sepolia", { maxTimeoutSeconds: 86_400 })],
    {},
    "good for 86400 s"
  ],
  [
    "a host that nobody allowed",
    [test],
    { hosts: ["other.example"] },
    "models.example.com, which --allow does not name"
  ]
]

describe("the entry of a quote that is signed", () => {
  it.each(taken)("is %s", (_, accepts, changes, index) => {
    const chosen = Result.getOrThrow(chooseOffer(quoteOf(accepts), { ...terms, ...changes }))
    const wanted = accepts[index] as { readonly scheme: string; readonly network: string }
    assert.deepStrictEqual([chosen.requirements.scheme, chosen.requirements.network, chosen.microUsd], [
      wanted.scheme,
      wanted.network,
      25_685n
    ] as never)
  })

  it.each(refused)("is none for %s, with the reason", (_, accepts, changes, reason) => {
    const chosen = chooseOffer(quoteOf(accepts), { ...terms, ...changes })
    assert.include(Result.isFailure(chosen) ? chosen.failure : "", reason)
  })

  it("is none without a quote, or of one that cannot be read", () => {
    for (const header of [undefined, "", "!", Buffer.from("{}").toString("base64")]) {
      assert.isTrue(Result.isFailure(chooseOffer(header, terms)))
    }
  })

  it("counts all names of this machine as one host", () => {
    const quote = quoteOf([test], "http://localhost:7402/v1/messages")
    assert.isTrue(Result.isSuccess(chooseOffer(quote, { ...terms, hosts: ["127.0.0.1"] })))
    assert.isTrue(Result.isFailure(chooseOffer(quote, { ...terms, hosts: ["localhost.example.com"] })))
  })
})
