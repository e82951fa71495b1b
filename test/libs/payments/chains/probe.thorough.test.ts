import { Result } from "effect"
import { encodeAbiParameters, hashDomain, type Hex, toHex } from "viem"
import { assert, describe, it } from "@effect/vitest"
import { ChainMismatch, ChainUnavailable } from "#payments"
import { mismatchOf, type TokenAnswers } from "../../../../libs/payments/chains/evm/probe.ts"
import { stopAfter } from "../../../../libs/payments/networks.ts"
import { mintFault } from "../../../../libs/payments/chains/solana/exact-svm.ts"

const asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const configured = { name: "USD Coin", version: "2", chainId: 8453n, asset, decimals: 6 }
const text = (value: string) => encodeAbiParameters([{ type: "string" }], [value])
const number = (value: bigint) => encodeAbiParameters([{ type: "uint256" }], [value])
const zero: Hex = `0x${"00".repeat(32)}`

const separatorOf = (name: string, version = "2", chainId = 8453n) =>
  hashDomain({
    domain: { name, version, chainId, verifyingContract: asset },
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "version", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" }
      ]
    }
  })

const partsOf = (name: string, fields: Hex = "0x0f") =>
  encodeAbiParameters(
    [
      { type: "bytes1" },
      { type: "string" },
      { type: "string" },
      { type: "uint256" },
      { type: "address" },
      { type: "bytes32" },
      { type: "uint256[]" }
    ],
    [fields, name, "2", 8453n, asset, zero, []]
  )

const good: TokenAnswers = {
  separator: separatorOf("USD Coin"),
  name: text("USD Coin"),
  version: text("2"),
  decimals: number(6n),
  parts: "0x"
}
const nothing: TokenAnswers = { separator: "0x", name: "0x", version: "0x", decimals: "0x", parts: "0x" }

describe("the comparison of an EVM token with its configuration", () => {
  it.each<readonly [what: string, answers: TokenAnswers]>([
    ["it says the very same", good],
    ["it shows another name than the one that is signed", { ...good, name: text("USD Coin (shown)") }],
    ["it tells no version and no decimals", { ...good, version: "0x", decimals: "0x" }],
    ["it tells the parts of its domain alone", { ...nothing, name: text("shown"), parts: partsOf("USD Coin") }],
    ["it tells a name and a version alone", { ...nothing, name: good.name, version: good.version }]
  ])("is no mismatch when %s", (_what, answers) => {
    assert.isUndefined(mismatchOf(configured, answers))
  })

  it.each<readonly [what: string, answers: TokenAnswers, expected: string]>([
    [
      "another name",
      { ...good, separator: separatorOf("USDC"), name: text("USDC") },
      'is configured as name "USD Coin", version "2", 6 decimals, and says name "USDC", version "2", 6 decimals'
    ],
    [
      "another version",
      { ...good, separator: separatorOf("USD Coin", "1"), version: text("1") },
      'says name "USD Coin", version "1", 6 decimals'
    ],
    ["other decimals", { ...good, decimals: number(18n) }, 'says name "USD Coin", version "2", 18 decimals'],
    [
      "the same words in the domain of another chain",
      { ...good, separator: separatorOf("USD Coin", "2", 1n) },
      "; its signing domain is another"
    ],
    ["other parts of its domain", { ...nothing, parts: partsOf("USDC") }, "says no name, no version, no decimals"],
    ["a domain with a salt", { ...good, separator: "0x", parts: partsOf("USD Coin", "0x1f") }, "; its signing domain"],
    ["another name and no domain", { ...nothing, name: text("USDC") }, 'says name "USDC", no version, no decimals'],
    ["nothing at all", nothing, "is no token whose transfers are signed (EIP-3009)"],
    ["what cannot be read", { ...nothing, name: toHex("nonsense") }, "is no token"]
  ])("is a mismatch, in words, when it is %s", (_what, answers, expected) => {
    assert.include(mismatchOf(configured, answers), expected)
  })
})

const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const terms = { mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", tokenProgram: program, decimals: 6 }
const mint = (decimals: number, bytes = 82, isInitialized = 1) => {
  const data = new Uint8Array(bytes)
  data[44] = decimals
  data[45] = isInitialized
  return data
}

describe("the comparison of a Solana mint with its configuration", () => {
  it("is no mismatch when it is of the token program and has the configured decimals", () => {
    assert.isUndefined(mintFault(terms, { owner: program, data: mint(6) }))
  })

  it.each<readonly [what: string, account: Parameters<typeof mintFault>[1], expected: string]>([
    ["nothing is there", null, "there is no mint"],
    ["it is of another program", { owner: "TokenzQdBNbL", data: mint(6) }, "belongs to the program TokenzQdBNbL"],
    ["it is a token account", { owner: program, data: mint(6, 165) }, "is no mint"],
    ["it was never set up", { owner: program, data: mint(6, 82, 0) }, "is no mint"],
    ["it has other decimals", { owner: program, data: mint(9) }, "configured with 6 decimals, and has 9"]
  ])("is a mismatch when %s", (_what, account, expected) => {
    assert.include(mintFault(terms, account), expected)
  })
})

describe("the sale on a network after a check of its token", () => {
  const away = Result.fail(new ChainUnavailable({ operation: "ask", detail: "no answer" }))
  const wrong = Result.fail(new ChainMismatch({ detail: "another token" }))

  it.each<readonly [what: string, before: string | undefined, verdict: Parameters<typeof stopAfter>[1], stop: unknown]>(
    [
      ["a chain that never answered is not taken for wrong", undefined, away, undefined],
      ["a chain that is away stays what it was", "another token", away, "another token"],
      ["another token stops it", undefined, wrong, "another token"],
      ["the right token lets it go on", "another token", Result.void, undefined]
    ]
  )("%s", (_what, before, verdict, stop) => {
    assert.strictEqual(stopAfter(before, verdict), stop)
  })
})
