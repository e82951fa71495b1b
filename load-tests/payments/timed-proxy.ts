/**
 * Stands between a server and its chain and its provider, as a process of its own, and takes the time of what passes:
 * for the chain by method and by the authorization that a call is about, for the provider by the call's last word.
 * Ordered by messages: `begin` forgets everything, `report` tells it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Pool } from "undici"

export interface Passed {
  /** The authorization's nonce, the provider's word; empty for what cannot be told. */
  readonly key: string
  readonly what: string
  readonly ms: number
}

const [chainUrl = "", upstreamUrl = ""] = process.argv.slice(2)
const passed: Array<Passed> = []
/** Which authorization a sent transaction settles. */
const nonceOf = new Map<string, string>()
// Selectors of transferWithAuthorization, in both spellings; the nonce is the sixth word behind them.
const authorization = /(?:e3ee160e|cf092995)[0-9a-f]{320}([0-9a-f]{64})/u

const read = async (message: AsyncIterable<unknown>) => {
  const parts: Array<Buffer> = []
  for await (const part of message) parts.push(part as Buffer)
  return Buffer.concat(parts).toString("utf8")
}

const pass = async (pool: Pool, request: IncomingMessage, response: ServerResponse, keyOf: KeyOf) => {
  const body = await read(request)
  const from = performance.now()
  const method = request.method === "GET" ? "GET" : "POST"
  const headers = { "content-type": "application/json" }
  const answer = await pool.request({ path: request.url ?? "/", method, headers, body: method === "GET" ? null : body })
  const text = await answer.body.text()
  passed.push({ ...keyOf(body, text), ms: performance.now() - from })
  response.writeHead(answer.statusCode, { "content-type": String(answer.headers["content-type"]) }).end(text)
}

type KeyOf = (body: string, answer: string) => Pick<Passed, "key" | "what">

const ofChain: KeyOf = (body, answer) => {
  const what = /"method":"(\w+)"/u.exec(body)?.[1] ?? "batch"
  const named = authorization.exec(body)?.[1]
  const hash = /"(?:result|transactionHash)":"(0x[0-9a-f]{64})"/u.exec(answer)?.[1]
  if (named !== undefined && what.startsWith("eth_send") && hash !== undefined) nonceOf.set(hash, named)
  const asked = /"params":\["(0x[0-9a-f]{64})"\]/u.exec(body)?.[1]
  return { what, key: named ?? nonceOf.get(asked ?? "") ?? "" }
}

const ofProvider: KeyOf = (body) => ({ what: "provider", key: /call-(\w+)"/u.exec(body)?.[1] ?? "" })

const listen = (origin: string, keyOf: KeyOf) =>
  new Promise<string>((resolve) => {
    const pool = new Pool(origin, { connections: 128 })
    const server = createServer(
      (request, response) => void pass(pool, request, response, keyOf).catch(() => response.destroy())
    )
    server.keepAliveTimeout = 60_000
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })

process.on("message", (order) => {
  if (order === "report") process.send?.(passed)
  else process.send?.(passed.splice(0).length)
})
process.send?.({ chain: await listen(chainUrl, ofChain), provider: await listen(upstreamUrl, ofProvider) })
