import { assert, describe, it } from "@effect/vitest"
import { newKey } from "../../../dev/fixtures/evm/terms.ts"
import { reportFor } from "../../../services/fleet/configuration-check.ts"

const network = { Network: "eip155:8453", RpcUrls: ["https://node.example"], PayTo: `0x${"1".repeat(40)}` }
const provider = { Name: "p", BaseUrl: "https://p.example/v1" }
const model = { Id: "x/y", Upstreams: [{ Provider: "p", Model: "m" }], FlatMicroUsd: 1 }
const everything = {
  Webhooks: [{ Name: "a", Url: "https://a.example", SecretEnvVar: "HOOK" }],
  ModelGateway: { Providers: [{ ...provider, KeyEnvVar: "PROVIDER" }], Models: [{ ...model, FlatMicroUsd: 0.5 }] },
  Payments: { Networks: [{ ...network, SettlerKeyEnvVars: ["SETTLER"] }] }
}
const pathsOf = async (...parameters: Parameters<typeof reportFor>) =>
  (await reportFor(...parameters)).faults.map(({ path }) => path)

const secret = "a-secret-of-more-than-32-characters"
const evm = newKey()
const channel = { Network: network.Network, AuthorizerKeyEnvVar: "K", RetiringAuthorizerKeyEnvVars: ["GOOD"] }
/** Each place where a configuration names a secret's variable, as `K`. */
const places: ReadonlyArray<readonly [path: string, file: unknown, good: string, wrong: "warned of" | "refused"]> = [
  ["Webhooks[0].SecretEnvVar", { Webhooks: [{ SecretEnvVar: "K" }] }, secret, "warned of"],
  [
    "Webhooks[0].StandardWebhooksSecretEnvVar",
    { Webhooks: [{ StandardWebhooksSecretEnvVar: "K" }] },
    `whsec_${btoa(secret)}`,
    "warned of"
  ],
  ["WebhookDelivery.SecretsKeyEnvVar", { WebhookDelivery: { SecretsKeyEnvVar: "K" } }, secret, "warned of"],
  ["Console.PageProxySecretEnvVar", { Console: { PageProxySecretEnvVar: "K" } }, secret, "warned of"],
  [
    "ModelGateway.Providers[0].KeyEnvVar",
    { ModelGateway: { Providers: [{ ...provider, KeyEnvVar: "K" }] } },
    "sk-1",
    "warned of"
  ],
  [
    "Payments.Networks[0].SettlerKeyEnvVars[0]",
    { Payments: { Networks: [{ ...network, SettlerKeyEnvVars: ["K"] }] } },
    evm,
    "refused"
  ],
  ["Payments.Channels[0].AuthorizerKeyEnvVar", { Payments: { Channels: [channel] } }, evm, "refused"],
  [
    "Payments.Channels[0].RetiringAuthorizerKeyEnvVars[0]",
    { Payments: { Channels: [{ ...channel, AuthorizerKeyEnvVar: "GOOD", RetiringAuthorizerKeyEnvVars: ["K"] }] } },
    evm,
    "refused"
  ],
  [
    "Payments.Refunds[0].KeyEnvVar",
    { Payments: { Refunds: [{ Network: network.Network, KeyEnvVar: "K" }] } },
    evm,
    "refused"
  ],
  ["Payments.Signers[0].PasswordEnvVar", { Payments: { Signers: [{ PasswordEnvVar: "K" }] } }, "any", "refused"]
]

describe("a secret that a configuration names", () => {
  const verdicts = async (file: unknown, path: string, K: string | undefined) => {
    const { faults, warnings } = await reportFor(file, { K, GOOD: evm })
    if (faults.some((one) => one.path === path)) return "refused"
    return warnings.some((one) => one.path === path) ? "warned of" : "taken"
  }

  it.each(places)("is held to what a secret is: %s", async (path, file, good, wrong) => {
    assert.strictEqual(await verdicts(file, path, good), "taken")
    for (const none of [undefined, "", " ", "\n"]) assert.strictEqual(await verdicts(file, path, none), "refused")
    // What a reader of its own trims, or takes as it comes, is left to it.
    const withBreak = path.startsWith("Payments.") ? "taken" : "warned of"
    assert.strictEqual(await verdicts(file, path, `${good}\n`), withBreak)
    if (!path.includes("Signers"))
      assert.strictEqual(await verdicts(file, path, `${good}ü`), path.includes("SecretsKey") ? "taken" : wrong)
  })

  it("stops the start where its key is empty, and warns of one that works today", async () => {
    const file = {
      Webhooks: ["NONE", "WEAK", "OTHER"].map((name) => ({
        Name: name,
        Url: "https://a.example",
        StandardWebhooksSecretEnvVar: name
      }))
    }
    const environment = { NONE: "whsec_!!!", WEAK: "whsec_c2hvcnQ=", OTHER: `v1,whsec_${btoa(secret)}` }
    const { faults, warnings } = await reportFor(file, environment, ["webhook-dispatcher"])
    assert.deepStrictEqual(
      faults.map(({ path }) => path),
      ["Webhooks[0].StandardWebhooksSecretEnvVar"]
    )
    assert.deepStrictEqual(
      warnings.map(({ path }) => path),
      ["Webhooks[1].StandardWebhooksSecretEnvVar", "Webhooks[2].StandardWebhooksSecretEnvVar"]
    )
  })

  it("is the broker's password too", async () => {
    const report = (Password: string) => reportFor({ Bus: { Password } }, {}, ["sweeper"])
    assert.deepStrictEqual(await report("p1"), { faults: [], warnings: [] })
    assert.strictEqual((await report(" ")).faults[0]?.path, "Bus.Password")
    assert.strictEqual((await report("p1\n")).warnings[0]?.path, "Bus.Password")
  })
})

describe("the configuration check for the roles to run", async () => {
  it.each<readonly [role: Parameters<typeof reportFor>[2], paths: ReadonlyArray<string>]>([
    [["webhook-dispatcher"], ["Webhooks[0].SecretEnvVar", "ModelGateway.Models[0].FlatMicroUsd"]],
    [["model-gateway"], ["ModelGateway.Providers[0].KeyEnvVar", "ModelGateway.Models[0].FlatMicroUsd"]],
    [["payment-settler"], ["ModelGateway.Models[0].FlatMicroUsd", "Payments.Networks[0].SettlerKeyEnvVars[0]"]],
    [["sweeper"], ["ModelGateway.Models[0].FlatMicroUsd"]],
    [
      undefined,
      [
        "Webhooks[0].SecretEnvVar",
        "ModelGateway.Providers[0].KeyEnvVar",
        "ModelGateway.Models[0].FlatMicroUsd",
        "Payments.Networks[0].SettlerKeyEnvVars[0]"
      ]
    ]
  ])("covers the shape of everything, and of secrets those that %s reads", async (roles, paths) => {
    assert.deepStrictEqual(await pathsOf(everything, {}, roles), paths)
  })

  it("covers the roles that the file names, when it names roles", async () => {
    const named = (Roles: unknown) => pathsOf({ ...everything, Fleet: { Roles } }, {})
    assert.deepStrictEqual(await named(["sweeper", "waiter"]), [
      "ModelGateway.Models[0].FlatMicroUsd",
      "Fleet.Roles[1]"
    ])
    assert.include(await named("all"), "Webhooks[0].SecretEnvVar")
  })

  it("asks for the key of endpoints' secrets where the configuration names one", async () => {
    const named = { WebhookDelivery: { SecretsKeyEnvVar: "SEAL" } }
    assert.deepStrictEqual(await pathsOf(named, {}, ["webhook-dispatcher"]), ["WebhookDelivery.SecretsKeyEnvVar"])
    assert.deepStrictEqual(await pathsOf(named, { SEAL: secret }, ["webhook-dispatcher"]), [])
    assert.deepStrictEqual(await pathsOf(named, {}), ["WebhookDelivery.SecretsKeyEnvVar"])
  })

  it("asks for the secret of a proxy in front of the page where the configuration names one", async () => {
    const named = { Console: { PageProxyHeader: "X-Forwarded-User", PageProxySecretEnvVar: "PROXY" } }
    assert.deepStrictEqual(await pathsOf(named, {}, ["console"]), ["Console.PageProxySecretEnvVar"])
    assert.deepStrictEqual(await pathsOf(named, { PROXY: secret }, ["console"]), [])
  })

  it("lets no proxy name people without a secret, nor in a header that means something else", async () => {
    const alone = { Console: { PageProxyHeader: "X-Forwarded-User" } }
    assert.deepStrictEqual(await pathsOf(alone, {}, ["console"]), ["Console"])
    const cookie = { Console: { PageProxyHeader: "Cookie", PageProxySecretEnvVar: "PROXY" } }
    assert.deepStrictEqual(await pathsOf(cookie, { PROXY: secret }, ["console"]), ["Console.PageProxyHeader"])
  })

  it("passes once every variable is set and valid", async () => {
    const ModelGateway = { ...everything.ModelGateway, Models: [model] }
    const environment = { HOOK: secret, PROVIDER: "a key", SETTLER: newKey() }
    const report = await reportFor({ ...everything, ModelGateway }, environment)
    assert.deepStrictEqual(report, { faults: [], warnings: [] })
  })

  it("requires a settler's key only where we settle, and the fee payer's key there", async () => {
    const Network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    const address = "1".repeat(32)
    const settling = (changes: object) =>
      pathsOf(
        { Payments: { Networks: [{ ...network, ...changes }] } },
        { K: "So11111111111111111111111111111111111111112" },
        ["payment-settler"]
      )
    assert.deepStrictEqual(await settling({ FacilitatorUrl: "https://f.example" }), [])
    assert.deepStrictEqual(await settling({}), ["Payments.Networks[0].SettlerKeyEnvVars"])
    const solana = { Network, PayTo: address, SettlerKeyEnvVars: ["K"] }
    assert.deepStrictEqual(await settling({ ...solana, FeePayer: address }), ["Payments.Networks[0].FeePayer"])
  })

  it("reports models that cannot be served or sold, and none that depends on an unreadable value", async () => {
    const told = async (Providers: unknown, Models: unknown) =>
      (await pathsOf({ ModelGateway: { Providers, Models } }, {}, ["model-gateway"])).map((path) =>
        path.replace("ModelGateway.", "")
      )
    const upstreams = [
      { Provider: "q", Model: "m" },
      { Provider: 5, Model: "m" }
    ]
    assert.deepStrictEqual(
      await told(
        [provider, provider],
        [
          { ...model, Upstreams: upstreams },
          { ...model, FlatMicroUsd: "x" }
        ]
      ),
      [
        "Providers[1].Name",
        "Models[0].Upstreams[0].Provider",
        "Models[0].Upstreams[1].Provider",
        "Models[1].Id",
        "Models[1].FlatMicroUsd"
      ]
    )
    const image = { Id: "x/i", Kind: "image", Upstreams: model.Upstreams, InputMicroUsdPerMillionTokens: 1 }
    assert.deepStrictEqual(
      await told([{ ...provider, Kind: "anthropic" }], [image, { Id: "x/z", Upstreams: model.Upstreams }]),
      ["Models[0].Upstreams[0].Provider", "Models[0].FlatMicroUsd", "Models[1]"]
    )
    const counted = [{}, { Free: true }, { Kind: "image" }].map((parts, index) => ({
      ...model,
      ...parts,
      Id: `x/${index}`,
      CountMicroUsd: 1
    }))
    assert.deepStrictEqual(await told([provider], counted), ["Models[1].CountMicroUsd", "Models[2].CountMicroUsd"])
    const embedding = { Id: "x/e", Kind: "embedding", Upstreams: model.Upstreams, OutputMicroUsdPerMillionTokens: 1 }
    assert.deepStrictEqual(await told([{ ...provider, Kind: "anthropic" }], [embedding]), [
      "Models[0].Upstreams[0].Provider",
      "Models[0].OutputMicroUsdPerMillionTokens"
    ])
  })
})
