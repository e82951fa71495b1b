/**
 * The receiving end, in a process of its own. The path says how it behaves: `/ok`, `/hang`, `/drip`,
 * `/fail`, `/redirect`, `/busy` (429 with Retry-After), `/gone`, `/flaky` (each delivery fails once). What
 * arrives is noted by event id with the time of its first byte, and told to the parent when it asks.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** One arrival: [id, endpoint, delivery, arrived at (epoch ms with fraction), sequence]. */
export type Arrival = readonly [id: string, endpoint: string, delivery: string, atMs: number, sequence: number]

const now = () => performance.timeOrigin + performance.now()
let arrivals: Array<Arrival> = []
let taken = 0
const takenAt = new Map<string, number>()
const seen = new Set<string>()

const behaviours: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  ok: (_request, response) => void response.writeHead(204).end(),
  hang: () => {},
  drip: (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/plain" })
    const timer = setInterval(() => response.write("."), 500)
    response.on("close", () => clearInterval(timer))
  },
  fail: (_request, response) => void response.writeHead(500).end("no"),
  redirect: (_request, response) => void response.writeHead(302, { Location: "http://169.254.169.254/" }).end(),
  busy: (_request, response) => void response.writeHead(429, { "Retry-After": "2" }).end(),
  gone: (_request, response) => void response.writeHead(410).end(),
  flaky: (request, response) => {
    const delivery = String(request.headers["x-service-delivery"])
    response.writeHead(seen.has(delivery) ? 204 : 500).end()
    seen.add(delivery)
  }
}

// The id stands near the start of the body; looking for it costs less than parsing the whole.
const idOf = (body: string) => /"externalId":"([^"]*)"/u.exec(body)?.[1] ?? "?"

const server = createServer((request, response) => {
  const atMs = now()
  const [, behaviour = "ok", endpoint = "0"] = (request.url ?? "/ok").split("/")
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8")
    const delivery = String(request.headers["x-service-delivery"])
    const at = `${behaviour}/${endpoint}`
    takenAt.set(at, (takenAt.get(at) ?? 0) + 1)
    arrivals.push([idOf(body), at, delivery, atMs, Number(request.headers["x-service-sequence"])])
    taken += 1
    ;(behaviours[behaviour] ?? behaviours["ok"]!)(request, response)
  })
})
server.keepAliveTimeout = 60_000

process.on("message", (message: string) => {
  if (message === "count") process.send?.({ taken })
  if (message.startsWith("count at ")) process.send?.({ taken: takenAt.get(message.slice("count at ".length)) ?? 0 })
  if (message === "report") process.send?.({ arrivals })
  // Of a million arrivals the sums are enough.
  if (message === "tally") {
    const different = new Set(arrivals.map(([, endpoint, , , sequence]) => `${endpoint} ${sequence}`)).size
    process.send?.({ taken, different })
  }
  if (message === "reset") {
    arrivals = []
    taken = 0
    takenAt.clear()
    process.send?.({ reset: true })
  }
})
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))
