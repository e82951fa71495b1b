import { assert, describe, it } from "@effect/vitest"
import {
  bazaarResourceServerExtension,
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec
} from "@x402/extensions/bazaar"
import { Result } from "effect"
import type { BazaarPlace } from "#gateway/contract"
import { decodeConfiguration } from "#configuration"
import { modelResource, offerOf, paymentRequired } from "#payments"
import { bazaarTexts, discoveryOf, llmsText } from "../../../services/model-gateway/discovery.ts"
import { testNetwork } from "../../support/payments.ts"

type Json = Readonly<Record<string, unknown>>

interface Quoted {
  readonly extensions?: Json
}

interface Bazaar {
  readonly info: { readonly input: { readonly body: Json }; readonly output: { readonly example: Json } }
  readonly schema: {
    readonly properties: {
      readonly input: { readonly properties: { readonly body: Json } }
      readonly output: { readonly properties: { readonly example: Json } }
    }
  }
}

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

  it("has counts of tokens, at their own price, where a model has one for them", () => {
    const counted = models.map(({ entry, ...rest }) => ({
      ...rest,
      entry: entry.Id === "demo/chat" ? { ...entry, CountMicroUsd: 5_000 } : entry
    }))
    const found = discoveryOf({ ...sold, models: counted })
    const count = found.items.find(({ resource }) => resource.endsWith("/v1/messages/count_tokens"))
    assert.deepStrictEqual(count?.models, ["demo/chat"])
    // With the fee of any call.
    assert.deepStrictEqual(
      count?.accepts.map(({ amount }) => amount),
      ["6000"]
    )
    assert.lengthOf(found.items, items.length + 1)
    assert.deepInclude(found.models.find(({ id }) => id === "demo/chat")?.pricing, { count: 0.005 })
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

describe("the bazaar extension of a quote", () => {
  const { items } = discoveryOf(sold)
  const offers = ["exact", "upto"] as const
  const network = { ...testNetwork, FacilitatorAddresses: ["0x1111111111111111111111111111111111111111"] }
  const quoteAt = (path: string, place: BazaarPlace, base = "") => {
    const resource = modelResource({
      origin: "https://models.some-longer-name.example.com",
      path: `${base}${path}`,
      model: `provider-with-a-name/${"m".repeat(60)}`,
      tokens: { input: 10_000_000, output: 10_000_000 }
    })
    const [first, second] = offers.map((scheme) => offerOf(network, 99_999_999n, { maxTimeoutSeconds: 600, scheme }))
    if (first === undefined || second === undefined) return assert.fail("nothing is offered")
    const { body, headers } = paymentRequired(
      { resource, offers: [first, second] },
      "chat",
      bazaarTexts(place)(resource.url)
    )
    const named = (name: string) => Buffer.from(headers[name] ?? "", "base64").toString("utf8")
    const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
    return {
      body: JSON.parse(body) as Quoted,
      header: JSON.parse(named("payment-required")) as Quoted & Json,
      older: JSON.parse(named("x-payment-required")) as Quoted,
      headers,
      bytes
    }
  }
  const paths = items.map(({ resource }) => new URL(resource).pathname)

  it.each(paths)("of %s is what the protocol's own server makes of the same shapes and examples", (path) => {
    const bazaar = quoteAt(path, "body").body.extensions?.["bazaar"]
    const { info, schema } = (bazaar ?? assert.fail("nothing is said of it")) as Bazaar
    const declared = declareDiscoveryExtension({
      bodyType: "json",
      input: info.input.body,
      inputSchema: schema.properties.input.properties.body,
      output: { example: info.output.example, schema: schema.properties.output.properties.example }
    } as never)
    const enriched = bazaarResourceServerExtension.enrichDeclaration?.(
      declared["bazaar"] as never,
      {
        method: "POST",
        adapter: { getPath: () => path }
      } as never
    )
    assert.deepStrictEqual({ info, schema } as unknown, enriched)
    assert.isNotEmpty(Object.keys(info.input.body))
    assert.isNotEmpty(Object.keys(info.output.example))
    assert.deepStrictEqual(
      { info, schema } as unknown,
      items.find(({ resource }) => resource.endsWith(path))?.extensions.bazaar
    )
  })

  it.each(paths)("of %s leaves the headers as they are, or stands short in one of them", (path) => {
    const [none, body, header] = (["none", "body", "header"] as const).map((place) => quoteAt(path, place))
    assert.isUndefined(none?.body.extensions)
    assert.deepStrictEqual(body?.headers, none?.headers)
    const { bazaar, ...others } = header?.header.extensions ?? {}
    assert.deepStrictEqual(others, none?.header.extensions)
    assert.deepStrictEqual(header?.older, none?.older)
    assert.deepStrictEqual(header?.body, body?.body)
    assert.deepStrictEqual(Object.keys(body?.body.extensions ?? {}), [...Object.keys(others), "bazaar"])
    // Most proxies let through 8 kB of headers.
    assert.isBelow(Number(header?.bytes), 6_000)
    assert.deepStrictEqual(validateDiscoveryExtension(bazaar as never), { valid: true })
    assert.isTrue(validateDiscoveryExtensionSpec(bazaar as never).valid)
  })

  it.each(paths)("of %s lists the route at a facilitator that gets it with a payment", (path) => {
    const { header } = quoteAt(path, "header", "/api")
    const { resource, extensions, accepts } = header
    const [accepted] = accepts as ReadonlyArray<never>
    const payment = { x402Version: 2, resource, extensions, accepted, payload: {} } as never
    const found = extractDiscoveryInfo(payment, accepted as never)
    assert.strictEqual(found?.resourceUrl, `https://models.some-longer-name.example.com/api${path}`)
    assert.strictEqual(found?.discoveryInfo.input.type, "http")
    assert.isDefined(found?.discoveryInfo.output?.example)
  })

  it("says nothing of what is not sold by a call", () => {
    assert.deepStrictEqual(bazaarTexts("header")("https://models.example.com/v1/channels"), { body: "", header: "" })
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
