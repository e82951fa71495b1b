/**
 * Node's HTTP server with all of its limits set, which answers the requests of a connection one after the
 * other and says no in the API's envelope even where no request was understood.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { Server as NetServer, type Socket } from "node:net"
import { Effect } from "effect"
import type { ListenerLimits } from "./limits.ts"
import { refusalText } from "./refusal-text.ts"
import type { RenderError } from "./WireError.ts"

type CutReason = "too many" | "not accepted" | "too slow" | "malformed" | "stalled" | "pipelined"

export interface LimitedServerOptions {
  readonly limits: ListenerLimits
  readonly renderError: RenderError
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  readonly onActive: (count: number) => void
  readonly onCut: (reason: CutReason) => void
}

export interface LimitedServer {
  readonly node: Server
  readonly isOpen: () => boolean
  readonly running: () => number
  /** Answers that were ended in full, ever. */
  readonly answered: () => number
  readonly stopAccepting: () => void
  /** Nothing runs. */
  readonly quiet: Effect.Effect<void>
  /** After `stopAccepting` and `quiet`: every caller has taken its answer to the end, and hung up. */
  readonly takenLeave: Effect.Effect<void>
  /** Cuts what is left. */
  readonly close: Effect.Effect<void>
}

interface Turn {
  readonly response: ServerResponse
  readonly waiting: Array<() => void>
}

export const limitedServer = (options: LimitedServerOptions): LimitedServer => {
  const { limits, onCut } = options
  const turns = new WeakMap<Duplex, Turn>()
  const whenQuiet = new Set<() => void>()
  const sockets = new Set<Socket>()
  const whenAlone = new Set<() => void>()
  let running = 0
  let answered = 0
  let stopped = false

  const begin = (socket: Socket, request: IncomingMessage, response: ServerResponse, waiting: Array<() => void>) => {
    turns.set(socket, { response, waiting })
    options.onActive((running += 1))
    response.once("close", () => {
      options.onActive((running -= 1))
      if (response.writableFinished) answered += 1
      if (running === 0) for (const resume of whenQuiet) resume()
      const next = waiting.shift()
      if (next !== undefined && !socket.destroyed) return next()
      turns.delete(socket)
      if (stopped) socket.end()
    })
    options.handle(request, response)
  }

  const node = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(limits.headersTimeoutMs / 4)),
    noDelay: true
  })
  node.maxConnections = limits.connectionsMax
  node.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => {
      sockets.delete(socket)
      if (sockets.size === 0) for (const resume of whenAlone) resume()
    })
    const { destroySoon } = socket
    // What the kernel still has to send is lost when a container's network goes with its process. So a connection
    // stays until its caller hangs up, having read everything, or falls silent; one that still sends is cut.
    socket.destroySoon = () =>
      turns.get(socket)?.response.req.complete === true ? void socket.end() : destroySoon.call(socket)
  })
  node.on("request", (request, response) => {
    const { socket } = request
    // A pipelined answer that waits for its turn has no socket: nothing would tell it that its caller left,
    // and nothing would hold it back. So it is not begun before its turn.
    const turn = turns.get(socket)
    if (turn === undefined) return begin(socket, request, response, [])
    if (turn.waiting.length >= limits.pipelinedMax) {
      onCut("pipelined")
      return socket.destroy()
    }
    return turn.waiting.push(() => begin(socket, request, response, turn.waiting))
  })
  node.on("drop", () => onCut("too many"))
  // Out of file handles, say; without a listener it would end the process.
  node.on("error", () => onCut("not accepted"))
  node.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
    onCut(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "too slow" : "malformed")
    if (turns.get(socket)?.response.headersSent === true) return socket.destroy()
    return socket.end(refusalText(error.code, limits, options.renderError), () => socket.destroy())
  })
  // Node asks the sockets that were silent: one with bytes to send has a reader that takes none, and one
  // that has nothing to do is idle. A handler that thinks for longer is neither.
  node.timeout = limits.stallMs
  node.on("timeout", (socket: Socket) => {
    const stalled = socket.writableLength > 0
    if (stalled) onCut("stalled")
    if (stalled || !turns.has(socket)) socket.destroy()
  })

  return {
    node,
    isOpen: () => node.listening,
    running: () => running,
    answered: () => answered,
    stopAccepting: () => {
      stopped = true
      // Its own way of closing would cut idle connections, with what they still have to send.
      NetServer.prototype.close.call(node)
      for (const socket of sockets) if (!turns.has(socket)) socket.end()
    },
    takenLeave: when(() => sockets.size === 0, whenAlone),
    quiet: when(() => running === 0, whenQuiet),
    close: Effect.callback<void>((resume) => {
      node.close(() => resume(Effect.void))
      node.closeAllConnections()
    })
  }
}

/** Once `is` holds; who waits is told through `waiting`. */
const when = (is: () => boolean, waiting: Set<() => void>) =>
  Effect.callback<void>((resume) => {
    if (is()) return resume(Effect.void)
    const done = () => resume(Effect.void)
    waiting.add(done)
    return Effect.sync(() => waiting.delete(done))
  })
