/** A call to a provider as an HTTP request. Pure. */
import { Redacted } from "effect"
import type { ModelRoute, Provider } from "../requests/Catalogue.ts"
import type { JsonObject } from "../translate/json.ts"

export type UpstreamPath = "chat" | "images"

const anthropicVersion = "2023-06-01"
const utf8 = new TextEncoder()

const pathOf = (provider: Provider, path: UpstreamPath) => {
  if (path === "images") return "/images/generations"
  return provider.kind === "anthropic" ? "/messages" : "/chat/completions"
}

const keyHeaders = ({ kind, key }: Provider): Readonly<Record<string, string>> => {
  if (key === undefined) return {}
  return kind === "anthropic"
    ? { "x-api-key": Redacted.value(key) }
    : { authorization: `Bearer ${Redacted.value(key)}` }
}

/** `more`: headers of the caller's that the provider should see. */
export const providerRequest = (
  { provider, model }: ModelRoute,
  path: UpstreamPath,
  body: JsonObject,
  more: Readonly<Record<string, string>>
) => ({
  method: "POST" as const,
  url: `${provider.baseUrl}${pathOf(provider, path)}`,
  headers: {
    "content-type": "application/json",
    accept: body["stream"] === true ? "text/event-stream" : "application/json",
    "user-agent": "starling",
    ...(provider.kind === "anthropic" ? { "anthropic-version": anthropicVersion, ...more } : {}),
    ...keyHeaders(provider)
  },
  body: utf8.encode(JSON.stringify({ ...body, model })),
  connectionsMax: provider.connectionsMax
})
