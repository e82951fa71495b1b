/**
 * A receiver of webhooks, to copy and change: `node dev/examples/receiver.ts SECRET_FILE [PORT]`. It refuses what does not
 * verify, answers before it works, and takes each delivery once.
 */
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { verify } from "#webhooks/signature"

const [secretFile = "hook.secret", port = "3000"] = process.argv.slice(2)
const secret = readFileSync(secretFile, "utf8").trim()

// Deliveries come at least once; a real receiver keeps their ids in its database, with the work that they led to.
const taken = new Set<string>()
const takenMax = 10_000
// The largest event is 256 KiB.
const bodyBytesMax = 512 * 1_024

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The status of the answer: anything but 2xx is tried again. */
const take = async (request: IncomingMessage): Promise<number> => {
  const body = await bodyOf(request)
  if (body === undefined) return 413
  if (!(await verify(secret, request.headers, body))) return 401
  const delivery = String(request.headers["webhook-id"])
  if (taken.has(delivery)) return 204
  if (taken.size >= takenMax) taken.clear()
  taken.add(delivery)
  const { event, occurredAt } = JSON.parse(body.toString("utf8")) as {
    readonly event: string
    readonly occurredAt: string
  }
  console.log(`${occurredAt} ${event} ${delivery}`)
  return 204
}

createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end()
  )
}).listen(Number(port), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}/`))
