/**
 * A webhook receiver to try things with: accepts every POST, checks the signature when it has the secret, and prints
 * one line per event. It stores nothing.
 */
import { timingSafeEqual, createHmac } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** Secret and status are read for each event: they may change meanwhile. */
export interface ReceiverOptions {
  readonly port: number
  readonly secret: string | undefined
  /** Its answer to each event (204). */
  readonly status?: number
  readonly show: (line: string) => void
}

// Room for the largest envelope, and some to spare.
const bodyBytesMax = 512 * 1_024

export const startReceiver = (options: ReceiverOptions) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: Effect.Effect<void> }, Error>((resume) => {
      const server = createServer((request, response) => {
        readBody(request, (body) => {
          options.show(describe(request, body, options.secret))
          response.writeHead(body === undefined ? 413 : (options.status ?? 204)).end()
        })
      })
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(options.port, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, close }))
      })
    }),
    (receiver) => receiver.close
  )

const readBody = (request: IncomingMessage, done: (body: Buffer | undefined) => void) => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  })
  request.on("end", () => done(bytes <= bodyBytesMax ? Buffer.concat(chunks) : undefined))
}

const describe = (request: IncomingMessage, body: Buffer | undefined, secret: string | undefined) => {
  const header = (name: string) => String(request.headers[name] ?? "-")
  const signature = signatureState(header("x-service-signature"), body, secret)
  return `received ${header("x-service-event")} delivery=${header("x-service-delivery")} bytes=${body?.length ?? "too many"} signature=${signature}`
}

const signatureState = (given: string, body: Buffer | undefined, secret: string | undefined) => {
  if (secret === undefined || body === undefined) return "not checked"
  const wanted = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`)
  const got = Buffer.from(given)
  return got.length === wanted.length && timingSafeEqual(got, wanted) ? "good" : "WRONG"
}
