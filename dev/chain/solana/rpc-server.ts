/** JSON-RPC 2.0 over HTTP on loopback: single calls and batches, bounded bodies, and the outages of the switches. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { RpcMethod } from "./rpc-methods.ts"
import { RpcFault } from "./rpc-shapes.ts"
import type { Switches } from "./Switches.ts"

interface RpcServerOptions {
  /** 0 takes any free one. */
  readonly port: number
  readonly methods: Readonly<Record<string, RpcMethod>>
  readonly switches: Switches
  readonly onCall: (method: string) => void
}

const bodyBytesMax = 256 * 1_024
const batchMax = 100

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

export const serveRpc = (options: RpcServerOptions) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: Effect.Effect<void> }, Error>((resume) => {
      const server = createServer((request, response) => {
        readBody(request, (body) => respond(options, body, response))
      })
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(options.port, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => close
  )

const readBody = (request: IncomingMessage, done: (body: string) => void) => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  })
  request.on("end", () => done(bytes <= bodyBytesMax ? Buffer.concat(chunks).toString("utf8") : ""))
}

const respond = (options: RpcServerOptions, body: string, response: ServerResponse) => {
  const parsed = parse(body)
  const calls = Array.isArray(parsed) ? parsed.slice(0, batchMax) : [parsed]
  const outage = options.switches.outageOf(callOf(calls[0])?.method ?? "")
  if (outage === "silent") return
  if (outage === "closes") return void response.destroy()
  if (outage === "page") return void response.writeHead(503, { "Content-Type": "text/html" }).end("<h1>busy</h1>")
  const answers = calls.map((call) => answer(options, call, outage === "behind"))
  if (outage === "loses answers") return void response.destroy()
  const text = rpcText(Array.isArray(parsed) ? answers : answers[0])
  response.writeHead(200, { "Content-Type": "application/json" }).end(text)
}

// TypeScript does not know it yet.
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/**
 * An answer as JSON whose integers strict clients read as numbers of 64 bits: those that a float does not hold are
 * bigints here, and one that has lost its digits already is a defect. Amounts for people are floats.
 */
export const rpcText = (answer: unknown): string =>
  JSON.stringify(answer, (key, value: unknown) => {
    if (typeof value === "bigint") return rawJSON(String(value))
    if (typeof value !== "number" || key === "uiAmount" || Number.isSafeInteger(value)) return value
    throw new RangeError(`${key} is ${value}, which is no exact integer`)
  })

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const callOf = (value: unknown): Call | undefined => {
  if (typeof value !== "object" || value === null || !("method" in value)) return undefined
  const { id, method, params } = value as { id?: unknown; method: unknown; params?: unknown }
  return { id: id ?? null, method: String(method), params: Array.isArray(params) ? params : [] }
}

const answer = (options: RpcServerOptions, value: unknown, isBehind: boolean) => {
  const call = callOf(value)
  if (call === undefined) return fault(null, new RpcFault(-32_700, "Parse error"))
  options.onCall(call.method)
  if (isBehind) return fault(call.id, new RpcFault(-32_005, "Node is behind by 200 slots", { numSlotsBehind: 200 }))
  const method = options.methods[call.method]
  if (method === undefined) return fault(call.id, new RpcFault(-32_601, "Method not found"))
  try {
    return { jsonrpc: "2.0", id: call.id, result: method(...call.params) }
  } catch (error) {
    return fault(call.id, error instanceof RpcFault ? error : new RpcFault(-32_603, String(error)))
  }
}

const fault = (id: unknown, { code, message, data }: RpcFault) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) }
})
