/**
 * How agents discover what is sold here: `/.well-known/x402` with each paid route, its shapes, models and schemes, and
 * `/llms.txt`. Generated from the declared routes and the configuration that serve the calls.
 */
import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import type { BazaarPlace, ModelEntry } from "#gateway/contract"
import { type ChainFamily, chainFamilyOf, channelScheme, type Payments } from "#payments/contract"
import { CallsGroup, DiscoveryGroup } from "#gateway/api"
import { bytesAnswer, emptyAnswer, HttpCall, type JsonObject, route } from "#http"
import { Configuration } from "#configuration"
import type { BazaarText } from "#payments"
import { gatewayDocuments } from "./documents.ts"
import { listedModel } from "./models/answer-models.ts"
import { ModelRegistry, type RegisteredModel } from "./models/ModelRegistry.ts"
import { gatewayOrigin } from "./origin.ts"
import { countPricesOf, pricesOf, quoteCall } from "./payments/quote.ts"

/** One call as the declarations describe it. */
interface Operation {
  readonly tags: ReadonlyArray<string>
  readonly description: string
  readonly requestBody: {
    readonly content: { readonly "application/json": { readonly schema: JsonObject; readonly example: JsonObject } }
  }
  readonly responses: {
    readonly 200: {
      readonly content: { readonly "application/json": { readonly schema: JsonObject; readonly example: JsonObject } }
    }
    readonly 402?: object
  }
}
interface Described {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> }
}

interface Sold {
  readonly payments: Payments
  readonly models: ReadonlyArray<RegisteredModel>
  readonly origin: string
}

/** The document. Its amounts are those of the shortest call of the cheapest model: a call's price is in its 402. */
export const discoveryOf = (sold: Sold) => {
  const { paths, components } = gatewayDocuments.openApi() as unknown as Described
  const families = new Set(sold.payments.Networks.flatMap(({ Network }) => chainFamilyOf(Network) ?? []))
  const items = paidOperations(paths).flatMap((operation) =>
    [...families].flatMap((chain) => itemOf(sold, { ...operation, chain, schemas: components.schemas }))
  )
  return {
    version: 1,
    x402Version: 2,
    resources: items.map(({ resource }) => resource),
    items,
    models: sold.models.map(listedModel),
    documents: {
      openapi: `${sold.origin}/openapi.json`,
      reference: `${sold.origin}/docs`,
      models: `${sold.origin}/v1/models`
    }
  }
}

interface PaidRoute {
  readonly path: string
  readonly chain: ChainFamily
  readonly post: Operation
  readonly schemas: Described["components"]["schemas"]
}

const kindOfTag: Readonly<Record<string, ModelEntry["Kind"] | undefined>> = {
  calls: "chat",
  images: "image",
  embeddings: "embedding"
}

const { path: countPath } = CallsGroup.endpoints.countTokens

const itemOf = (sold: Sold, { path, chain, post, schemas }: PaidRoute) => {
  const kind = post.tags.map((tag) => kindOfTag[tag]).find((known) => known !== undefined)
  const pricesHere = path === countPath ? countPricesOf : pricesOf
  const paid = sold.models.flatMap((model) => {
    const prices = model.entry.Kind === kind && !model.entry.Free ? pricesHere(model) : undefined
    return prices === undefined ? [] : [{ entry: model.entry, prices }]
  })
  const base = chain === "solana" ? "/solana/api" : ""
  const quotes = paid.flatMap(({ entry, prices }) => {
    const facts = { chain, path: `${base}${path}`, model: entry.Id, prices, ...shortest }
    return quoteCall(facts, { payments: sold.payments, origin: sold.origin, isOffered: () => true }) ?? []
  })
  const cheapest = quotes.toSorted((a, b) => Number(a.offers[0].priceUsd) - Number(b.offers[0].priceUsd))[0]
  if (cheapest === undefined) return []
  return [
    {
      resource: `${sold.origin}${base}${path}`,
      type: "http",
      x402Version: 2,
      description: post.description,
      mimeType: "application/json",
      accepts: cheapest.offers.map(({ requirements }) => requirements),
      models: paid.map(({ entry }) => entry.Id),
      extensions: { bazaar: bazaarOf(post, schemas) }
    }
  ]
}

const shortest = { prompt: { textBytes: 1, images: 0 }, outputTokens: 1, count: 1 }

/** The extension `bazaar` of x402 for a call with a body of JSON. */
const bazaarOf = ({ requestBody, responses }: Operation, schemas: PaidRoute["schemas"], shorten = whole) => {
  const taken = requestBody.content["application/json"]
  const given = responses["200"].content["application/json"]
  const input = { type: "http", method: "POST", bodyType: "json", body: taken.example }
  return {
    info: { input, output: { type: "json", example: given.example } },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        input: {
          type: "object",
          properties: {
            type: { type: "string", const: "http" },
            method: { type: "string", enum: ["POST"] },
            bodyType: { type: "string", enum: ["json", "form-data", "text"] },
            body: shorten(resolved(taken.schema, schemas))
          },
          required: ["type", "method", "bodyType", "body"],
          additionalProperties: false
        },
        output: {
          type: "object",
          properties: { type: { type: "string" }, example: shorten(resolved(given.schema, schemas)) },
          required: ["type"]
        }
      },
      required: ["input"]
    }
  }
}

const whole = (schema: JsonObject) => schema

/** The required fields and their types. */
const required = (schema: JsonObject): JsonObject => {
  const properties = schema["properties"] as Readonly<Record<string, JsonObject>>
  const names = schema["required"] as ReadonlyArray<string>
  const types = names.map((name) => [name, { type: properties[name]?.["type"] }])
  return { type: "object", properties: Object.fromEntries(types), required: names }
}

/** The extension for a quote's route, by the URL of its resource; nothing for what is not sold by call. */
export const bazaarTexts = (place: BazaarPlace): ((url: string) => BazaarText) => {
  const { paths, components } = gatewayDocuments.openApi() as unknown as Described
  const nothing = { body: "", header: "" }
  const texts = paidOperations(paths).map(({ path, post }) => {
    const member = (shorten: typeof whole) => `"bazaar":${JSON.stringify(bazaarOf(post, components.schemas, shorten))}`
    return { path, text: { body: member(whole), header: place === "header" ? member(required) : "" } }
  })
  return (url) => (place === "none" ? nothing : (texts.find(({ path }) => url.endsWith(path))?.text ?? nothing))
}

const paidOperations = (paths: Described["paths"]) =>
  Object.entries(paths).flatMap(([path, { post }]) =>
    post === undefined || post.responses["402"] === undefined ? [] : [{ path, post }]
  )

/** A shape without references, because an extension's document must be self-contained. */
const resolved = (schema: JsonObject, schemas: PaidRoute["schemas"]): JsonObject => {
  const reference = schema["$ref"]
  return (typeof reference === "string" ? schemas[reference.slice(reference.lastIndexOf("/") + 1)] : schema) ?? schema
}

export const llmsText = ({ payments, models, origin }: Sold): string =>
  [
    "# Starling models",
    "",
    "> Model calls in the shapes of OpenAI and Anthropic, paid for by the call with x402. No account and no key.",
    "",
    `Sold: ${models.map(({ entry }) => entry.Id).join(", ")}.`,
    `Paid on: ${payments.Networks.map(({ Network, Schemes }) => `${Network} (${[...Schemes, ...channelsOn(payments, Network)].join(", ")})`).join("; ")}.`,
    "To pay: send the call without a payment; the answer is 402 with the price. Sign an entry of `accepts`, and send the",
    "same call again with the header `PAYMENT-SIGNATURE`. Clients of x402, version 2, do this by themselves.",
    "",
    "## Documents",
    "",
    `- [What is sold](${origin}/.well-known/x402): each paid route with shapes, models and ways to pay`,
    `- [Models](${origin}/v1/models): the models and their prices`,
    `- [OpenAPI](${origin}/openapi.json): every route for machines`,
    `- [Reference](${origin}/docs): every route for people`,
    ""
  ].join("\n")

const channelsOn = ({ Channels }: Payments, network: string) =>
  Channels.some(({ Network }) => Network === network) ? [channelScheme] : []

/** Generated again only when the gateway's address changes, because the configuration does not. */
const kept = (contentType: string, make: (sold: Sold) => string) => {
  const made = new WeakMap<Payments, { readonly origin: string; readonly bytes: Uint8Array; readonly etag: string }>()
  return Effect.gen(function* () {
    const { Payments: payments } = yield* Configuration
    const origin = (yield* gatewayOrigin)()
    const { all: models } = yield* ModelRegistry
    let one = made.get(payments)
    if (one?.origin !== origin) {
      const bytes = new TextEncoder().encode(make({ payments, models, origin }))
      one = { origin, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"` }
      made.set(payments, one)
    }
    const headers = { "cache-control": "public, max-age=300", etag: one.etag }
    const asked = Option.getOrElse((yield* HttpCall).header("if-none-match"), () => "")
    const { etag } = one
    if (asked.split(",").some((each) => each.trim() === etag)) return emptyAnswer({ status: 304, headers })
    return bytesAnswer(one.bytes, contentType, { headers })
  })
}

const { getDiscovery, getLlmsText } = DiscoveryGroup.endpoints

export const discoveryRoutes = [
  route(
    getDiscovery.method,
    getDiscovery.path,
    kept("application/json", (sold) => JSON.stringify(discoveryOf(sold)))
  ),
  route(getLlmsText.method, getLlmsText.path, kept("text/plain; charset=utf-8", llmsText))
] as const
