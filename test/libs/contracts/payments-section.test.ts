import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration, environmentKeys, environmentValue } from "#contracts"
import { claimOptionsOf, sweepTimesOf } from "#x402"

const base = {
  Network: "eip155:84532",
  RpcUrls: ["http://127.0.0.1:8545"],
  Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
}
const solana = {
  ...base,
  Network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  Asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  PayTo: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
}
const withNetworks = (...networks: ReadonlyArray<unknown>) => decodeConfiguration({ Payments: { Networks: networks } })

describe("the section Payments", () => {
  it("sells nothing paid by default, and has the prices and times that are documented", () => {
    const { Payments } = Result.getOrThrow(decodeConfiguration({}))
    assert.deepStrictEqual(Payments, {
      Networks: [],
      MaxTimeoutSeconds: 600,
      FlatFeeUsd: 0.001,
      PriceMinUsd: 0.001,
      OutputShare: 0.1,
      ExposureMax: 1,
      LeaseSeconds: 15,
      KeptHours: 24,
      SettleWaitSeconds: 10,
      FacilitatorTimeoutSeconds: 30
    })
    assert.deepStrictEqual(claimOptionsOf(Payments), { exposureMax: 1, keptMs: 86_400_000 })
    assert.deepStrictEqual(sweepTimesOf(Payments), { leaseMs: 15_000, settleWithinMs: 30_000 })
  })

  it("takes a network with what it needs", () => {
    const { Payments } = Result.getOrThrow(withNetworks(base, { ...solana, FeePayer: solana.PayTo }))
    assert.deepInclude({ ...Payments.Networks[0] }, { AssetSymbol: "USDC", AssetVersion: "2", AssetDecimals: 6 })
    assert.strictEqual(Payments.Networks.length, 2)
  })

  it.each<readonly [what: string, networks: ReadonlyArray<unknown>, path: string]>([
    ["an address that is none of its chain", [{ ...base, PayTo: "9xQeWvG816bUx9EP" }], "Payments.Networks[0]"],
    ["a chain that is unknown", [{ ...base, Network: "cosmos:hub" }], "Payments.Networks[0]"],
    ["a name that is no chain's", [{ ...base, Network: "base" }], "Payments.Networks[0].Network"],
    ["Solana without who pays the fee", [solana], "Payments.Networks[0]"],
    ["no chain to ask", [{ ...base, RpcUrls: [] }], "Payments.Networks[0].RpcUrls"],
    ["a URL with a password", [{ ...base, RpcUrls: ["http://a:b@c"] }], "Payments.Networks[0].RpcUrls[0]"],
    ["the same network twice", [base, base], "Payments.Networks"],
    ["a key that nobody knows", [{ ...base, Payto: "x" }], "Payments.Networks[0].Payto"]
  ])("refuses %s and says where", (_what, networks, path) => {
    const decoded = withNetworks(...networks)
    if (Result.isSuccess(decoded)) return assert.fail("taken")
    assert.include(
      decoded.failure.map((fault) => fault.path),
      path
    )
  })

  it("can be set by variables, networks as JSON", () => {
    const key = environmentKeys.find(({ variable }) => variable === "PAYMENTS_NETWORKS")
    assert.deepInclude({ ...key }, { section: "Payments", key: "Networks" })
    assert.deepStrictEqual(environmentValue(JSON.stringify([base])), [base])
  })
})
