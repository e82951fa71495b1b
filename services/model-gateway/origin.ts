/**
 * The address by which callers reach this gateway: the configured one, otherwise the one it really listens on, with its
 * port. Quotes and image jobs name it; a caller's Host header never counts.
 */
import { Effect } from "effect"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"

/** The origin without a slash at its end. Each call asks for it, for the port is known only once it listens. */
export const gatewayOrigin = Effect.gen(function* () {
  const { ModelGateway } = yield* Configuration
  const addresses = yield* Addresses
  const configured = ModelGateway.Origin?.replace(/(?<!\/)\/+$/u, "")
  const { Host, Port } = ModelGateway
  let listening: string | undefined
  return (): string => {
    const known = configured ?? listening
    if (known !== undefined) return known
    const url = addresses.of("model-gateway")
    if (url !== undefined) listening = reachable(url)
    return listening ?? reachable(`http://${Host}:${Port}`)
  }
})

/** A listener on all addresses is reachable at least under the machine's own. */
export const reachable = (url: string): string =>
  url.replace(/^(http:\/\/)(?:0\.0\.0\.0|\[::\]|::)(?=:\d+$)/u, "$1127.0.0.1")
