import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Configuration } from "#configuration"
import { lineLogger, Metrics } from "#runtime"
import { ModelRegistry, suggestModels } from "../../../../services/model-gateway/models/ModelRegistry.ts"

describe("a registry with a model whose provider takes more than the quote's guess charges", () => {
  const startWith = (Schemes: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const address = `0x${"11".repeat(20)}`
      const network = { Network: "eip155:84532", RpcUrls: ["http://127.0.0.1:1"], PayTo: address, Schemes }
      const configuration = Configuration.layerOf({
        ModelGateway: {
          Providers: [{ Name: "p", BaseUrl: "http://127.0.0.1:1" }],
          Models: [
            {
              Id: "demo/x",
              OutputMicroUsdPerMillionTokens: 2_000_000,
              Upstreams: [{ Provider: "p", Model: "m", CostOutputMicroUsdPerMillionTokens: 1_000_000 }]
            }
          ]
        },
        Payments: { Networks: [{ ...network, FacilitatorAddresses: [address] }] }
      })
      const logging = Logger.layer([lineLogger("json", (line) => void lines.push(line))])
      yield* Effect.provide(
        ModelRegistry,
        Layer.provide(ModelRegistry.layer, Layer.mergeAll(configuration, logging, Metrics.layerTest))
      )
      return lines.join("\n")
    })

  it.effect("warns at the start, with the model, the provider and the part that still pays", () =>
    Effect.map(startWith(["upto", "exact"]), (log) => {
      assert.include(log, '"WARN"')
      assert.include(log, "an answer of demo/x that has more than 20% of the tokens that it may have costs more at p")
    })
  )

  it.effect("does not warn where only what was used is charged", () =>
    Effect.map(startWith(["upto"]), (log) => assert.strictEqual(log, ""))
  )
})

describe("a mistaken id", () => {
  it("gets the nearest ids first", () => {
    const known = [
      "demo/echo",
      "openai/gpt-5",
      "openai/gpt-5-mini",
      "anthropic/claude-opus",
      "demo/free",
      "demo/nostream"
    ]
    assert.strictEqual(suggestModels("openai/gpt5", known)[0], "openai/gpt-5")
    assert.strictEqual(suggestModels("claude-opus", known)[0], "anthropic/claude-opus")
    assert.isAtMost(suggestModels("x".repeat(1_000_000), known).length, 5)
  })
})
