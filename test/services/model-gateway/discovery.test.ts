import { assert, describe, it } from "@effect/vitest"
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar"
import { Result } from "effect"
import { decodeConfiguration } from "#contracts"
import { discoveryOf, llmsText } from "../../../services/model-gateway/discovery.ts"
import { testNetwork } from "../../support/payments.ts"

const model = (Id: string, parts: object) => ({ Id, Upstreams: [{ Provider: "p", Model: "m" }], ...parts })
const { Payments, ModelGateway } = Result.getOrThrow(
  decodeConfiguration({
    Payments: { Networks: [testNetwork] },
    ModelGateway: {
      Providers: [{ Name: "p", Kind: "openai", BaseUrl: "https://example.com/v1" }],
      Models: [
        model("demo/chat", { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }),
        model("demo/free", { Free: true }),
        model("demo/picture", { Kind: "image", FlatMicroUsd: 20_000 }),
        model("demo/embedding", { Kind: "embedding", InputMicroUsdPerMillionTokens: 1_000_000 })
      ]
    }
  })
)
const models = ModelGateway.Models.map((entry) => ({ entry, family: "demo", routes: [] }))
const sold = { payments: Payments, models, origin: "https://models.example.com" }

describe("the discovery document", () => {
  const { items, resources } = discoveryOf(sold)

  it("has each paid route with the models that it sells, and no free one", () => {
    assert.deepStrictEqual(
      items.map((item) => [item.resource, item.models]),
      [
        ["https://models.example.com/v1/chat/completions", ["demo/chat"]],
        ["https://models.example.com/v1/messages", ["demo/chat"]],
        ["https://models.example.com/v1/responses", ["demo/chat"]],
        ["https://models.example.com/v1/images/generations", ["demo/picture"]],
        ["https://models.example.com/v1/embeddings", ["demo/embedding"]]
      ]
    )
    assert.deepStrictEqual(
      resources,
      items.map(({ resource }) => resource)
    )
  })

  it("declares every route as the bazaar's own validators ask", () => {
    for (const { extensions } of items) {
      const bazaar = extensions.bazaar as unknown as Parameters<typeof validateDiscoveryExtension>[0]
      assert.deepStrictEqual(validateDiscoveryExtension(bazaar), { valid: true })
      assert.isTrue(validateDiscoveryExtensionSpec(bazaar as never).valid)
    }
  })

  it("offers the configured network to the configured payee", () => {
    for (const { accepts } of items) {
      assert.deepStrictEqual(
        accepts.map(({ scheme, network, payTo }) => ({ scheme, network, payTo })),
        [{ scheme: "exact", network: testNetwork.Network, payTo: testNetwork.PayTo }]
      )
    }
  })
})

describe("llms.txt", () => {
  it("names the models, the networks and the documents", () => {
    const text = llmsText(sold)
    for (const part of ["demo/chat", testNetwork.Network, "https://models.example.com/.well-known/x402"]) {
      assert.include(text, part)
    }
  })
})
