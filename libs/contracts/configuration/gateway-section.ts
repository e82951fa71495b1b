/** `ModelGateway`: where models are served, by which providers, at which prices, and within which limits. */
import { Schema } from "effect"
import { AllowedOrigins } from "./allowed-origins.ts"
import { section, withDefault } from "./defaults.ts"
import { Cidr, EnvironmentName, isWebUrl } from "./webhooks-section.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const seconds = (maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum: 0.05, maximum }))
const WebUrl = Schema.String.check(Schema.isMaxLength(2_048), Schema.makeFilter(isWebUrl))
const Name = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u))

/** Whom models are asked of. */
export const ProviderEntry = Schema.Struct({
  Name,
  Kind: withDefault(Schema.Literals(["openai", "anthropic"]), "openai"),
  /** Up to the version: `https://api.example.com/v1`. */
  BaseUrl: WebUrl,
  /** Names the variable that holds the key; without one no key is sent. */
  KeyEnvVar: Schema.optionalKey(EnvironmentName),
  /** Connections of one process; further calls wait for one. */
  ConnectionsMax: withDefault(whole(1, 10_000), 512)
})
export interface ProviderEntry extends Schema.Schema.Type<typeof ProviderEntry> {}

export const ModelUpstream = Schema.Struct({
  Provider: Name,
  /** What the provider calls it. */
  Model: Schema.String.check(Schema.isBetweenLength(1, 256)),
  MaxTokensParameter: withDefault(Schema.Literals(["max_tokens", "max_completion_tokens"]), "max_tokens")
})
export interface ModelUpstream extends Schema.Schema.Type<typeof ModelUpstream> {}

const microUsdMax = 1_000_000_000_000
const MicroUsd = whole(0, microUsdMax)

/** A model as callers see it. Prices are in millionths of a US dollar. */
export const ModelEntry = Schema.Struct({
  Id: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/u)),
  Name: Schema.optionalKey(Schema.NonEmptyString),
  Description: withDefault(Schema.String, ""),
  Kind: withDefault(Schema.Literals(["chat", "image"]), "chat"),
  /** In the order in which they are tried. */
  Upstreams: Schema.Array(ModelUpstream).check(Schema.isBetweenLength(1, 8)),
  ContextTokens: withDefault(whole(1, 100_000_000), 128_000),
  OutputTokensMax: withDefault(whole(1, 10_000_000), 8_192),
  InputMicroUsdPerMillionTokens: withDefault(MicroUsd, 0),
  OutputMicroUsdPerMillionTokens: withDefault(MicroUsd, 0),
  /** For each call or image, instead of tokens. */
  FlatMicroUsd: Schema.optionalKey(MicroUsd),
  Free: withDefault(Schema.Boolean, false),
  Streams: withDefault(Schema.Boolean, true),
  Categories: withDefault(Schema.Array(Schema.NonEmptyString), []),
  /** Epoch seconds. */
  Created: withDefault(whole(0, 4_102_444_800), 0)
})
export interface ModelEntry extends Schema.Schema.Type<typeof ModelEntry> {}

// A window remembers each of its calls, at most 300 of them.
const perWindow = whole(1, 300)

export const ModelGateway = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1"),
  Port: withDefault(whole(0, 65_535), 7_402),
  /** How callers reach it; quotes name their resource by it, never by what a caller sends as Host. */
  Origin: withDefault(WebUrl, "http://127.0.0.1:7402"),
  AllowedOrigins: withDefault(
    AllowedOrigins,
    ["*"],
    "Whose pages may call from a browser, `*` for any: nothing that a browser adds by itself is believed here."
  ),
  Providers: withDefault(Schema.Array(ProviderEntry).check(Schema.isMaxLength(64)), []),
  Models: withDefault(Schema.Array(ModelEntry).check(Schema.isMaxLength(1_000)), []),
  /** Requests to free models, for each address, over all replicas. */
  FreeTier: section({ PerMinute: withDefault(perWindow, 30), PerHour: withDefault(perWindow, 300) }),
  /** `GET /v1/models`, for each address. */
  MetadataPerHour: withDefault(perWindow, 100),
  /** Networks of proxies whose X-Forwarded-For is believed. */
  TrustedProxies: withDefault(Schema.Array(Cidr), []),
  /** Networks that images may be fetched from although they are not public. */
  ImageAllowCidrs: withDefault(Schema.Array(Cidr), []),
  BodyBytesMax: withDefault(whole(1_024, 104_857_600), 1_048_576),
  /** Of a body with images. */
  ImageBodyBytesMax: withDefault(whole(1_024, 104_857_600), 10_485_760),
  /** Calls being answered at once in one process; further callers are told to come back. */
  RunningMax: withDefault(whole(1, 100_000), 2_000),
  FirstByteSeconds: withDefault(seconds(600), 120),
  /** Between two chunks of a stream. */
  StallSeconds: withDefault(seconds(600), 120),
  StreamSeconds: withDefault(seconds(3_600), 500),
  /** A stream that is silent for so long is sent a comment. */
  KeepAliveSeconds: withDefault(seconds(60), 10),
  /** An image that takes longer is fetched by its job. */
  ImageInlineSeconds: withDefault(seconds(120), 30)
})
export interface ModelGateway extends Schema.Schema.Type<typeof ModelGateway> {}
