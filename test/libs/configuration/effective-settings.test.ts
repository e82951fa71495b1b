import { assert, describe, it } from "@effect/vitest"
import { environmentKeys } from "#configuration"
import { ConfigurationFile } from "../../../libs/configuration/sections.ts"
import { settingFacts } from "../../../libs/configuration/effective-settings.ts"
import { network, settingsOf, withSecrets } from "./settings-with-secrets.ts"

const settingIn = (settings: ReturnType<typeof settingsOf>, key: string) => {
  const found = settings.find((setting) => setting.key === key)
  assert.isDefined(found, key)
  return found
}

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
})
