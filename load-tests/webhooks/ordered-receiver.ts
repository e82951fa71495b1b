/**
 * The receiving end of ordered endpoints, in a process of its own: `/<endpoint>`. It fails some deliveries once or twice,
 * a few always, and all of them while it is told to be down; and it counts each first attempt that comes before the
 * delivery ahead of it, of the same key, has ended. It takes the fleet's word for what was given up: `X-Service-Gap`.
 */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface OrderedTally {
  readonly taken: number
  /** Events that arrived at all. */
  readonly different: number
  readonly inversions: number
  readonly gaps: number
  readonly redriven: number
  readonly examples: ReadonlyArray<string>
}

interface Key {
  last: number
  /** Arrived, and neither answered with success nor said to be given up. */
  readonly open: Set<number>
}

const newEndpoint = () => ({
  keys: new Map<string, Key>(),
  seen: new Set<number>(),
  taken: 0,
  inversions: 0,
  gaps: 0,
  redriven: 0,
  examples: new Array<string>()
})
const endpoints = new Map<string, ReturnType<typeof newEndpoint>>()
const attempts = new Map<string, number>()
let isDown = false

const statusOf = (delivery: string) => {
  const nth = (attempts.get(delivery) ?? 0) + 1
  attempts.set(delivery, nth)
  if (isDown) return 503
  // Of a thousand deliveries three always fail, and some thirty once or twice.
  const chance = createHash("sha256").update(delivery).digest().readUInt32BE() % 1_000
  if (chance < 3) return 500
  return chance < 33 && nth <= 1 + (chance % 2) ? 500 : 204
}

const arrive = (path: string, externalId: string, header: (name: string) => string | undefined) => {
  const endpoint = endpoints.get(path) ?? newEndpoint()
  endpoints.set(path, endpoint)
  const [name = ""] = externalId.split("-")
  const sequence = Number(header("x-service-sequence"))
  const gap = header("x-service-gap")
  endpoint.taken += 1
  if (header("x-service-redrive-of") !== undefined) {
    endpoint.redriven += 1
    return 204
  }
  const key = endpoint.keys.get(name) ?? { last: 0, open: new Set() }
  endpoint.keys.set(name, key)
  if (gap !== undefined) {
    endpoint.gaps += 1
    for (const open of key.open) if (open <= Number(gap)) key.open.delete(open)
  }
  if (!endpoint.seen.has(sequence)) {
    const ahead = [...key.open].filter((open) => open < sequence)
    if (sequence < key.last || ahead.length > 0) {
      endpoint.inversions += 1
      endpoint.examples.push(`${name}: ${sequence} after ${key.last}, open ${ahead.join(" ")}, gap ${gap}`)
    }
    key.last = Math.max(key.last, sequence)
    key.open.add(sequence)
    endpoint.seen.add(sequence)
  }
  const status = statusOf(header("x-service-delivery") ?? "")
  if (status === 204) key.open.delete(sequence)
  return status
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const id = /"externalId":"([^"]*)"/u.exec(Buffer.concat(chunks).toString("utf8"))?.[1] ?? ""
    const header = (name: string) => request.headers[name] as string | undefined
    response.writeHead(arrive(request.url ?? "/", id, header)).end()
  })
})
server.keepAliveTimeout = 60_000

process.on("message", (message: string) => {
  if (message === "down" || message === "up") isDown = message === "down"
  const { seen, taken, inversions, gaps, redriven, examples } = endpoints.get(message) ?? newEndpoint()
  const tally: OrderedTally = {
    taken,
    different: seen.size,
    inversions,
    gaps,
    redriven,
    examples: examples.slice(0, 5)
  }
  process.send?.(tally)
})
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))
