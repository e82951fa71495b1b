/** Calls of the console as a browser makes them, with what no `fetch` of Node sends. */
import { request } from "node:http"
import { Effect } from "effect"
import { HttpListener } from "#http"
import { type Call, codeOf, type Json, withConsole } from "./console.ts"

interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Json
}

/** As a browser sends it, and as no `fetch` of Node does: with a Host and a Sec-Fetch-Site of its own. */
export const browser = Effect.map(
  HttpListener,
  ({ url }) =>
    (verb: string, { body, headers = {} }: Sent = {}) =>
      Effect.callback<Got>((resume) => {
        const [method = "GET", path = "/"] = verb.split(" ")
        const text = body === undefined ? undefined : JSON.stringify(body)
        const outgoing = request(
          `${url}${path}`,
          { method, headers: { ...(text === undefined ? {} : { "content-type": "application/json" }), ...headers } },
          (answer) => {
            if (answer.headers["content-type"] === "text/event-stream") {
              answer.destroy()
              return resume(Effect.succeed({ status: answer.statusCode ?? 0, headers: answer.headers, body: {} }))
            }
            const chunks: Array<Buffer> = []
            answer.on("data", (chunk: Buffer) => chunks.push(chunk))
            return answer.on("end", () => {
              const all = Buffer.concat(chunks).toString()
              const isJson = answer.headers["content-type"] === "application/json"
              const parsed = isJson ? (JSON.parse(all) as Json) : { text: all }
              resume(Effect.succeed({ status: answer.statusCode ?? 0, headers: answer.headers, body: parsed }))
            })
          }
        )
        outgoing.end(text)
      })
)
export type Browser = Effect.Success<typeof browser>

export const fromPage = { "sec-fetch-site": "same-origin" }

export const withPage = <A, E, R>(test: (call: Call, open: Browser) => Effect.Effect<A, E, R>, changes: Json = {}) =>
  withConsole((call) => Effect.flatMap(browser, (open) => test(call, open)), {
    ...changes,
    Console: { Page: true, PageFolder: "/nowhere", ...(changes["Console"] as Json | undefined) }
  })

export const headerOf = (got: Got, name: string) => [got.headers[name]].flat().join("; ")
export const cookieOf = (got: Got) => headerOf(got, "set-cookie").split(";")[0] ?? ""
export const statusAndCode = ({ status, body }: Got) => [status, codeOf(body)]
