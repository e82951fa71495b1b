import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Json, settingsOf, withSecrets } from "./settings-with-secrets.ts"

describe("the settings in force", () => {
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
