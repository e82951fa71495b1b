/**
 * The outside world as one container: a receiver of webhooks that remembers its requests, a provider of models, and two
 * chains. Ports that listen on loopback alone are forwarded to the container's own address.
 */
import { createHmac } from "node:crypto"
import { createServer as createHttpServer, type IncomingMessage } from "node:http"
import { connect, createServer } from "node:net"
import { Effect } from "effect"
import { localAccount } from "../../dev/chain/evm/accounts.ts"
import { startLocalEvmChain } from "../../dev/chain/evm/LocalEvmChain.ts"
import { startLocalSolanaChain } from "../../dev/chain/solana/LocalSolanaChain.ts"
import { startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import type { Arrival } from "./arrivals.ts"
import {
  hookSecret,
  payerNames,
  payerUnits,
  settlerCount,
  slowEvents,
  slowMs,
  worldPorts,
  worldSeed
} from "./world-places.ts"

const passOn = (port: number, url: string) => {
  const { hostname, port: to } = new URL(url)
  const server = createServer((from) => {
    const onward = connect(Number(to), hostname)
    for (const end of [from, onward]) end.on("error", () => end.destroy())
    from.pipe(onward)
    onward.pipe(from)
    from.once("close", () => onward.destroy())
    onward.once("close", () => from.destroy())
  })
  server.listen(port, "0.0.0.0")
}

const arrivals: Array<Arrival> = []

const bodyOf = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts)
}

const arrivalOf = (request: IncomingMessage, body: Buffer): Arrival => {
  const { event, workItem, details } = JSON.parse(body.toString("utf8")) as {
    readonly event: string
    readonly workItem?: { readonly id: string } | null
    readonly details?: { readonly sandboxId?: string } | null
  }
  const header = (name: string) => String(request.headers[name] ?? "")
  return {
    endpoint: request.url ?? "",
    event,
    about: workItem?.id ?? details?.sandboxId ?? "",
    sequence: Number(header("x-service-sequence")),
    delivery: header("x-service-delivery"),
    signature: header("x-service-signature"),
    isOurs: header("x-service-signature") === `sha256=${createHmac("sha256", hookSecret).update(body).digest("hex")}`,
    atMs: Date.now()
  }
}

/** GET returns the requests since the `from`th, POST is a webhook. */
const receive = createHttpServer((request, response) => {
  if (request.method === "GET") {
    const from = Number(new URL(request.url ?? "/", "http://world").searchParams.get("from"))
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(arrivals.slice(from)))
  }
  return void bodyOf(request).then(
    (body) => {
      arrivals.push(arrivalOf(request, body))
      setTimeout(() => response.writeHead(204).end(), request.url === slowEvents ? slowMs : 0)
    },
    () => response.destroy()
  )
})

const world = Effect.gen(function* () {
  const chain = yield* startLocalEvmChain({ seed: worldSeed, settlerCount })
  const upstream = yield* startLocalUpstream()
  for (const name of payerNames) yield* chain.fund(localAccount(worldSeed, name).address, payerUnits)
  const solana = yield* startLocalSolanaChain({ seed: worldSeed })
  passOn(worldPorts.evm, chain.rpcUrl)
  passOn(worldPorts.solana, solana.rpcUrl)
  passOn(worldPorts.models, upstream.url)
  receive.listen(worldPorts.hooks, "0.0.0.0")
  process.stdout.write("the world is there\n")
  return yield* Effect.never
})

const ending = new AbortController()
process.once("SIGTERM", () => ending.abort())
await Effect.runPromise(Effect.scoped(world), { signal: ending.signal }).catch(() =>
  process.exit(ending.signal.aborted ? 0 : 1)
)
