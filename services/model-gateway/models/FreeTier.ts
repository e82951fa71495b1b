/**
 * How much an address can request without paying: calls to free models, lists of models, and token counts. The count
 * covers all replicas, and is synchronized between them in the background. While it is unavailable, no free call is
 * answered.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net"
import { Context, Effect, Layer, Option } from "effect"
import { addressGroup, type HttpCall, type RateRefused, settledLimit, takeOrRefuse, type WireError } from "#http"
import { Configuration } from "#configuration"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"

type Caller = Pick<HttpCall["Service"], "remoteAddress" | "header">

const minuteMs = 60_000
const hourMs = 3_600_000

export class FreeTier extends Context.Service<
  FreeTier,
  {
    /** A call to a free model of this family. */
    readonly takeCall: (call: Caller, family: string) => Effect.Effect<void, GatewayFault>
    /** A list of models. */
    readonly takeMetadata: (call: Caller) => Effect.Effect<void, WireError>
    /** A count of tokens. */
    readonly takeCount: (call: Caller) => Effect.Effect<void, WireError>
  }
>()("starling/model-gateway/FreeTier") {
  static readonly layer = Layer.effect(
    FreeTier,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const { PerMinute, PerHour } = ModelGateway.FreeTier
      const calls = yield* settledLimit([
        { name: "free-minute", limit: PerMinute, windowMs: minuteMs },
        { name: "free-hour", limit: PerHour, windowMs: hourMs }
      ])
      const lists = yield* settledLimit([
        { name: "models-hour", limit: ModelGateway.MetadataPerHour, windowMs: hourMs }
      ])
      const counts = yield* settledLimit([
        { name: "token-counts-minute", limit: ModelGateway.TokenCountsPerMinute, windowMs: minuteMs }
      ])
      const addressOf = clientAddress(ModelGateway.TrustedProxies)
      const keyOf = ({ remoteAddress, header }: Caller) =>
        addressOf(remoteAddress, Option.getOrUndefined(header("x-forwarded-for")))
      return FreeTier.of({
        takeCall: (call, family) =>
          Effect.mapError(takeOrRefuse(calls, keyOf(call), headersOf), (error) =>
            refusal(error, family, ModelGateway.FreeTier)
          ),
        takeMetadata: (call) => takeOrRefuse(lists, keyOf(call), headersOf),
        takeCount: (call) => takeOrRefuse(counts, keyOf(call), headersOf)
      })
    })
  )
}

const headersOf = ({ limit, resetAtMs }: RateRefused) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": String(resetAtMs)
})

const refusal = (
  { status, details, headers }: WireError,
  family: string,
  limits: { readonly PerMinute: number; readonly PerHour: number }
): GatewayFault => {
  if (status !== 429) return fault("MODEL_UNAVAILABLE", { retryAfterSeconds: 1 })
  const seconds = Number(details?.["retry_after_seconds"] ?? 1)
  const limit = details?.["source"] === "free-hour" ? `${limits.PerHour} an hour` : `${limits.PerMinute} a minute`
  return fault("FREE_TIER_RATE_LIMITED", {
    message: `Free models answer ${limit} for each address; try again in ${seconds} s`,
    source: family,
    retryAfterSeconds: seconds,
    headers
  })
}

const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/iu
const hopsMax = 64

const unmapped = (address: string) => mapped.exec(address)?.[1] ?? address

/** Some proxies add a port: `[::1]:443`, `10.0.0.1:80`. */
const bare = (hop: string) => {
  const text = hop.trim().replace(/^"|"$/gu, "")
  const bracketed = /^\[([0-9a-f:.]{2,45})\](?::\d{1,5})?$/iu.exec(text)?.[1]
  const ported = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/u.exec(text)?.[1]
  return unmapped(bracketed ?? ported ?? text)
}

/**
 * The address by which a caller's calls are counted; an IPv6 address counts by its /64, which is one household. Behind
 * our own proxies it is the right-most address of X-Forwarded-For that is not one of theirs, because anyone can have
 * written what is further left. Pure.
 */
export const clientAddress = (trustedProxies: ReadonlyArray<string>) => {
  const trusted = new BlockList()
  for (const cidr of trustedProxies) {
    const [network = "", bits = ""] = cidr.split("/")
    if (isIP(network) !== 0) trusted.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4")
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6")

  return (peer: string, forwardedFor: string | undefined): string => {
    const hops = (forwardedFor ?? "").split(",").slice(-hopsMax).map(bare)
    let address = unmapped(peer)
    while (isTrusted(address)) {
      const next = hops.pop()
      // An entry that is not an address was not written by one of our proxies.
      if (next === undefined || isIP(next) === 0) break
      address = next
    }
    return addressGroup(address)
  }
}
