/** A token server for tests: gives tokens of a short life, notes every request, and says which tokens are good. */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface TokenServer {
  readonly url: string
  readonly requests: Array<{ readonly authorization: string | undefined; readonly form: URLSearchParams }>
  readonly tokens: ReadonlyArray<string>
  readonly isGood: (authorization: string | undefined) => boolean
  /** From now on no token given so far is good. */
  readonly revoke: () => void
  /** What it answers in place of a token. */
  refusal: { readonly status: number; readonly body: string } | undefined
}

export const startTokenServer = (lifeSeconds: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<TokenServer & { readonly close: () => void }>((resume) => {
        const endsAtMs = new Map<string, number>()
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"))
            made.requests.push({ authorization: request.headers.authorization, form })
            if (made.refusal !== undefined) return response.writeHead(made.refusal.status).end(made.refusal.body)
            const token = `token-${randomUUID()}`
            tokens.push(token)
            endsAtMs.set(token, Date.now() + lifeSeconds * 1_000)
            response.setHeader("Content-Type", "application/json")
            return response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: lifeSeconds }))
          })
        })
        const tokens: Array<string> = []
        const made: TokenServer & { url: string; close: () => void } = {
          url: "",
          requests: [],
          tokens,
          refusal: undefined,
          isGood: (authorization = "") => (endsAtMs.get(authorization.slice("Bearer ".length)) ?? 0) > Date.now(),
          revoke: () => endsAtMs.clear(),
          close: () => {
            server.closeAllConnections()
            server.close()
          }
        }
        server.listen(0, "127.0.0.1", () => {
          made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
          resume(Effect.succeed(made))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    (server): TokenServer => server
  )
