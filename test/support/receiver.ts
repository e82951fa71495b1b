/** A receiver for tests: notes every request, and answers as ordered. */
import { createServer, type IncomingHttpHeaders, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly atMs: number
}

export interface TestReceiver {
  readonly url: (path: string) => string
  readonly requests: Array<ReceivedRequest>
  /**
   * Completes when every request that has left its sender by now is in `requests`: a busy test process may have an answer
   * from the broker before it has read what had arrived earlier on another connection.
   */
  readonly upToDate: Effect.Effect<void>
  /** Answers the nth request to a path (from 1): a status, `hang`, headers with it, or by hand. */
  readonly answer: (path: string, how: (nth: number) => Answer) => void
}

export type Answer =
  | number
  | "hang"
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | ((response: ServerResponse) => void)

// One beyond what the system queues is asked for again after a second, and then after two: its request comes late.
const connectionsMax = 4_096

const ownPath = "/up-to-date"

/** On a new connection, which the system queues behind those that others have opened and written to. */
const askedItself = (port: number) =>
  Effect.callback<void>((done) => {
    request({ port, host: "127.0.0.1", path: ownPath, agent: false }, (response) =>
      response.resume().on("end", () => done(Effect.void))
    ).end()
  })

export const startReceiver = Effect.acquireRelease(
  Effect.callback<TestReceiver & { readonly close: Effect.Effect<void> }>((resume) => {
    const requests: Array<ReceivedRequest> = []
    const answers = new Map<string, (nth: number) => Answer>()
    const counts = new Map<string, number>()
    const server = createServer((request, response) => {
      if (request.url === ownPath) return void response.writeHead(204).end()
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const path = request.url ?? "/"
        requests.push({
          method: request.method ?? "",
          path,
          headers: request.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          atMs: Date.now()
        })
        const nth = (counts.get(path) ?? 0) + 1
        counts.set(path, nth)
        const answer = answers.get(path)?.(nth) ?? 204
        if (answer === "hang") return
        if (typeof answer === "function") return answer(response)
        if (typeof answer === "number") response.writeHead(answer).end()
        else response.writeHead(answer.status, answer.headers).end()
      })
    })
    server.listen({ port: 0, host: "127.0.0.1", backlog: connectionsMax }, () => {
      const { port } = server.address() as AddressInfo
      resume(
        Effect.succeed({
          requests,
          upToDate: askedItself(port),
          url: (path) => `http://127.0.0.1:${port}${path}`,
          answer: (path, how) => void answers.set(path, how),
          close: Effect.callback<void>((done) => {
            server.close(() => done(Effect.void))
            server.closeAllConnections()
          })
        })
      )
    })
  }),
  (receiver) => receiver.close
)
