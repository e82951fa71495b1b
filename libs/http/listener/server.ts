/**
 * Node's HTTP server with all of its limits set. It answers the requests of a connection one after the other, and
 * refuses in the API's envelope even if it could not parse the request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Effect, Result } from "effect"
import { faultOfHead } from "#runtime"
import { requestIdOf } from "../HttpCall.ts"
import {
  badRequest,
  type ErrorHeaders,
  headersTooLarge,
  type RenderError,
  renderStandardError,
  requestTimeout,
  type WireError
} from "../WireError.ts"

/** The bounds of a listener. Each applies before a handler sees the request. */
export interface ListenerLimits {
  readonly connectionsMax: number
  /** All headers of a request together. */
  readonly headerBytesMax: number
  readonly headersTimeoutMs: number
  /** For the entire request, body included. */
  readonly requestTimeoutMs: number
  /** How long a connection can wait for its next request. */
  readonly idleMs: number
  /** How long a reader can take none of the bytes that are queued for it. */
  readonly stallMs: number
  /** Requests sent ahead on a connection; they are answered in order. */
  readonly pipelinedMax: number
  /** How long a drain waits for running requests. It is below Drain's own limit, so that this server makes the cut. */
  readonly drainMs: number
}

export const listenerLimits: ListenerLimits = {
  connectionsMax: 4_096,
  headerBytesMax: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  // Longer than the usual minute of load balancers, so that they close first.
  idleMs: 75_000,
  stallMs: 60_000,
  pipelinedMax: 16,
  drainMs: 25_000
}

type CutReason = "too many" | "not accepted" | "too slow" | "malformed" | "stalled" | "pipelined"

interface LimitedServerOptions {
  readonly limits: ListenerLimits
  readonly renderError: RenderError
  readonly errorHeaders: ErrorHeaders
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Turns requests into WebSockets; without it they are answered like others. */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined
  readonly onActive: (count: number) => void
  readonly onCut: (reason: CutReason) => void
}

export interface LimitedServer {
  readonly node: Server
  readonly isOpen: () => boolean
  readonly running: () => number
  /** How many answers have ended in full. */
  readonly answered: () => number
  readonly stopAccepting: () => void
  /** Completes when no request is running. */
  readonly quiet: Effect.Effect<void>
  /** Completes after `stopAccepting` and `quiet`, once every caller has read its answer to the end and hung up. */
  readonly takenLeave: Effect.Effect<void>
  /** Cuts the remaining connections. */
  readonly close: Effect.Effect<void>
}

export const limitedServer = (options: LimitedServerOptions): LimitedServer => {
  const { limits } = options
  const node = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(limits.headersTimeoutMs / 4)),
    noDelay: true,
    // The server refuses it itself, in the envelope.
    requireHostHeader: false,
    // Some clients offer HTTP/2 by an upgrade with each request; those are answered as usual.
    shouldUpgradeCallback: (request) => options.upgrade !== undefined && asksForWebSocket(request)
  })
  node.maxConnections = limits.connectionsMax
  const turns = takingTurns(node, options)
  const sockets = keepingSockets(node, turns)
  const upgraded = handingOver(node, turns, options)
  refuseAndCut(node, turns, options)
  return {
    node,
    isOpen: () => node.listening,
    running: turns.running,
    answered: turns.answered,
    stopAccepting: () => {
      turns.stop()
      // Node's own close would cut idle connections that still have bytes to send.
      NetServer.prototype.close.call(node)
      for (const socket of sockets.open) if (turns.of(socket) === undefined && !upgraded.has(socket)) socket.end()
    },
    quiet: turns.quiet,
    takenLeave: sockets.takenLeave,
    close: Effect.callback<void>((resume) => {
      node.close(() => resume(Effect.void))
      node.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
    })
  }
}

interface ConnectionTurn {
  readonly response: ServerResponse
  readonly waiting: Array<() => void>
}

interface Turns {
  /** The answer in progress on a connection. */
  readonly of: (socket: Duplex) => ServerResponse | undefined
  readonly running: () => number
  readonly answered: () => number
  readonly quiet: Effect.Effect<void>
  /** From now on each connection closes after its last answer. */
  readonly stop: () => void
}

/** Answers the requests of each connection one after the other. */
const takingTurns = (node: Server, options: LimitedServerOptions): Turns => {
  const { limits, handle, onActive, onCut } = options
  const turns = new WeakMap<Duplex, ConnectionTurn>()
  // Anything may follow a faulty head: none of it is started.
  const refused = new WeakSet<Duplex>()
  const whenQuiet = new Set<() => void>()
  let running = 0
  let answered = 0
  let stopped = false

  const begin = (socket: Socket, request: IncomingMessage, response: ServerResponse, waiting: Array<() => void>) => {
    turns.set(socket, { response, waiting })
    onActive((running += 1))
    response.once("close", () => {
      onActive((running -= 1))
      if (response.writableFinished) answered += 1
      if (running === 0) for (const resume of whenQuiet) resume()
      const next = waiting.shift()
      if (next !== undefined && !socket.destroyed && !refused.has(socket)) return next()
      turns.delete(socket)
      if (stopped) socket.end()
    })
    const fault = faultOfHead(request)
    if (fault === undefined) return handle(request, response)
    refused.add(socket)
    onCut("malformed")
    const { status, headers, body } = refusalOf(badRequest(fault), options)
    response.writeHead(status, headers)
    return response.end(body)
  }

  node.on("request", (request, response) => {
    const { socket } = request
    if (refused.has(socket)) return undefined
    // A pipelined answer before its turn has no socket: nothing would report that its caller left, and nothing would
    // apply backpressure. So it does not start before its turn.
    const turn = turns.get(socket)
    if (turn === undefined) return begin(socket, request, response, [])
    if (turn.waiting.length >= limits.pipelinedMax) {
      onCut("pipelined")
      return socket.destroy()
    }
    return turn.waiting.push(() => begin(socket, request, response, turn.waiting))
  })

  return {
    of: (socket) => turns.get(socket)?.response,
    running: () => running,
    answered: () => answered,
    quiet: when(() => running === 0, whenQuiet),
    stop: () => (stopped = true)
  }
}

/** Every open connection; each stays until its caller has read everything. */
const keepingSockets = (node: Server, turns: Turns) => {
  const open = new Set<Socket>()
  const whenAlone = new Set<() => void>()
  node.on("connection", (socket) => {
    open.add(socket)
    socket.once("close", () => {
      open.delete(socket)
      if (open.size === 0) for (const resume of whenAlone) resume()
    })
    const { destroySoon } = socket
    // Bytes that the kernel has yet to send are lost when a container's network goes with its process. So a connection
    // stays until its caller hangs up, having read everything, or falls silent; one that still sends is cut.
    socket.destroySoon = () => (turns.of(socket)?.req.complete === true ? void socket.end() : destroySoon.call(socket))
  })
  return { open, takenLeave: when(() => open.size === 0, whenAlone) }
}

const asksForWebSocket = ({ method, headers }: IncomingMessage) =>
  method === "GET" && headers.upgrade?.toLowerCase() === "websocket"

/** The connections that became WebSockets, until they close. */
const handingOver = (node: Server, turns: Turns, options: LimitedServerOptions): ReadonlySet<Duplex> => {
  const { onCut, upgrade } = options
  const upgraded = new Set<Duplex>()
  node.on("upgrade", (request, socket, head) => {
    // An answer is still in progress on it: what follows it could not be told from the socket's frames.
    if (upgrade === undefined || turns.of(socket) !== undefined) {
      onCut("pipelined")
      return socket.destroy()
    }
    const fault = faultOfHead(request)
    if (fault !== undefined) {
      onCut("malformed")
      return socket.end(textOf(refusalOf(badRequest(fault), options)), () => socket.destroy())
    }
    upgraded.add(socket)
    socket.once("close", () => upgraded.delete(socket))
    return upgrade(request, socket, head)
  })
  return upgraded
}

/** Refuses or cuts connections that are refused, malformed or too slow, or whose reader stalls. */
const refuseAndCut = (node: Server, turns: Turns, options: LimitedServerOptions) => {
  const { limits, onCut } = options
  node.on("drop", () => onCut("too many"))
  // Running out of file handles, for example; without a listener the error would end the process.
  node.on("error", () => onCut("not accepted"))
  node.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
    onCut(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "too slow" : "malformed")
    if (turns.of(socket)?.headersSent === true) return socket.destroy()
    return socket.end(textOf(refusalOf(refusedBy(error.code, limits), options)), () => socket.destroy())
  })
  // Node reports silent sockets: one with bytes to send has a reader that takes none, and one without a request is
  // idle. A handler that takes longer is neither.
  node.timeout = limits.stallMs
  node.on("timeout", (socket: Socket) => {
    const stalled = socket.writableLength > 0
    if (stalled) onCut("stalled")
    if (stalled || turns.of(socket) === undefined) socket.destroy()
  })
}

/** Completes once `is` holds; `waiting` holds the fibers to resume then. */
const when = (is: () => boolean, waiting: Set<() => void>) =>
  Effect.callback<void>((resume) => {
    if (is()) return resume(Effect.void)
    const done = () => resume(Effect.void)
    waiting.add(done)
    return Effect.sync(() => waiting.delete(done))
  })

interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string
}

/** The answer to a request that reaches no handler. */
const refusalOf = (
  error: WireError,
  { renderError, errorHeaders }: Pick<LimitedServerOptions, "renderError" | "errorHeaders">
): Refusal => {
  const requestId = requestIdOf(undefined)
  // A defect of the envelope would end the process here.
  const rendered = Result.try(() => JSON.stringify(renderError(error, requestId)))
  const body = Result.getOrElse(rendered, () => JSON.stringify(renderStandardError(error, requestId)))
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...errorHeaders(error),
    connection: "close"
  }
  return { status: error.status, headers, body }
}

/** As bytes, for a connection whose request node could not parse or has handed over. */
const textOf = ({ status, headers, body }: Refusal): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines].join("\r\n")}\r\n\r\n${body}`
}

/** `code`: node's code for the fault. */
const refusedBy = (code: string | undefined, limits: ListenerLimits): WireError => {
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge(limits.headerBytesMax)
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimeout("the request did not arrive in time")
  return badRequest("this is not HTTP")
}
