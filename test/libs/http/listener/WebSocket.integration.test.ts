import { randomBytes } from "node:crypto"
import { WebSocket as Client } from "@effect/platform-node/NodeWS"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { acceptWebSocket, emptyAnswer, HttpListener, route, type WebSocket, type WebSocketClosed } from "#http"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, dial } from "../api.ts"

const limits = { messageBytesMax: 1_000, pingEveryMs: 60_000, stallMs: 60_000, protocols: ["second", "first"] }

/** A route that lets a test act on the socket. How it ended is told once: 1006 also where the request was interrupted. */
const socketRoute = (act: (socket: WebSocket) => Effect.Effect<unknown, WebSocketClosed>) => {
  const ended = Deferred.makeUnsafe<number>()
  const told = route(
    "GET",
    "/socket",
    Effect.gen(function* () {
      const socket = yield* acceptWebSocket
      const { code } = yield* Effect.onInterrupt(Effect.flip(Effect.andThen(act(socket), Effect.never)), () =>
        Deferred.succeed(ended, 1_006)
      )
      yield* Deferred.succeed(ended, code)
      return emptyAnswer()
    })
  )
  return { told, ended: Deferred.await(ended) }
}

const echo = (socket: WebSocket): Effect.Effect<never, WebSocketClosed> =>
  Effect.forever(Effect.flatMap(socket.take, (all) => Effect.forEach(all, (one) => socket.send(String(one)))))

const connected = (protocols: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    return yield* Effect.acquireRelease(
      Effect.callback<Client>((resume) => {
        const client = new Client(`${url.replace(/^http/u, "ws")}/socket`, [...protocols])
        client.once("open", () => resume(Effect.succeed(client)))
      }),
      (client) => Effect.sync(() => client.terminate())
    )
  })

/** Shakes hands, and then is as good as gone: it reads what comes and answers nothing. */
const halfOpen = Effect.gen(function* () {
  const socket = yield* dial
  const key = randomBytes(16).toString("base64")
  const head = "GET /socket HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
  socket.write(`${head}sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`)
  const closed = Effect.callback<void>((resume) => void socket.once("end", () => resume(Effect.void)))
  socket.on("data", () => undefined)
  return closed
})

describe("a WebSocket of a listener", () => {
  it.live("carries text both ways, under the first protocol of ours that the client offers", () => {
    const { told, ended } = socketRoute(echo)
    return Effect.gen(function* () {
      const client = yield* connected(["first", "second", "third"])
      assert.strictEqual(client.protocol, "second")
      const got: Array<string> = []
      client.on("message", (data: Buffer) => got.push(data.toString()))
      for (const text of ["one", "two", "three"]) client.send(text)
      yield* eventually(() => got.length, { is: 3 })
      assert.deepStrictEqual(got, ["one", "two", "three"])
      client.close(1_000)
      assert.strictEqual(yield* ended, 1_000)
    }).pipe(Effect.scoped, Effect.provide(api([told], { webSockets: limits })))
  })

  it.live("is cut when its peer answers no ping, and spared when it does", () => {
    const { told, ended } = socketRoute(echo)
    return Effect.gen(function* () {
      const well = yield* connected()
      let pings = 0
      well.on("ping", () => (pings += 1))
      const gone = yield* halfOpen
      yield* Effect.timeout(gone, "10 seconds")
      assert.strictEqual(yield* ended, 1_006)
      const before = pings
      yield* eventually(() => pings, { is: (seen) => seen > before + 1 })
      assert.strictEqual(well.readyState, Client.OPEN)
    }).pipe(Effect.scoped, Effect.provide(api([told], { webSockets: { ...limits, pingEveryMs: 100 } })))
  })

  it.live("is cut when its peer reads nothing for too long, and holds no more than a bounded store until then", () => {
    let sent = 0
    const piece = "x".repeat(10_000)
    const { told, ended } = socketRoute((socket) =>
      Effect.forever(Effect.tap(socket.send(piece), () => Effect.sync(() => (sent += 1))))
    )
    return Effect.gen(function* () {
      const client = yield* connected()
      client.pause()
      assert.strictEqual(yield* Effect.timeout(ended, "20 seconds"), 1_006)
      // What the kernel's buffers of both ends take, some MB, and 64 kB.
      assert.isAtMost(sent * piece.length, 16_000_000)
    }).pipe(Effect.scoped, Effect.provide(api([told], { webSockets: { ...limits, stallMs: 500 } })))
  })

  it.live("closes with 1009 for a message beyond its limit", () => {
    const long = socketRoute(echo)
    return Effect.gen(function* () {
      const client = yield* connected()
      client.send("x".repeat(1_001))
      assert.strictEqual(yield* long.ended, 1_009)
    }).pipe(Effect.scoped, Effect.provide(api([long.told], { webSockets: limits })))
  })

  it.live("is refused with 426 to who asks for no WebSocket", () => {
    const { told } = socketRoute(echo)
    return Effect.gen(function* () {
      const { url } = yield* HttpListener
      const answer = yield* Effect.promise(() => fetch(`${url}/socket`))
      assert.deepStrictEqual([answer.status, answer.headers.get("upgrade")], [426, "websocket"])
    }).pipe(Effect.scoped, Effect.provide(api([told], { webSockets: limits })))
  })
})
