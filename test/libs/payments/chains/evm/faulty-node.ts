/** A node with given answers, which passes other calls on to a healthy one. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface FaultyNode {
  readonly url: string
  /** How each call is answered from now on, by its method and its whole body; undefined hands it on. */
  behave: (method: string, body: string) => FaultyAnswer | undefined
  readonly calls: Array<string>
  readonly end: () => Promise<void>
}

export interface FaultyAnswer {
  readonly status: number
  readonly body: string
}

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

export const startFaultyNode = async (healthyUrl: string): Promise<FaultyNode> => {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await read(request)
    const { method } = JSON.parse(body) as { readonly method: string }
    node.calls.push(method)
    const faulty = node.behave(method, body)
    if (faulty !== undefined)
      return response.writeHead(faulty.status, { "Content-Type": "application/json" }).end(faulty.body)
    const healthy = await fetch(healthyUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body
    })
    return response.writeHead(healthy.status).end(await healthy.text())
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const node: FaultyNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave: () => undefined,
    calls: [],
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return node
}

export const rejected = (code: number, message: string, data?: string): FaultyAnswer => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message, ...(data === undefined ? {} : { data }) } })
})

export const answered = (result: unknown): FaultyAnswer => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, result })
})
