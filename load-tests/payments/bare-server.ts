/** A server that does nothing but answer 402 with as many bytes as it was told to: what the machine takes itself. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const body = Buffer.alloc(Number(process.argv[2] ?? "0"), " ")
const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.writeHead(402, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  process.on("message", () => undefined)
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
