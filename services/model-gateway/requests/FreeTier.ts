/**
 * How much an address may ask for without paying: calls to free models, and lists of models. Counted over all
 * replicas. When nobody can count, nothing is given away.
 */
import { Context, Effect, Layer, Option } from "effect"
import { type HttpCall, type Refusal, sharedWindow, takeFromShared, type WireError } from "#http"
import { Configuration } from "#runtime"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { clientAddress } from "./client-address.ts"

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
  }
>()("starling/model-gateway/FreeTier") {
  static readonly layer = Layer.effect(
    FreeTier,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const { PerMinute, PerHour } = ModelGateway.FreeTier
      const windows = [
        yield* sharedWindow({ name: "free-minute", limit: PerMinute, windowMs: minuteMs }),
        yield* sharedWindow({ name: "free-hour", limit: PerHour, windowMs: hourMs })
      ]
      const metadata = [
        yield* sharedWindow({ name: "models-hour", limit: ModelGateway.MetadataPerHour, windowMs: hourMs })
      ]
      const addressOf = clientAddress(ModelGateway.TrustedProxies)
      const keyOf = ({ remoteAddress, header }: Caller) =>
        addressOf(remoteAddress, Option.getOrUndefined(header("x-forwarded-for")))
      const takeCall = Effect.fn("FreeTier.takeCall")(function* (call: Caller, family: string) {
        const taken = takeFromShared(windows, keyOf(call), headersOf)
        yield* Effect.mapError(taken, (error) => refusal(error, family, ModelGateway.FreeTier))
      })
      return FreeTier.of({
        takeCall,
        takeMetadata: (call) => takeFromShared(metadata, keyOf(call), headersOf)
      })
    })
  )
}

const headersOf = ({ limit, resetAtMs }: Refusal) => ({
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
