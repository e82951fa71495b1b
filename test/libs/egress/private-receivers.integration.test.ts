import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AddressRefused } from "#egress"
import { certificate, egress, listen, loopback, openClient, post, serve } from "../../support/receivers.ts"

describe("a private receiver", () => {
  const hosts = [
    "localhost",
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "[::1]",
    "[64:ff9b::7f00:1]",
    "[::7f00:1]"
  ]
  const tls = certificate()

  for (const scheme of ["http", "https"] as const) {
    for (const host of hosts) {
      it.effect(`is refused as ${scheme}://${host} before anything is connected`, () =>
        Effect.gen(function* () {
          const handler: RequestListener = (_request, response) => response.end("inside")
          const server = yield* listen(scheme === "http" ? createServer(handler) : createTlsServer(tls, handler))
          const client = yield* openClient({ trusted: tls.cert })

          const error = yield* Effect.flip(post(client, `${scheme}://${host}:${server.port}/`))

          assert.instanceOf(error, AddressRefused)
          assert.include(error.message, "which may not be called")
          assert.strictEqual(server.connections(), 0)
        }).pipe(Effect.provide(egress))
      )
    }

    it.effect(`answers over ${scheme} when its network is opened`, () =>
      Effect.gen(function* () {
        const handler: RequestListener = (_request, response) => response.end("inside")
        const server = yield* listen(scheme === "http" ? createServer(handler) : createTlsServer(tls, handler))
        const client = yield* openClient({ trusted: tls.cert, allow: loopback })
        const response = yield* post(client, `${scheme}://127.0.0.1:${server.port}/`)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(server.connections(), 1)
      }).pipe(Effect.provide(egress))
    )
  }

  it.effect("is refused by a name that resolves to it, with the range", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end())
      const client = yield* openClient({ names: { "receiver.example": ["127.0.0.1"] } })
      const error = yield* Effect.flip(post(client, `http://receiver.example:${server.port}/`))
      assert.instanceOf(error, AddressRefused)
      assert.include(error.message, "receiver.example is 127.0.0.1, in the range loopback (127.0.0.0/8)")
      assert.strictEqual(server.connections(), 0)
    }).pipe(Effect.provide(egress))
  )

  it.effect("is skipped when its name has an allowed address too", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const client = yield* openClient({
        allow: ["127.0.0.1/32"],
        names: { "receiver.example": ["10.255.255.1", "127.0.0.1"] }
      })
      assert.strictEqual((yield* post(client, `http://receiver.example:${server.port}/`)).status, 200)
    }).pipe(Effect.provide(egress))
  )

  it.effect("cannot be reached by a name that changes its address after the check", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const names: Record<string, ReadonlyArray<string>> = { "receiver.example": ["127.0.0.1"] }
      const client = yield* openClient({ connections: 1, allow: ["127.0.0.1/32"], names })
      const url = `http://receiver.example:${server.port}/`
      yield* post(client, url)
      names["receiver.example"] = ["10.0.0.1"]
      assert.strictEqual((yield* post(client, url)).status, 200)
      assert.strictEqual(server.connections(), 1)
    }).pipe(Effect.provide(egress))
  )
})
