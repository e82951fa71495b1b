/** `ModelGateway`: where models are served, which providers answer, at what prices, and within what limits. */
import { Schema } from "effect"
import { ExtraParameter } from "./requests.ts"
import {
  AllowedOrigins,
  Cidr,
  EnvironmentName,
  WebUrl,
  optional,
  required,
  section,
  shownAs,
  span,
  whole,
  withDefault
} from "#base"

const seconds = (maximum: number) => span(0.05, maximum)
const Name = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u))

/** A provider that serves models. */
export const ProviderEntry = Schema.Struct({
  Name: required(Name, "By which models name it."),
  Kind: withDefault(Schema.Literals(["openai", "anthropic"]), "openai", "Which API it speaks."),
  BaseUrl: shownAs("origins")(required(WebUrl, "Up to the version: `https://api.example.com/v1`.")),
  KeyEnvVar: optional(EnvironmentName, "The variable that holds its key; without one no key is sent."),
  ConnectionsMax: withDefault(whole(1, 10_000), 512, "Connections of one process; further calls wait for one."),
  Parameters: optional(
    Schema.Literals(["common", "openai", "extended"]),
    "Which parameters an `openai` provider is given: those that every server of the API knows, also those of OpenAI's own (`user`, `prompt_cache_key`, a schema for the answer), or also `top_k`, `min_p`, `cache_control` and others that most servers know and OpenAI refuses. Without it, by the host: `openai` for OpenAI, Azure and Groq, `common` for DeepSeek, else `extended`."
  ),
  Thoughts: optional(
    Schema.Literals(["none", "reasoning_content", "reasoning_details", "required"]),
    "In which key an `openai` provider wants the thoughts of earlier turns back. `required`: in `reasoning_content`, and a call without its thought is refused; where a caller sends none back, the provider is told not to think. Without it, by the host: `none` for OpenAI, Azure and Groq, `required` for DeepSeek, `reasoning_details` for OpenRouter, else `reasoning_content`."
  )
})
export interface ProviderEntry extends Schema.Schema.Type<typeof ProviderEntry> {}

const microUsdMax = 1_000_000_000_000
const MicroUsd = whole(0, microUsdMax)

const ModelUpstream = Schema.Struct({
  Provider: required(Name, "One of the Providers, by its Name."),
  Model: required(Schema.String.check(Schema.isBetweenLength(1, 256)), "What the provider calls it."),
  MaxTokensParameter: withDefault(
    Schema.Literals(["max_tokens", "max_completion_tokens"]),
    "max_tokens",
    "What the provider calls the limit of an answer."
  ),
  CostInputMicroUsdPerMillionTokens: optional(
    MicroUsd,
    "What the provider takes for what is asked, in millionths of a US dollar; shown in metrics and receipts."
  ),
  CostCachedMicroUsdPerMillionTokens: optional(
    MicroUsd,
    "The same for what it had in its cache; without it, as for any other input."
  ),
  CostOutputMicroUsdPerMillionTokens: optional(MicroUsd, "What it takes for what it answers."),
  CostFlatMicroUsd: optional(MicroUsd, "What it takes for each call or image, beside tokens.")
})
export interface ModelUpstream extends Schema.Schema.Type<typeof ModelUpstream> {}

export const modelKinds = ["chat", "image", "embedding"] as const

/** A model as callers see it. Prices are in millionths of a US dollar. */
export const ModelEntry = Schema.Struct({
  Id: required(
    Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/u)),
    "What callers name it by."
  ),
  Name: optional(Schema.NonEmptyString, "What people call it; without it, its Id."),
  Description: withDefault(Schema.String, "", "What lists of models say of it."),
  Kind: withDefault(
    Schema.Literals(modelKinds),
    "chat",
    "Whether it answers in words, makes images, or turns texts into vectors."
  ),
  Upstreams: required(
    Schema.Array(ModelUpstream).check(Schema.isBetweenLength(1, 8)),
    "Where it is had, in the order in which they are tried."
  ),
  ContextTokens: withDefault(
    whole(1, 100_000_000),
    128_000,
    "Tokens of question and answer together, or of each input of an embedding, as lists of models say; a prompt that does not fit is refused before it is quoted."
  ),
  OutputTokensMax: withDefault(whole(1, 10_000_000), 8_192, "Tokens of an answer at most; a quote counts with them."),
  InputMicroUsdPerMillionTokens: withDefault(MicroUsd, 0, "Price of what is asked, in millionths of a US dollar."),
  OutputMicroUsdPerMillionTokens: withDefault(MicroUsd, 0, "Price of what is answered, in millionths of a US dollar."),
  FlatMicroUsd: optional(MicroUsd, "Price of each call or image, instead of tokens."),
  CountMicroUsd: optional(
    MicroUsd,
    "Price of each count of a conversation's tokens (`POST /v1/messages/count_tokens`). Without it counts are free, as Anthropic's own are, and limited by address."
  ),
  ExtraParameters: withDefault(
    Schema.Array(ExtraParameter).check(Schema.isMaxLength(64)),
    [],
    "What costs extra upstream and is sold at its prices all the same: a parameter such as `service_tier` or `web_search_options`, or a tool that the provider runs, such as `tools.web_search`. None by default, for a quote knows nothing of what they cost; others are refused."
  ),
  Free: withDefault(Schema.Boolean, false, "Whether it is served without payment, within FreeTier."),
  Streams: withDefault(Schema.Boolean, true, "Whether it may be asked for a stream."),
  Categories: withDefault(Schema.Array(Schema.NonEmptyString), [], "Under what lists of models show it."),
  Created: withDefault(whole(0, 4_102_444_800), 0, "When it came up, in epoch seconds, as lists of models say.")
})
export interface ModelEntry extends Schema.Schema.Type<typeof ModelEntry> {}

/** A model whose provider charges more for longer answers than the quote's estimate does. */
export interface SoldBelowCost {
  readonly model: string
  readonly provider: string
  /** Networks whose quotes offer `exact`, and so the estimate. */
  readonly networks: ReadonlyArray<string>
  /** The share of the longest answer that costs as much as is charged for output; beyond it each call is a loss. */
  readonly breakEvenShare: number
}

interface Sold {
  readonly Payments: {
    readonly OutputShare: number
    readonly Networks: ReadonlyArray<{ readonly Network: string; readonly Schemes: ReadonlyArray<string> }>
  }
  readonly ModelGateway: {
    readonly Models: ReadonlyArray<
      Pick<ModelEntry, "Id" | "Free" | "FlatMicroUsd" | "OutputMicroUsdPerMillionTokens"> & {
        readonly Upstreams: ReadonlyArray<Pick<ModelUpstream, "Provider" | "CostOutputMicroUsdPerMillionTokens">>
      }
    >
  }
}

/**
 * `exact` charges `OutputShare` of the longest answer, however long the answer is. Only providers with a configured
 * cost are judged, and only by their output: fees and input are not assumed to compensate. Pure.
 */
export const soldBelowCost = ({ Payments, ModelGateway }: Sold): ReadonlyArray<SoldBelowCost> => {
  const networks = Payments.Networks.filter(({ Schemes }) => Schemes.includes("exact")).map(({ Network }) => Network)
  if (networks.length === 0) return []
  const sold = ModelGateway.Models.filter(({ Free, FlatMicroUsd }) => !Free && FlatMicroUsd === undefined)
  return sold.flatMap(({ Id: model, OutputMicroUsdPerMillionTokens: price, Upstreams }) =>
    Upstreams.flatMap(({ Provider: provider, CostOutputMicroUsdPerMillionTokens: cost = 0 }) => {
      const charged = price * Payments.OutputShare
      return cost <= charged ? [] : [{ model, provider, networks, breakEvenShare: charged / cost }]
    })
  )
}

export const soldBelowCostText = ({ model, provider, networks, breakEvenShare }: SoldBelowCost): string =>
  `an answer of ${model} that has more than ${Math.round(breakEvenShare * 1_000) / 10}% of the tokens that it may have ` +
  `costs more at ${provider} than exact charges for its output (on ${networks.join(", ")})`

// A window remembers each of its calls, at most 300 of them.
const perWindow = whole(1, 300)

/** Where a quote describes its route. */
export const bazaarPlaces = ["body", "header", "none"] as const
export type BazaarPlace = (typeof bazaarPlaces)[number]

export const ModelGateway = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where the gateway listens."),
  Port: withDefault(whole(0, 65_535), 7_402, "0: any free one."),
  Origin: optional(
    WebUrl,
    "How callers reach it: quotes and image jobs name their URLs by it, never by what a caller sends as Host. Without it, where the gateway really listens: its `Host` and port, 127.0.0.1 where that is every address."
  ),
  AllowedOrigins: withDefault(
    AllowedOrigins,
    ["*"],
    "Whose pages may call from a browser, `*` for any: nothing that a browser adds by itself is believed here."
  ),
  Bazaar: withDefault(
    Schema.Literals(bazaarPlaces),
    "body",
    "Where a quote describes its route by x402's extension `bazaar`, with shapes and examples: `body` of the 402, where agents read it. `header` has it short in `PAYMENT-REQUIRED` too, from which clients repeat it with their payments, and facilitators list what is sold: the headers of a quote then have up to 6 kB, more than a proxy lets through whose limit is 4 kB. `none` leaves it to `/.well-known/x402`."
  ),
  Providers: withDefault(Schema.Array(ProviderEntry).check(Schema.isMaxLength(64)), [], "Whom models are asked of."),
  Models: withDefault(Schema.Array(ModelEntry).check(Schema.isMaxLength(1_000)), [], "What is sold, or given away."),
  /** Requests to free models per address, across all replicas. */
  FreeTier: section({
    PerMinute: withDefault(
      perWindow,
      30,
      "Requests to free models, for each address, over all replicas. Each replica counts by itself and settles its counts four times a second: an address that comes to several at once has too many at most what each lets through in a quarter of a second, and from each no more than this."
    ),
    PerHour: withDefault(perWindow, 300, "The same by the hour.")
  }),
  MetadataPerHour: withDefault(perWindow, 100, "`GET /v1/models`, for each address; counted as free calls are."),
  TokenCountsPerMinute: withDefault(
    perWindow,
    120,
    "`POST /v1/messages/count_tokens`, for each address; counted as free calls are. Agents count before each of their turns."
  ),
  TrustedProxies: withDefault(Schema.Array(Cidr), [], "Networks of proxies whose X-Forwarded-For is believed."),
  ImageAllowCidrs: withDefault(
    Schema.Array(Cidr),
    [],
    "Networks that pictures and documents may be fetched from although they are not public."
  ),
  BodyBytesMax: optional(
    whole(1_024, 104_857_600),
    "Of a request without images; a larger one is refused before it is read. Without it, what fills the largest `ContextTokens` sold: four bytes a token and a tenth for the JSON around them, at least 1 MiB and at most 10 MiB."
  ),
  ImageBodyBytesMax: withDefault(
    whole(1_024, 104_857_600),
    10_485_760,
    "Of a request with images; never less than of one without."
  ),
  BodiesBytesMax: withDefault(
    whole(1_048_576, 1_099_511_627_776),
    100_663_296,
    "Of all requests that one process reads or answers at once, beside those of at most 16 KiB; a caller whose body has no room is told to come back before it is read. A process takes about six times as much memory for them. Never less than one body may have."
  ),
  RunningMax: withDefault(
    whole(1, 100_000),
    2_000,
    "Calls being answered at once in one process; further callers are told to come back."
  ),
  FirstByteSeconds: withDefault(seconds(600), 120, "How long a provider may take to begin its answer."),
  StallSeconds: withDefault(seconds(600), 120, "Between two chunks of a stream."),
  StreamSeconds: withDefault(seconds(3_600), 500, "A stream in all; a payment has to be valid for longer."),
  KeepAliveSeconds: withDefault(seconds(60), 10, "A stream that is silent for so long is sent a comment."),
  UptimeWriteSeconds: withDefault(
    seconds(600),
    60,
    "How often a process writes how the calls of its models ended. A killed one takes what it has not written along."
  ),
  ImageInlineSeconds: withDefault(seconds(120), 30, "An image that takes longer is fetched by its job.")
})
export interface ModelGateway extends Schema.Schema.Type<typeof ModelGateway> {}

const bodyBytesLeast = 1_048_576
// Like a body with images by default: a body is parsed in one piece, which delays all other calls of its process.
const bodyBytesMost = 10_485_760

type BodySettings = Pick<ModelGateway, "ImageBodyBytesMax" | "BodiesBytesMax"> & {
  readonly BodyBytesMax?: number | undefined
  readonly Models: ReadonlyArray<Pick<ModelEntry, "ContextTokens">>
}

/** Byte limits of bodies: one of text, one with images, and all of a process together. */
export interface BodySizes {
  readonly text: number
  readonly withImages: number
  readonly together: number
}

/** Pure. */
export const bodySizesOf = ({ BodyBytesMax, ImageBodyBytesMax, BodiesBytesMax, Models }: BodySettings): BodySizes => {
  const tokens = Models.reduce((most, { ContextTokens }) => Math.max(most, ContextTokens), 0)
  const filled = Math.ceil((tokens * 44) / 10)
  const text = BodyBytesMax ?? Math.min(bodyBytesMost, Math.max(bodyBytesLeast, filled))
  const withImages = Math.max(text, ImageBodyBytesMax)
  return { text, withImages, together: Math.max(withImages, BodiesBytesMax) }
}
