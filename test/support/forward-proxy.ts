/** A forward proxy for tests, of Node's own: tunnels by CONNECT, and notes what it was asked for. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { listen } from "./receivers.ts"

export interface ForwardProxy {
  readonly port: number
  readonly url: string
  readonly asked: ReadonlyArray<{ readonly authority: string; readonly authorization: string | undefined }>
}

interface ProxyOptions {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** In place of a tunnel: what it writes. */
  readonly answer?: (authority: string, nth: number) => string | undefined
}

export const startForwardProxy = Effect.fnUntraced(function* ({ tls, answer }: ProxyOptions = {}) {
  const asked: Array<ForwardProxy["asked"][number]> = []
  const refused: RequestListener = (_request, response) => response.writeHead(405).end()
  const server = tls === undefined ? createServer(refused) : createTlsServer(tls, refused)
  const sockets = new Set<Socket>()
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const authority = request.url ?? ""
    asked.push({ authority, authorization: request.headers["proxy-authorization"] })
    sockets.add(socket)
    socket.on("error", () => {})
    const written = answer?.(authority, asked.length)
    if (written !== undefined) return socket.end(written)
    const { hostname, port } = new URL(`http://${authority}`)
    const to = connect(Number(port), hostname.replace(/^\[|\]$/gu, ""), () => {
      socket.write("HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n")
      to.pipe(socket).pipe(to)
    })
    sockets.add(to)
    to.on("error", () => socket.destroy())
    socket.on("close", () => to.destroy())
    return undefined
  })
  const { port } = yield* listen(server, "127.0.0.1")
  // Before the server closes, which waits for them.
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  const proxy: ForwardProxy = { port, url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`, asked }
  return proxy
})
