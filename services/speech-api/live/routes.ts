/** The routes that speak while the text is being written, over a WebSocket; and the tokens that their clients send. */
import { Effect, Option } from "effect"
import { livePath, liveTokenPrefix } from "#contracts/speech-api"
import { authenticated, HttpCall, route } from "#http"
import { serveLive } from "./connection.ts"
import { ownDialect } from "./own.ts"

const mayStream = authenticated({ scopes: ["audio:stream"] })

export const liveRoutes = [route("GET", livePath, mayStream(serveLive(ownDialect)))] as const

/** A page cannot send headers with a WebSocket: its token is a subprotocol, which no log of a proxy holds. */
export const liveToken = Effect.map(HttpCall, (call) => {
  if (call.route !== livePath) return Option.none<string>()
  const offered = Option.getOrElse(call.header("sec-websocket-protocol"), () => "").split(",")
  const found = offered.map((name) => name.trim()).find((name) => name.startsWith(liveTokenPrefix))
  return Option.fromNullishOr(found?.slice(liveTokenPrefix.length))
})
