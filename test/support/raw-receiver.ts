/** Receivers on raw sockets, for answers that no HTTP server would give; and one whose handshake takes its time. */
import { connect, createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { listen } from "./receivers.ts"

export interface RawRequest {
  /** Counts from 1 over all connections, and on this one. */
  readonly nth: number
  readonly onConnection: number
  readonly socket: Socket
  readonly reset: () => void
}

/** Calls `answer` as the head of each request arrives. */
export const rawReceiver = (
  answer: (request: RawRequest) => void,
  tls?: { readonly key: string; readonly cert: string }
) => {
  let nth = 0
  const open = new Set<Socket>()
  const serve = (socket: Socket) => {
    let onConnection = 0
    socket.on("error", () => undefined)
    socket.on("data", (data) => {
      if (!data.includes(" HTTP/1.1\r\n")) return
      nth += 1
      onConnection += 1
      // A socket under TLS cannot send a reset by itself.
      const reset = () => [...open].find(({ remotePort }) => remotePort === socket.remotePort)?.resetAndDestroy()
      answer({ nth, onConnection, socket, reset })
    })
  }
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  server.on("connection", (socket) => open.add(socket))
  return Effect.gen(function* () {
    const { port, connections } = yield* listen(server)
    yield* Effect.addFinalizer(() => Effect.sync(() => [...open].forEach((socket) => socket.destroy())))
    return { port, connections, requests: () => nth }
  })
}

const blocked = `
const { workerData, parentPort } = require("node:worker_threads")
const { createServer } = require("node:net")
const server = createServer((socket) => {
  socket.on("error", () => undefined)
  socket.on("data", () => socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok"))
})
server.listen({ host: workerData.host, port: workerData.port, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  setImmediate(() => Atomics.wait(workerData.gate, 0, 0))
})`

/** Takes no connection before it is let: its system drops them, and each is tried again a second later. */
export const slowListener = (host: string, port = 0) =>
  Effect.gen(function* () {
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(blocked, { eval: true, workerData: { host, port, gate } })
    const letIn = () => {
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
    }
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        letIn()
        return worker.terminate()
      })
    )
    const taken = yield* Effect.promise(
      () => new Promise<number>((done, fail) => worker.once("message", done).once("error", fail))
    )
    yield* Effect.promise(() => fillBacklog(host, taken))
    return { port: taken, letIn }
  })

/** Connects until one is dropped. */
const fillBacklog = async (host: string, port: number) => {
  for (let tries = 0; tries < 16; tries++) {
    const socket = connect({ host, port })
    socket.on("error", () => undefined)
    const isTaken = await Promise.race([
      new Promise((done) => socket.once("connect", () => done(true))),
      new Promise((done) => setTimeout(() => done(false), 200))
    ])
    if (isTaken === false) return void socket.destroy()
  }
  throw new Error("the backlog does not fill")
}
