import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeConfiguration, effectiveSettings, environmentKeys, settingSources } from "#contracts"
import { ConfigurationFile } from "../../../../libs/contracts/configuration/configuration.ts"
import { settingFacts } from "../../../../libs/contracts/configuration/effective-settings.ts"
import { overlay } from "../../../../libs/runtime/Configuration.ts"

type Json = Readonly<Record<string, unknown>>

const settingsOf = (file: Json, environment: Readonly<Record<string, string>> = {}, launcher: Json = {}) => {
  const sources = settingSources({ launcher, file, environment })
  const input = overlay({ ...launcher, ...file }, environment)
  return effectiveSettings(Result.getOrThrow(decodeConfiguration(input)), sources)
}
const settingIn = (settings: ReturnType<typeof settingsOf>, key: string) => {
  const found = settings.find((setting) => setting.key === key)
  assert.isDefined(found, key)
  return found
}

const network = {
  Network: "eip155:84532",
  PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
}

/** A configuration with a secret in every place that may hold one. */
const withSecrets = (secret: string, password: string): Json => ({
  Bus: { Url: `nats://role:${secret}@one:4222,two:4222`, User: "role", Password: password },
  Telemetry: { OtlpUrl: `https://collector.example/${secret}` },
  ModelGateway: { Providers: [{ Name: "p", BaseUrl: `https://api.example/${secret}/v1?key=${secret}` }] },
  Payments: {
    Signers: [
      {
        Name: "vault",
        Address: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
        Url: `https://signer.example/${secret}`
      }
    ],
    Networks: [
      {
        ...network,
        RpcUrls: [`https://rpc.example/v2/${secret}`, `https://other.example/?key=${secret}`],
        FacilitatorUrl: `https://facilitator.example/${secret}`
      }
    ]
  },
  Redaction: { Patterns: [{ Name: "own", Pattern: secret }] },
  Webhooks: [{ Name: "shop", Url: "https://shop.example/", Headers: { Authorization: secret } }]
})

const facts = settingFacts(ConfigurationFile.fields)
const marked = [...facts].filter(([, { shown }]) => shown !== "whole").map(([key]) => key)

describe("the settings in force", () => {
  it("are all keys of all sections, each with its reason, and with its default where nothing is given", () => {
    const settings = settingsOf({})
    const keys = new Set(settings.map(({ key }) => key))
    for (const { section, key } of environmentKeys) {
      // A part of a section has its own keys.
      const isThere = keys.has(`${section}.${key}`) || [...keys].some((each) => each.startsWith(`${section}.${key}.`))
      assert.isTrue(isThere, `${section}.${key}`)
    }
    assert.deepStrictEqual(
      settings.filter(({ why, source, isHidden }) => why === "" || source !== "default" || isHidden),
      []
    )
    const { key, variable, value, isSet, default: usual } = settingIn(settings, "Telemetry.Port") ?? {}
    assert.deepStrictEqual(
      [key, variable, value, isSet, usual],
      ["Telemetry.Port", "TELEMETRY_PORT", 9_400, true, 9_400]
    )
    assert.include(settingIn(settings, "Telemetry.OtlpUrl"), { value: null, isSet: false })
  })

  it.each([
    ["default", {}, {}, {}],
    ["launcher", {}, {}, { Fleet: { Roles: ["console"] } }],
    ["file", { Fleet: { Roles: ["console"] } }, {}, { Fleet: { Roles: ["sweeper"] } }],
    ["environment", { Fleet: { Roles: ["sweeper"] } }, { FLEET_ROLES: '["console"]' }, {}]
  ] as const)("name the last layer that gives a key: %s", (source, file, environment, launcher) => {
    const { source: told, value } = settingIn(settingsOf(file, environment, launcher), "Fleet.Roles") ?? {}
    assert.strictEqual(told, source)
    if (source !== "default") assert.deepStrictEqual(value, ["console"])
  })

  it("name the source of each part of an entry, and the default of a part that is left out", () => {
    const settings = settingsOf({ Payments: { Networks: [{ ...network, RpcUrls: ["https://rpc.example"] }] } })
    assert.include(settingIn(settings, "Payments.Networks[0].PayTo"), { value: network.PayTo, source: "file" })
    assert.include(settingIn(settings, "Payments.Networks[0].AssetSymbol"), { value: "USDC", source: "default" })
    assert.include(settingIn(settings, "Payments.MaxTimeoutSeconds"), { value: 600, source: "default" })
  })

  it("show the origins of URLs that may hold a key, and say what is hidden", () => {
    const settings = settingsOf(withSecrets("s3cr3t-1", "pass-word"))
    assert.include(settingIn(settings, "Bus.Url"), { value: "nats://one:4222/…,two:4222", isHidden: true })
    assert.deepInclude(settingIn(settings, "Payments.Networks[0].RpcUrls"), {
      value: ["https://rpc.example/…", "https://other.example/…"],
      isHidden: true
    })
    assert.include(settingIn(settings, "ModelGateway.Providers[0].BaseUrl"), { value: "https://api.example/…" })
    assert.include(settingIn(settings, "Bus.Password"), { value: null, isSet: true, isHidden: true, default: null })
    assert.include(settingIn(settingsOf({}), "Bus.Url"), { value: "nats://127.0.0.1:4222", isHidden: false })
    assert.include(settingIn(settingsOf({ Bus: { Url: "u:p@h:1" } }), "Bus.Url"), { value: "h:1/…", isHidden: true })
  })

  it("are marked as secret where they may hold one; a key with such a name is, or names a variable or a file", () => {
    assert.sameMembers(marked, [
      "Bus.Url",
      "Bus.Password",
      "Telemetry.OtlpUrl",
      "ModelGateway.Providers[].BaseUrl",
      "Payments.Networks[].RpcUrls",
      "Payments.Networks[].FacilitatorUrl",
      "Payments.Signers[].Url",
      "Redaction.Patterns[].Pattern",
      "Webhooks[].Headers"
    ])
    const suspect = [...facts.keys()].filter((path) => {
      const name = path.slice(path.lastIndexOf(".") + 1)
      if (/EnvVars?$|File$|Folder$|^Tokens?Max|Tokens(?:Max|Parameter)|KeysHeldMax/u.test(name)) return false
      return /password|secret|key|credential|authorization|headers/iu.test(name) && !marked.includes(path)
    })
    // Their values are names, or no secrets.
    assert.deepStrictEqual(suspect, [])
  })

  it.prop(
    "show no secret, whatever it is and whichever layer gives it",
    [Schema.Int, Schema.String],
    ([seed, text]) => {
      const secret = `key-${seed}-end`
      const password = `pass-${seed}-${text}`
      const file = withSecrets(secret, password)
      const { Payments, ModelGateway, Bus } = file as Readonly<Record<string, Json>>
      const environment = {
        BUS_PASSWORD: password,
        BUS_URL: String(Bus?.["Url"]),
        PAYMENTS_NETWORKS: JSON.stringify(Payments?.["Networks"]),
        MODEL_GATEWAY_PROVIDERS: JSON.stringify(ModelGateway?.["Providers"])
      }
      for (const settings of [settingsOf(file), settingsOf({}, environment), settingsOf({}, {}, file)]) {
        const shown = JSON.stringify(settings)
        assert.notInclude(shown, secret)
        assert.notInclude(shown, `pass-${seed}`)
        assert.include(shown, "rpc.example")
      }
    }
  )
})
