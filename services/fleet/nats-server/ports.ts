/** Which nats-server answers on a port of this machine's loopback address. */
import { connect } from "node:net"
import { Effect, Option, Schema } from "effect"

// The banner is about 500 bytes; what sends more before its first line end is no nats-server.
const bannerBytesMax = 64 * 1_024

const Banner = Schema.fromJsonString(Schema.Struct({ server_name: Schema.String }))
const decodeBanner = Schema.decodeUnknownOption(Banner)

/**
 * The name of the nats-server on a port, which it says unasked once its streams are recovered. Nothing when
 * none answers within a second. The name tells a server of ours from a neighbour that took the port first.
 */
export const serverNameOn = (port: number): Effect.Effect<Option.Option<string>> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    let heard = ""
    const end = (name: Option.Option<string>) => {
      socket.destroy()
      resume(Effect.succeed(name))
    }
    socket.setTimeout(1_000, () => end(Option.none()))
    socket.once("error", () => end(Option.none()))
    socket.once("close", () => end(Option.none()))
    socket.on("data", (data) => {
      heard += data.toString("latin1")
      if (heard.includes("\r\n") || heard.length > bannerBytesMax) end(nameIn(heard))
    })
    return Effect.sync(() => socket.destroy())
  })

const nameIn = (banner: string) =>
  banner.startsWith("INFO ")
    ? Option.map(decodeBanner(banner.slice(5, banner.indexOf("\r\n"))), (info) => info.server_name)
    : Option.none()
