/** A gate before a chain's node: calls of some methods, or their answers, are held until it is opened again. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface GateNode {
  readonly url: string
  /** From now on. `call`: the call does not reach the node; `answer`: the node has acted, and its answer is held. */
  readonly hold: (method: RegExp, what: "call" | "answer") => void
  /** Releases everything. Calls that have left meanwhile are dropped. */
  readonly open: () => void
  readonly held: () => number
  /** Calls that the node is answering. */
  readonly passing: () => number
}

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

const ask = async (url: string, call: RequestInit) => {
  const response = await fetch(url, call)
  return { status: response.status, text: await response.text() }
}

const start = async (behind: string) => {
  let holding: { readonly method: RegExp; readonly what: "call" | "answer" } | undefined
  let waiting: Array<() => void> = []
  let passing = 0
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve))
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await read(request)
    const { method } = JSON.parse(body) as { readonly method: string }
    const held = holding?.method.test(method) === true ? holding.what : undefined
    if (held === "call") await wait()
    if (response.destroyed) return
    const headers = { "content-type": "application/json" }
    passing += 1
    const { status, text } = await ask(behind, { method: "POST", headers, body }).finally(() => (passing -= 1))
    if (held === "answer") await wait()
    response.writeHead(status, headers).end(text)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const gate: GateNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (method, what) => {
      holding = { method, what }
    },
    open: () => {
      holding = undefined
      for (const go of waiting) go()
      waiting = []
    },
    held: () => waiting.length,
    passing: () => passing
  }
  const close = () =>
    new Promise<void>((resolve) => {
      gate.open()
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { gate, close }
}

/** Ends with its scope. */
export const gateNode = (behind: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(behind)),
      ({ close }) => Effect.promise(close)
    ),
    ({ gate }) => gate
  )
