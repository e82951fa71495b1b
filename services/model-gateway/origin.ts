/**
 * How callers reach this gateway: as it is configured, and otherwise where it really listens, whatever port that is.
 * Quotes and image jobs name it; never what a caller sends as Host.
 */
import { Effect } from "effect"
import { Addresses, Configuration } from "#runtime"

/** The origin without a slash at its end; asked for with each call, for the port is known once it listens. */
export const gatewayOrigin = Effect.gen(function* () {
  const { ModelGateway } = yield* Configuration
  const addresses = yield* Addresses
  const configured = ModelGateway.Origin?.replace(/\/+$/u, "")
  if (configured !== undefined) return Effect.succeed(configured)
  const { Host, Port } = ModelGateway
  return Effect.map(addresses.all, (all) => reachable(all.get("model-gateway") ?? `http://${Host}:${Port}`))
})

/** Who listens on all addresses is reached on this machine's own at the least. */
export const reachable = (url: string): string =>
  url.replace(/^(http:\/\/)(?:0\.0\.0\.0|\[::\]|::)(?=:\d+$)/u, "$1127.0.0.1")
