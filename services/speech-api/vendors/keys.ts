/** Where clients of other protocols and vendors put the token that is otherwise a bearer token. */
import { Effect, Option } from "effect"
import {
  CartesiaGroup,
  cartesiaPath,
  ElevenLabsGroup,
  elevenLabsMultiPath,
  elevenLabsPath,
  livePath,
  liveTokenPrefix
} from "#speech/api"
import { HttpCall } from "#http"

export const elevenLabsKey = "xi-api-key"
export const cartesiaKey = "x-api-key"

/** Routes of ours that answer in ElevenLabs' shape where its key is sent. */
const sharedWithElevenLabs: ReadonlyArray<string> = ["/v1/voices", "/v1/voices/:voice_id"]

const ofElevenLabs = new Set<string>([
  elevenLabsPath,
  elevenLabsMultiPath,
  ...sharedWithElevenLabs,
  ...Object.values(ElevenLabsGroup.endpoints).map(({ path }) => path)
])

const ofCartesia = new Set<string>(Object.values(CartesiaGroup.endpoints).map(({ path }) => path))

type Call = HttpCall["Service"]

/** A page cannot send headers with a WebSocket: its token is a subprotocol, which proxies do not log. */
const ofSubprotocol = ({ header }: Call) => {
  const offered = Option.getOrElse(header("sec-websocket-protocol"), () => "").split(",")
  const found = offered.map((name) => name.trim()).find((name) => name.startsWith(liveTokenPrefix))
  return Option.fromNullishOr(found?.slice(liveTokenPrefix.length))
}

const ofLiveCartesia = ({ header, query }: Call) => {
  const inQuery = query["api_key"] ?? query["access_token"]
  return Option.orElse(header(cartesiaKey), () =>
    typeof inQuery === "string" ? Option.some(inQuery) : Option.none<string>()
  )
}

export const otherToken = Effect.map(HttpCall, (call) => {
  if (call.route === livePath) return ofSubprotocol(call)
  if (call.route === cartesiaPath) return ofLiveCartesia(call)
  if (ofCartesia.has(call.route)) return call.header(cartesiaKey)
  return ofElevenLabs.has(call.route) ? call.header(elevenLabsKey) : Option.none<string>()
})

/** Whether the call has ElevenLabs' key, and wants an answer in its shape. */
export const isElevenLabsCall = Effect.map(HttpCall, ({ header }) => Option.isSome(header(elevenLabsKey)))
