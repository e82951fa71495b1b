import { createServer as createTlsServer } from "node:https"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Resolver } from "#egress"
import { certificate, egress, listen, loopback, openClient, post, serve } from "../../support/receivers.ts"

describe("a misbehaving receiver", () => {
  it.live("that drips a byte at a time costs one deadline", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write("."), 100)
        response.on("close", () => clearInterval(timer))
      })
      const client = yield* openClient({ allow: loopback })
      const started = performance.now()
      const error = yield* Effect.flip(post(client, `http://127.0.0.1:${server.port}/`, { deadlineMs: 700 }))
      const tookMs = performance.now() - started
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "body", status: 200 })
      assert.isTrue(tookMs >= 699 && tookMs < 1_500, `${tookMs}`)
    }).pipe(Effect.provide(egress))
  )

  it.live("that never answers costs one deadline", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const client = yield* openClient({ allow: loopback })
      const error = yield* Effect.flip(post(client, `http://127.0.0.1:${server.port}/`, { deadlineMs: 300 }))
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "headers" })
    }).pipe(Effect.provide(egress))
  )

  it.live("that never answers a hundred at once costs each one deadline, and others continue between their ends", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const client = yield* openClient({ allow: loopback, connections: 100 })
      let turns = 0
      const turning = setInterval(() => (turns += 1))
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(turning)))
      const ends: Array<{ readonly turn: number; readonly tookMs: number }> = []
      const one = Effect.gen(function* () {
        const started = performance.now()
        const error = yield* Effect.flip(post(client, `http://127.0.0.1:${server.port}/`, { deadlineMs: 500 }))
        assert.strictEqual(error._tag, "DeadlineExceeded")
        ends.push({ turn: turns, tookMs: performance.now() - started })
      })
      yield* Effect.forEach(Array.from({ length: 100 }), () => one, { concurrency: "unbounded", discard: true })
      const perTurn = [...Map.groupBy(ends, ({ turn }) => turn).values()].map((together) => together.length)
      assert.isAtMost(Math.max(...perTurn), 16, perTurn.join(" "))
      for (const { tookMs } of ends) assert.isTrue(tookMs >= 499 && tookMs < 1_500, `${tookMs}`)
    }).pipe(Effect.provide(egress))
  )

  it.live("that sends endlessly is cut at the cap, at once", () =>
    Effect.gen(function* () {
      let sent = 0
      const server = yield* serve((_request, response) => {
        const block = Buffer.alloc(64 * 1_024)
        const more = () => {
          while (!response.destroyed && response.write(block)) sent += block.length
        }
        response.on("drain", more)
        more()
      })
      const client = yield* openClient({ allow: loopback })
      const response = yield* post(client, `http://127.0.0.1:${server.port}/`, { responseBytesMax: 4_096 })
      assert.strictEqual(response.body.length, 4_096)
      assert.isTrue(response.truncated)
      assert.isBelow(sent, 64 * 1_024 * 1_024)
    }).pipe(Effect.provide(egress))
  )

  it.effect("that redirects to the metadata service is not followed", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) =>
        response.writeHead(302, { Location: "http://169.254.169.254/latest" }).end()
      )
      const asked: Array<string> = []
      const client = yield* openClient({ allow: loopback }).pipe(
        Effect.provideService(Resolver, (host, done) => {
          asked.push(host)
          done(null, [])
        })
      )
      const response = yield* post(client, `http://127.0.0.1:${server.port}/`)
      assert.strictEqual(response.status, 302)
      assert.strictEqual(server.connections(), 1)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(egress))
  )

  it.effect("that hangs up is reported as a reset", () =>
    Effect.gen(function* () {
      const server = yield* serve((request) => request.socket.resetAndDestroy())
      const client = yield* openClient({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(client, `http://127.0.0.1:${server.port}/`)), { reason: "reset" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("that does not listen is reported as a failed connection", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(
        Effect.map(
          serve(() => {}),
          (server) => server.port
        )
      )
      const client = yield* openClient({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(client, `http://127.0.0.1:${port}/`)), { reason: "connect" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("without an address is reported as a name fault", () =>
    Effect.gen(function* () {
      const client = yield* openClient({ names: {} })
      assert.deepInclude(yield* Effect.flip(post(client, "http://nowhere.example/")), { reason: "dns" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("with an unknown certificate is reported as a TLS fault", () =>
    Effect.gen(function* () {
      const server = yield* listen(createTlsServer(certificate(), (_request, response) => response.end()))
      const client = yield* openClient({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(client, `https://127.0.0.1:${server.port}/`)), { reason: "tls" })
    }).pipe(Effect.provide(egress))
  )
})
