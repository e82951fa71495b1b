/**
 * WebSockets of a listener: a route's handler accepts one, reads its messages at its own pace, and writes no faster
 * than they are taken. The library is ws, which comes with @effect/platform-node. A peer that answers no ping, or reads
 * nothing of what is queued for it, is cut.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { Effect, Schedule, Schema, type Scope } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Socket } from "effect/socket"
import { WireError } from "../WireError.ts"

export interface WebSocketLimits {
  /** Per message; a longer one closes the socket with 1009. */
  readonly messageBytesMax: number
  /** A peer that has not answered by the next ping is cut. */
  readonly pingEveryMs: number
  /** A peer that reads nothing of what is queued for it for this long is cut. */
  readonly stallMs: number
  /** The first of these subprotocols that the client offers is chosen. */
  readonly protocols: ReadonlyArray<string>
}

/** The socket was closed or cut; nothing more is sent or received. */
export class WebSocketClosed extends Schema.TaggedError<WebSocketClosed>()("WebSocketClosed", {
  /** The code with which it closed; 1006 without one. */
  code: Schema.Int
}) {}

export interface WebSocket {
  /** The next messages: text, or bytes if the peer sent a binary one. A reader that does not ask gets no more. */
  readonly take: Effect.Effect<ReadonlyArray<string | Uint8Array>, WebSocketClosed>
  /** Waits while the peer is slow to read. */
  readonly send: (text: string) => Effect.Effect<void, WebSocketClosed>
  /** The peer has half a minute to answer it. */
  readonly close: (code: number, reason: string) => Effect.Effect<void>
}

interface Accepted {
  readonly socket: NodeWS.WebSocket
  readonly stallMs: number
}

const accepted = new WeakMap<IncomingMessage, Accepted>()

// What a connection across an ocean needs in flight; messages cancelled behind it are never heard.
const bufferedBytesMax = 65_536

/** The server that does the handshakes and pings its sockets. */
export const webSocketServer = Effect.fnUntraced(function* (limits: WebSocketLimits) {
  const server = new NodeWS.WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: limits.messageBytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => limits.protocols.find((name) => offered.has(name)) ?? false
  })
  const handleUpgrade = server.handleUpgrade.bind(server)
  const answered = new WeakSet<NodeWS.WebSocket>()
  server.handleUpgrade = (request, socket, head, done) =>
    handleUpgrade(request, socket, head, (opened, same) => {
      accepted.set(request, { socket: opened, stallMs: limits.stallMs })
      answered.add(opened)
      opened.on("pong", () => answered.add(opened))
      // Faults in the peer's frames; ws closes with the matching code.
      opened.on("error", () => undefined)
      done(opened, same)
    })
  const ping = Effect.sync(() => {
    for (const socket of server.clients) {
      if (!answered.has(socket)) socket.terminate()
      answered.delete(socket)
      if (socket.readyState === socket.OPEN) socket.ping()
    }
  })
  yield* Effect.forkScoped(Effect.schedule(ping, Schedule.spaced(limits.pingEveryMs)))
  return server
})

/** Accepts the request's WebSocket, until the scope closes. Refused with 426 if the request does not ask for one. */
export const acceptWebSocket: Effect.Effect<WebSocket, WireError, HttpServerRequest.HttpServerRequest | Scope.Scope> =
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const opening = Effect.flatMap(request.upgrade, ({ reader }) => reader)
    const reader = yield* Effect.mapError(opening, () => upgradeRequired)
    const opened = accepted.get(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage)
    if (opened === undefined) return yield* upgradeRequired
    const { socket } = opened
    return {
      take: Effect.mapError(reader.pull, closedBy),
      send: (text) => sendOn(opened, text),
      close: (code, reason) => Effect.sync(() => socket.close(code, reason))
    }
  })

const upgradeRequired = new WireError({
  status: 426,
  code: "upgrade_required",
  message: "this is a WebSocket: ask for it with Connection: Upgrade and Upgrade: websocket",
  headers: { upgrade: "websocket", connection: "Upgrade" }
})

const closedBy = ({ reason }: Socket.SocketError) =>
  new WebSocketClosed({ code: reason._tag === "SocketCloseError" ? reason.code : codeOfFault(reason.cause) })

const codesOfFaults: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009
}

/** The code with which ws closes after a fault in the peer's frames. */
const codeOfFault = (cause: unknown): number => {
  const { error } = (cause ?? {}) as { readonly error?: { readonly code?: unknown } }
  const name = String(error?.code)
  return codesOfFaults[name] ?? (name.startsWith("WS_ERR_") ? 1002 : 1006)
}

const sendOn = ({ socket, stallMs }: Accepted, text: string) =>
  Effect.callback<void, WebSocketClosed>((resume) => {
    const closed = Effect.fail(new WebSocketClosed({ code: 1006 }))
    if (socket.readyState !== socket.OPEN) return resume(closed)
    let isWaiting = false
    socket.send(text, (error) => {
      if (isWaiting) resume(error == null ? Effect.void : closed)
    })
    if (socket.bufferedAmount <= bufferedBytesMax) return resume(Effect.void)
    isWaiting = true
    return undefined
  }).pipe(
    Effect.timeoutOrElse({
      duration: stallMs,
      orElse: () =>
        Effect.andThen(
          Effect.sync(() => socket.terminate()),
          Effect.fail(new WebSocketClosed({ code: 1006 }))
        )
    })
  )
