/**
 * A forge on this machine: pull requests over a folder of bare repositories, which it really merges.
 *
 *   POST /repos/{name}/pulls {title, head, base, autoMerge, labels}    GET /repos/{name}/pulls
 *   GET /repos/{name}/pulls/{number}    PUT .../merge (405: in conflict)    DELETE .../{number} (closes it)
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Result, Schema } from "effect"
import { makePullRequests, type Opened } from "./PullRequests.ts"
import { NewPullRequest, type PullRequest } from "./pull-request.ts"

export interface ForgeOptions {
  /** Holds `<name>.git` for each repository. */
  readonly folder: string
  /** 0 takes any free port. */
  readonly port?: number
}

export interface LocalForge {
  readonly url: string
}

const bodyBytesMax = 65_536
const route = /^\/repos\/(?<repository>[A-Za-z0-9._-]{1,100})\/pulls(?:\/(?<number>\d{1,9})(?<merge>\/merge)?)?$/u
const decodeNew = Schema.decodeUnknownResult(Schema.fromJsonString(NewPullRequest))

interface Answer {
  readonly status: number
  readonly body: unknown
}

const answer = (status: number, body: unknown): Answer => ({ status, body })
const missing = answer(404, { error: "there is no such pull request" })
const shown = (request: PullRequest | undefined) => (request === undefined ? missing : answer(200, request))
const opened = (request: Opened) =>
  request === "no such branch" ? answer(422, { error: request }) : answer(201, request)

export const startForge = ({ folder, port = 0 }: ForgeOptions) =>
  Effect.acquireRelease(
    Effect.callback<LocalForge & { readonly close: Effect.Effect<void> }, Error>((resume) => {
      let base = ""
      const pulls = makePullRequests(folder, (repository, number) => `${base}/repos/${repository}/pulls/${number}`)
      const handle = (request: IncomingMessage, response: ServerResponse) =>
        readBody(request, (body) => {
          const reply = Effect.catch(decide(pulls, request, body), ({ message }) =>
            Effect.succeed(answer(500, { error: message }))
          )
          Effect.runCallback(reply, {
            onExit: (exit) => send(response, exit._tag === "Success" ? exit.value : answer(500, { error: "broken" }))
          })
        })
      const server = createServer(handle)
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(port, "127.0.0.1", () => {
        base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: base, close }))
      })
    }),
    (forge) => forge.close
  )

const decide = Effect.fnUntraced(function* (
  pulls: ReturnType<typeof makePullRequests>,
  { method, url = "" }: IncomingMessage,
  body: string
) {
  const { repository, number, merge } = route.exec(url)?.groups ?? {}
  if (repository === undefined) return missing
  if (number === undefined) {
    if (method === "GET") return answer(200, yield* pulls.list(repository))
    const asked = decodeNew(body)
    if (method !== "POST" || Result.isFailure(asked)) return answer(400, { error: "not a pull request" })
    return opened(yield* pulls.open(repository, asked.success))
  }
  if (method === "DELETE") return shown(yield* pulls.close(repository, Number(number)))
  if (method !== "PUT" || merge === undefined) return shown(yield* pulls.find(repository, Number(number)))
  const merged = yield* pulls.merge(repository, Number(number))
  return merged?.state === "open" ? answer(405, merged) : shown(merged)
})

const send = (response: ServerResponse, { status, body }: Answer) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

const readBody = (request: IncomingMessage, done: (body: string) => void) => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  })
  request.on("end", () => done(bytes <= bodyBytesMax ? Buffer.concat(chunks).toString("utf8") : ""))
}
