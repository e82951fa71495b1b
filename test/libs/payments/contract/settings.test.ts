import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { decodeConfiguration, environmentKeys, environmentValue } from "#configuration"
import { knownTokens } from "#payments/contract"
import { claimOptionsOf, sweepTimesOf } from "#payments"

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
      Signers: [],
      MaxTimeoutSeconds: 600,
      FlatFeeUsd: 0.001,
      PriceMinUsd: 0.001,
      OutputShare: 0.1,
      UnpaidNewcomerUsd: 0.25,
      UnpaidPayerMaxUsd: 20,
      UnpaidNewcomersMaxUsd: 10,
      LeaseSeconds: 15,
      KeptHours: 24,
      SettleWaitSeconds: 10,
      FacilitatorTimeoutSeconds: 30,
      Channels: [],
      Refunds: [],
      ChannelMirrorSeconds: 120,
      ChannelUnclaimedMaxUsd: 20
    })
    assert.deepStrictEqual(claimOptionsOf(Payments), {
      credit: { newPayerMax: 250_000, payerMax: 20_000_000, newPayersMax: 10_000_000 },
      decimals: new Map(),
      keptMs: 86_400_000
    })
    assert.deepStrictEqual(sweepTimesOf(Payments), { leaseMs: 15_000, settleWithinMs: 30_000 })
  })

  it("asks again for a settlement after twice the lease, at most half a minute, and never sooner of a facilitator", () => {
    const network = { ...base, FacilitatorUrl: "https://facilitator.example" }
    const times = (LeaseSeconds: number, ...networks: ReadonlyArray<unknown>) =>
      sweepTimesOf({ ...Result.getOrThrow(withNetworks(...networks)).Payments, LeaseSeconds }).settleWithinMs
    assert.strictEqual(times(2, base), 4_000)
    assert.strictEqual(times(300, base), 30_000)
    assert.strictEqual(times(2, network), 30_000)
  })

  it("accepts a network with its required keys", () => {
    const { Payments } = Result.getOrThrow(withNetworks(base, { ...solana, FeePayer: solana.PayTo }))
    assert.deepInclude({ ...Payments.Networks[0] }, { AssetSymbol: "USDC", AssetVersion: "2", AssetDecimals: 6 })
    assert.strictEqual(Payments.Networks.length, 2)
  })

  it("offers exact alone by default, and other ways to pay in the order in which they are named", () => {
    const settlers = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
    const { Payments } = Result.getOrThrow(
      withNetworks(base, {
        ...base,
        Network: "eip155:8453",
        Asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        Schemes: ["upto", "exact"],
        FacilitatorAddresses: settlers
      })
    )
    assert.deepStrictEqual(Payments.Networks[0]?.Schemes, ["exact"])
    assert.deepStrictEqual(Payments.Networks[1]?.Schemes, ["upto", "exact"])
  })

  it.each([
    ["upto without an account that settles", { ...base, Schemes: ["upto"] }, "FacilitatorAddresses is needed"],
    ["an account that is none", { ...base, FacilitatorAddresses: ["abc"] }, "abc is not an address"],
    [
      "upto on Solana",
      { ...solana, FeePayer: solana.PayTo, Schemes: ["upto"], FacilitatorAddresses: [solana.PayTo] },
      "upto does not work on"
    ],
    ["a way to pay that nobody knows", { ...base, Schemes: ["later"] }, "Schemes"],
    ["no way to pay", { ...base, Schemes: [] }, "Schemes"],
    ["a way to pay named twice", { ...base, Schemes: ["exact", "exact"] }, "Schemes"]
  ])("refuses %s", (_, network, fault) => {
    assert.include(JSON.stringify(withNetworks(network)), fault)
  })

  it.each(["eip155:0x1", "eip155:08453", "eip155:0"])("refuses %s, which holds no chain id", (Network) => {
    const refused = withNetworks({ ...base, Network, AssetName: "A", AssetVersion: "1", AssetDecimals: 6 })
    assert.include(String(refused), `${Network} is no network of the form eip155:<chain id>`)
  })

  it.each(knownTokens.map((token) => [token.plainName, token] as const))(
    "needs no keys for the dollar token of %s: the table has them",
    (_name, { network, asset, symbol, name, version, decimals }) => {
      const { RpcUrls } = base
      const { PayTo } = network.startsWith("solana:") ? solana : base
      const decoded = withNetworks({ Network: network, RpcUrls, PayTo, FeePayer: PayTo })
      const named = withNetworks({ Network: network, RpcUrls, PayTo, FeePayer: PayTo, Asset: asset })
      const told = { AssetSymbol: symbol, AssetName: name, AssetVersion: version, AssetDecimals: decimals }
      assert.deepInclude({ ...Result.getOrThrow(decoded).Payments.Networks[0] }, { Asset: asset, ...told })
      assert.deepInclude({ ...Result.getOrThrow(named).Payments.Networks[0] }, told)
    }
  )

  it("knows a token in any spelling of its address, and prefers explicit keys to the table", () => {
    const { Payments } = Result.getOrThrow(
      withNetworks({ ...base, Network: "eip155:8453", Asset: "0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913" }, base, {
        ...base,
        Network: "eip155:10",
        Asset: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
        AssetName: "Dollar",
        AssetDecimals: 9
      })
    )
    assert.deepStrictEqual(
      Payments.Networks.map(({ AssetName, AssetDecimals }) => [AssetName, AssetDecimals]),
      [
        ["USD Coin", 6],
        ["USDC", 6],
        ["Dollar", 9]
      ]
    )
  })

  it("requires the keys of a token that is not in the table, by name", () => {
    const other = { ...base, Asset: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C" }
    const mint = { ...solana, Asset: solana.PayTo, FeePayer: solana.PayTo }
    const elsewhere = { Network: "eip155:1234567", RpcUrls: base.RpcUrls, PayTo: base.PayTo }
    const pathsOf = (network: unknown) =>
      Result.getFailure(withNetworks(network)).pipe(
        Option.getOrElse(() => []),
        (faults) => faults.map(({ path }) => path.replace("Payments.Networks[0].", ""))
      )
    assert.deepStrictEqual(pathsOf(other), ["AssetName", "AssetVersion", "AssetDecimals"])
    assert.deepStrictEqual(pathsOf(mint), ["AssetName", "AssetDecimals"])
    assert.deepStrictEqual(pathsOf(elsewhere), ["Asset"])
    const told = { ...other, AssetName: "Euro", AssetVersion: "1", AssetDecimals: 2 }
    const [network] = Result.getOrThrow(withNetworks(told)).Payments.Networks
    assert.strictEqual(network?.AssetSymbol, "Euro")
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
  ])("refuses %s and names the place", (_what, networks, path) => {
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

describe("the accounts that pay refunds", () => {
  const Account = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
  const till = { Name: "till", Address: Account, Url: "https://signer.example.com:9000" }
  const refunds = { Network: base.Network, Account, KeyEnvVar: "REFUNDS_KEY" }
  const faultsOf = (more: object, entries: ReadonlyArray<object> = [refunds]) => {
    const Payments = { Networks: [base], Refunds: entries, Signers: [till], ...more }
    const decoded = decodeConfiguration(JSON.parse(JSON.stringify({ Payments })))
    return Result.isSuccess(decoded) ? [] : decoded.failure.map(({ path, message }) => `${path}: ${message}`)
  }

  it("have their key in the environment or with a signer, one for each network", () => {
    assert.deepStrictEqual(faultsOf({}), [])
    assert.deepStrictEqual(faultsOf({}, [{ ...refunds, KeyEnvVar: undefined, Signer: "till" }]), [])
  })

  const payee = { Networks: [{ ...solana, FeePayer: solana.PayTo }] }
  const facilitated = { Networks: [{ ...base, FacilitatorUrl: "https://f.example.com" }] }
  const wrong: ReadonlyArray<readonly [string, object, ReadonlyArray<object>, string]> = [
    ["of a network that is not there", {}, [{ ...refunds, Network: "eip155:1" }], "eip155:1 is not among the Networks"],
    ["on Solana", payee, [{ ...refunds, Network: solana.Network }], "is no EVM chain"],
    ["where a facilitator settles", facilitated, [refunds], "is settled by a facilitator"],
    ["without a key", {}, [{ ...refunds, KeyEnvVar: undefined }], "needs KeyEnvVar or Signer, and not both"],
    ["with two keys", {}, [{ ...refunds, Signer: "till" }], "needs KeyEnvVar or Signer, and not both"],
    ["of nobody's signer", {}, [{ ...refunds, KeyEnvVar: undefined, Signer: "vault" }], "names the signer vault"],
    ["of another's key", {}, [{ ...refunds, Account: base.PayTo, KeyEnvVar: undefined, Signer: "till" }], "not of"],
    ["twice for one network", {}, [refunds, refunds], "is configured twice"]
  ]
  it.each(wrong)("are refused: %s", (_, more, entries, why) => {
    const faults = faultsOf(more, entries)
    assert.lengthOf(faults, 1)
    assert.include(faults[0], "Refunds: ")
    assert.include(faults[0], why)
  })
})

describe("the signers of the section Payments", () => {
  const address = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
  const file = { Name: "till", Address: address, KeystoreFile: "till.json", PasswordFile: "till.password" }
  const remote = { Name: "vault", Address: address, Url: "https://signer.example.com:9000" }
  const faultsOf = (payments: object) => {
    const decoded = decodeConfiguration({ Payments: payments })
    return Result.isSuccess(decoded) ? [] : decoded.failure.map(({ path, message }) => `${path}: ${message}`)
  }

  it("are files with a password, or programs at an address, which networks and channels name", () => {
    const channels = { Network: base.Network, ReceiverAuthorizer: address, AuthorizerSigner: "vault" }
    const networks = [{ ...base, Signers: ["till", "vault"] }]
    assert.deepStrictEqual(faultsOf({ Signers: [file, remote], Networks: networks, Channels: [channels] }), [])
    const inVariable = { ...file, PasswordFile: undefined, PasswordEnvVar: "PASSWORD" }
    const local = { ...remote, Name: "local", Url: "http://127.0.0.1:9000" }
    const inside = { ...remote, Name: "inside", Url: "http://signer:9000", PlainHttp: true }
    assert.deepStrictEqual(faultsOf({ Signers: [JSON.parse(JSON.stringify(inVariable)), local, inside] }), [])
  })

  const wrong: ReadonlyArray<readonly [string, object, string]> = [
    ["neither a file nor a program", { Name: "x", Address: address }, "needs KeystoreFile or Url, and not both"],
    ["both", { ...file, Url: remote.Url }, "needs KeystoreFile or Url, and not both"],
    ["a file without a password", { ...file, PasswordFile: undefined }, "needs PasswordFile or PasswordEnvVar"],
    ["a file with two passwords", { ...file, PasswordEnvVar: "P" }, "needs PasswordFile or PasswordEnvVar"],
    ["a program with a password", { ...remote, PasswordEnvVar: "P" }, "has no password here"],
    ["half a certificate", { ...remote, TlsKeyFile: "k.pem" }, "TlsCertificateFile and TlsKeyFile come together"],
    ["http on another machine", { ...remote, Url: "http://signer:9000" }, "Url is http on another machine"],
    ["no address", { ...remote, Address: "0x12" }, "Payments.Signers[0].Address: "]
  ]
  for (const [name, signer, part] of wrong) {
    it(`are refused with what is wrong: ${name}`, () => {
      const faults = faultsOf({ Signers: [JSON.parse(JSON.stringify(signer))] })
      assert.lengthOf(faults, 1)
      assert.include(faults[0], part)
      assert.include(faults[0], "Payments.Signers[0]")
    })
  }

  it("are refused when a name is given twice, or is nobody's, or its key is not the authorizer's", () => {
    assert.include(faultsOf({ Signers: [file, { ...remote, Name: "till" }] })[0], "the name till is given twice")
    const unknown = faultsOf({ Signers: [file], Networks: [{ ...base, Signers: ["vault"] }] })
    assert.include(unknown[0], `${base.Network} names the signer vault, which is not among the Signers`)
    const channels = { Network: base.Network, ReceiverAuthorizer: base.PayTo }
    const on = (changes: object) =>
      faultsOf({ Signers: [file], Networks: [base], Channels: [{ ...channels, ...changes }] })[0]
    assert.include(on({}), "needs AuthorizerKeyEnvVar or AuthorizerSigner, and not both")
    assert.include(on({ AuthorizerSigner: "till" }), `the signer till is of ${address}, not of ${base.PayTo}`)
    assert.include(on({ AuthorizerSigner: "vault" }), "names the signer vault, which is not among the Signers")
  })

  it("are keys of EVM chains, and none is on its way out while quotes still name it", () => {
    const onSolana = faultsOf({ Signers: [file], Networks: [{ ...solana, FeePayer: solana.PayTo, Signers: ["till"] }] })
    assert.include(onSolana[0], "Payments.Networks[0].Signers: Signers are keys of EVM chains")
    const both = { Schemes: ["upto"], FacilitatorAddresses: [address], RetiringAddresses: [address.toLowerCase()] }
    assert.include(faultsOf({ Networks: [{ ...base, ...both }] })[0], "Payments.Networks[0].RetiringAddresses: ")
    const wrongChain = { RetiringAddresses: [solana.PayTo] }
    assert.include(faultsOf({ Networks: [{ ...base, ...wrongChain }] })[0], "is not an address of eip155:84532")
  })
})
