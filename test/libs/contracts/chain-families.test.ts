import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { chainFamilies, chainFamilyOf, inOneCase, isSameAddress, knownTokens } from "#contracts"

describe("a chain family", () => {
  it("is known by the whole namespace of a network's name", () => {
    assert.strictEqual(chainFamilyOf("eip155:8453"), "evm")
    assert.strictEqual(chainFamilyOf("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"), "solana")
    for (const stranger of ["eip1559:1", "solan:1", "evm:1", ""]) assert.isUndefined(chainFamilyOf(stranger))
  })

  it("writes its addresses in one case, or distinguishes cases", () => {
    assert.isTrue(isSameAddress("eip155:1", "0xAB", "0xab"))
    assert.isFalse(isSameAddress("solana:x", "AB", "ab"))
    assert.isFalse(isSameAddress("other:x", "AB", "ab"))
    assert.strictEqual(inOneCase("eip155:1", "0xAB"), "0xab")
    assert.strictEqual(inOneCase("solana:x", "AB"), "AB")
  })

  it.each(Object.keys(chainFamilies))("has a known token: %s", (family) => {
    assert.isTrue(knownTokens.some(({ network }) => chainFamilyOf(network) === family))
  })
})

it("names every known token in the page on payments", () => {
  const page = readFileSync("docs/payments.md", "utf8")
  for (const { network, plainName, asset } of knownTokens) {
    assert.include(page, `\n| \`${network}\` | ${plainName} | \`${asset}\` |`)
  }
})
