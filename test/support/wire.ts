/** A wire between a client and a server, which forwards every byte and keeps a copy. */
import { createServer, request as requestOf } from "node:http"
import type { AddressInfo } from "node:net"

export interface Exchange {
  readonly method: string
  readonly path: string
  /** As it was sent, with a payment or without. */
  readonly payment: string | undefined
  status: number
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

export interface Wire {
  readonly url: string
  /** The target of forwarded bytes. */
  target: string
  readonly exchanges: Array<Exchange>
  readonly end: () => Promise<void>
}

export const startWire = async (): Promise<Wire> => {
  const exchanges: Array<Exchange> = []
  const server = createServer((incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming
    const given = headers["payment-signature"] ?? headers["x-payment"]
    const exchange: Exchange = { method, path, payment: given?.toString(), status: 0, headers: {} }
    exchanges.push(exchange)
    const onward = requestOf(`${wire.target}${path}`, { method, headers }, (answer) => {
      exchange.status = answer.statusCode ?? 0
      exchange.headers = answer.headers
      outgoing.writeHead(exchange.status, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    onward.once("error", () => outgoing.destroy())
    outgoing.once("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const wire: Wire = {
    // Clients allow plain HTTP to this name alone.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    target: "",
    exchanges,
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return wire
}
