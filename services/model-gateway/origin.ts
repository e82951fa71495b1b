/**
 * The address at which callers reach this gateway: the configured one, otherwise the one it actually listens on, with
 * its port. Quotes and image jobs name it; a caller's Host header is never used.
 */
import { Effect } from "effect"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"

/** The origin without a trailing slash. Each call requests it, because the port is known only once it listens. */
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

/** A listener on all addresses is reachable at least at the machine's own. */
export const reachable = (url: string): string =>
  url.replace(/^(http:\/\/)(?:0\.0\.0\.0|\[::\]|::)(?=:\d+$)/u, "$1127.0.0.1")
