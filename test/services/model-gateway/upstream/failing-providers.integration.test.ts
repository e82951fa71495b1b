import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat, withGateway } from "../../../support/gateway.ts"

const chatPath = "/v1/chat/completions"

const providerThat = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: Effect.Effect<void> }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url, close }))
      })
    }),
    ({ close }) => close
  )

/** A gateway whose only provider is this one. */
const options = (url: string) => ({
  providers: () => [{ Name: "acme", BaseUrl: url }],
  models: () => [{ Id: "demo/free", Free: true, Upstreams: [{ Provider: "acme", Model: "free-1" }] }]
})

describe("a gateway's provider", () => {
  it.live("that refuses the key is named with 401, before and after a call", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { url } = yield* providerThat((request, response) => {
        seen.push(`${request.method} ${request.url}`)
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: "Incorrect API key provided", code: "invalid_api_key" } }))
      })
      yield* withGateway(
        (gateway) =>
          Effect.gen(function* () {
            const failing = 'gateway_provider_failing{role="fleet",provider="acme",reason="401"} 1'
            const known = Effect.map(gateway.metrics, (text) => text.includes(failing))
            yield* eventually(known, { is: true })
            assert.deepStrictEqual(seen, ["GET /v1/models"])

            yield* ask(gateway, chatPath, chat("hello", { model: "demo/free" }))
            assert.include(
              yield* gateway.metrics,
              'gateway_upstream_calls_total{role="fleet",provider="acme",outcome="failed",status_class="401"} 1'
            )
            assert.isTrue(yield* known)
          }),
        options(url)
      )
    }).pipe(Effect.scoped)
  )

  it.live("that takes connections and never answers is seen without a call", () =>
    Effect.gen(function* () {
      const { url } = yield* providerThat(() => undefined)
      yield* withGateway(
        (gateway) =>
          eventually(
            Effect.map(gateway.metrics, (text) =>
              text.includes('gateway_provider_failing{role="fleet",provider="acme",reason="timeout"} 1')
            ),
            { is: true, withinMs: 10_000 }
          ),
        options(url)
      )
    }).pipe(Effect.scoped)
  )
})
