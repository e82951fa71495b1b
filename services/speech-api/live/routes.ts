/** The routes that speak while the text is being written, over a WebSocket, in our own messages and in those of vendors. */
import { cartesiaPath, elevenLabsMultiPath, elevenLabsPath, livePath } from "#speech/api"
import { authenticated, route } from "#http"
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
