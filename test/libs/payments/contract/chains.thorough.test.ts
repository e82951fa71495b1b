import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_ASSETS as evmAssets } from "@x402/evm"
import { DEFAULT_ASSETS as svmAssets } from "@x402/svm"
import { usdc } from "viem/tokens"
import { chainFamilies, chainFamilyOf, inOneCase, isSameAddress, knownTokens } from "#payments/contract"
import { isWellSpelledEvmAddress } from "#payments"

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

const evm = knownTokens.filter(({ network }) => network.startsWith("eip155:"))
const solana = knownTokens.filter(({ network }) => network.startsWith("solana:"))
const chainIdOf = (network: string) => Number(network.split(":")[1])
const addresses: Readonly<Record<number, string>> = usdc.addresses

describe("the table of known tokens", () => {
  it("says of every EVM token what the reference client signs for it, on the chains that the client knows", () => {
    const judged = evm.flatMap((token) => {
      const [reference] = evmAssets[token.network as keyof typeof evmAssets] ?? []
      return reference === undefined ? [] : [{ token, reference }]
    })
    for (const { token, reference } of judged) {
      const { asset, name, version, decimals, symbol } = token
      const { asset: known, name: signed, version: signedVersion, decimals: digits, symbol: ticker } = reference
      assert.deepStrictEqual([asset, name, version, decimals, symbol], [known, signed, signedVersion, digits, ticker])
    }
    // Of Optimism the client has no entry.
    assert.deepStrictEqual(
      evm.filter((token) => !judged.some((one) => one.token === token)).map(({ plainName }) => plainName),
      ["optimism"]
    )
  })

  it("has every EVM token at the address that the issuer's own list has", () => {
    for (const { network, asset, decimals } of evm) {
      assert.strictEqual(asset, addresses[chainIdOf(network)], network)
      assert.strictEqual(decimals, usdc.decimals)
      assert.isTrue(isWellSpelledEvmAddress(asset))
    }
  })

  it("has the mint and the decimals that the reference client has for both Solana networks", () => {
    for (const { network, asset, decimals, symbol } of solana) {
      const [reference] = svmAssets[network as keyof typeof svmAssets] ?? []
      assert.deepInclude({ ...reference }, { asset, decimals, symbol })
    }
    assert.strictEqual(solana.length, 2)
  })

  it("has each network and each plain name once", () => {
    assert.strictEqual(new Set(knownTokens.map(({ network }) => network)).size, knownTokens.length)
    assert.strictEqual(new Set(knownTokens.map(({ plainName }) => plainName)).size, knownTokens.length)
  })
})
