/**
 * Stands between a server and its chain and its provider, as a process of its own, and takes the time of what passes:
 * for the chain by method and by the authorization that a call is about, for the provider by the call's last word.
 * Bytes are handed on as they come, each connection to one of its own, and read only when the report is asked for: what
 * the proxy does itself would count as the server's. Ordered by messages: `begin` forgets everything, `report` tells it.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Passed {
  /** The authorization's nonce, the provider's word; empty for what cannot be told. */
  readonly key: string
  readonly what: string
  readonly ms: number
}

type KeyOf = (request: string, answer: string) => Pick<Passed, "key" | "what">

/** One question and its answer. A connection has one at a time. */
interface Exchange {
  readonly request: Array<Buffer>
  readonly answer: Array<Buffer>
  readonly keyOf: KeyOf
  /** When the first bytes of the question came, and the last of the answer had been handed on. */
  readonly from: number
  until: number
}

const [chainUrl = "", upstreamUrl = ""] = process.argv.slice(2)
let exchanges: Array<Exchange> = []
/** Which authorization a sent transaction settles. */
const nonceOf = new Map<string, string>()
// Selectors of transferWithAuthorization, in both spellings; the nonce is the sixth word behind them.
const authorization = /(?:e3ee160e|cf092995)[0-9a-f]{320}([0-9a-f]{64})/u

const ofChain: KeyOf = (request, answer) => {
  const what = /"method":"(\w+)"/u.exec(request)?.[1] ?? "batch"
  const named = authorization.exec(request)?.[1]
  const hash = /"(?:result|transactionHash)":"(0x[0-9a-f]{64})"/u.exec(answer)?.[1]
  if (named !== undefined && what.startsWith("eth_send") && hash !== undefined) nonceOf.set(hash, named)
  const asked = /"params":\["(0x[0-9a-f]{64})"\]/u.exec(request)?.[1]
  return { what, key: named ?? nonceOf.get(asked ?? "") ?? "" }
}

const ofProvider: KeyOf = (request) => ({ what: "provider", key: /call-(\w+)"/u.exec(request)?.[1] ?? "" })

const relay = (client: Socket, port: number, host: string, keyOf: KeyOf) => {
  const server = connect({ port, host, noDelay: true })
  let now: Exchange | undefined
  client.on("data", (bytes: Buffer) => {
    const from = performance.now()
    server.write(bytes)
    // Behind an answer comes the next question.
    if (now === undefined || now.answer.length > 0) {
      now = { request: [], answer: [], keyOf, from, until: from }
      exchanges.push(now)
    }
    now.request.push(bytes)
  })
  server.on("data", (bytes: Buffer) => {
    client.write(bytes)
    if (now === undefined) return
    now.answer.push(bytes)
    now.until = performance.now()
  })
  for (const [one, other] of [
    [client, server],
    [server, client]
  ] as const) {
    one.on("end", () => other.end())
    one.on("error", () => other.destroy())
    one.on("close", () => other.destroy())
  }
}

const listen = (url: string, keyOf: KeyOf) =>
  new Promise<string>((resolve) => {
    const { hostname, port } = new URL(url)
    const proxy = createServer({ noDelay: true }, (client) => relay(client, Number(port), hostname, keyOf))
    proxy.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`))
  })

const textOf = (parts: ReadonlyArray<Buffer>) => Buffer.concat(parts).toString("utf8")

const passed = (): ReadonlyArray<Passed> =>
  exchanges.map(({ request, answer, keyOf, from, until }) => ({
    ...keyOf(textOf(request), textOf(answer)),
    ms: until - from
  }))

process.on("message", (order) => {
  if (order === "report") return process.send?.(passed())
  const count = exchanges.length
  exchanges = []
  nonceOf.clear()
  return process.send?.(count)
})
process.send?.({ chain: await listen(chainUrl, ofChain), provider: await listen(upstreamUrl, ofProvider) })
