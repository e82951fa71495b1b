/**
 * The routes that speak while the text is being written, over a WebSocket, in our own messages and in those of vendors;
 * and the tokens that their clients send.
 */
import { Effect, Option } from "effect"
import { cartesiaPath, elevenLabsMultiPath, elevenLabsPath, livePath, liveTokenPrefix } from "#speech/api"
import { authenticated, HttpCall, route } from "#http"
import { cartesiaDialect } from "./cartesia.ts"
import { serveLive } from "./connection.ts"
import { elevenLabsDialect } from "./elevenlabs.ts"
import { ownDialect } from "./own.ts"

const mayStream = authenticated({ scopes: ["audio:stream"] })

export const liveRoutes = [
  route("GET", livePath, mayStream(serveLive(ownDialect))),
  route("GET", elevenLabsPath, mayStream(serveLive(elevenLabsDialect(false)))),
  route("GET", elevenLabsMultiPath, mayStream(serveLive(elevenLabsDialect(true)))),
  route("GET", cartesiaPath, mayStream(serveLive(cartesiaDialect)))
] as const

type Call = HttpCall["Service"]

/**
 * A page cannot send headers with a WebSocket: its token is a subprotocol, which proxies do not log. Clients of vendors
 * send it where they send their keys.
 */
const tokenIn: Readonly<Record<string, (call: Call) => string | undefined>> = {
  [livePath]: ({ header }) => {
    const offered = Option.getOrElse(header("sec-websocket-protocol"), () => "").split(",")
    const found = offered.map((name) => name.trim()).find((name) => name.startsWith(liveTokenPrefix))
    return found?.slice(liveTokenPrefix.length)
  },
  [elevenLabsPath]: ({ header }) => Option.getOrUndefined(header("xi-api-key")),
  [elevenLabsMultiPath]: ({ header }) => Option.getOrUndefined(header("xi-api-key")),
  [cartesiaPath]: ({ header, query }) => {
    const inQuery = query["api_key"] ?? query["access_token"]
    return Option.getOrUndefined(header("x-api-key")) ?? (typeof inQuery === "string" ? inQuery : undefined)
  }
}

export const liveToken = Effect.map(HttpCall, (call) => Option.fromNullishOr(tokenIn[call.route]?.(call)))
