import { createServer, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope, Stream } from "effect"
import { ConfiguredHttp, type EgressStreamRequest } from "#egress"
import { Metrics } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"

const egress = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

const serve = (handler: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(handler)
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Opens a stream to a server that answers so. */
const open = (handler: RequestListener, more: Partial<EgressStreamRequest> = {}) =>
  Effect.gen(function* () {
    const { url } = yield* serve(handler)
    const configured = yield* ConfiguredHttp
    const client = yield* configured.open({
      use: "test",
      connectionsPerLaneMax: 4,
      lanesMax: 4,
      connectTimeoutMs: 1_000
    })
    const request = { method: "GET" as const, url, headers: {}, body: null, responseBytesMax: 1e9 }
    return yield* client.stream({ ...request, headersMs: 2_000, stallMs: 2_000, deadlineMs: 5_000, ...more })
  })

const textOf = (body: Stream.Stream<Uint8Array, unknown>) =>
  Effect.map(Stream.runCollect(body), (parts) => Buffer.concat(parts).toString("utf8"))

const failing = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(Effect.scoped(Effect.flip(effect)), egress)

describe("a streamed answer", () => {
  it.live("is its head at once, then every byte in order", () =>
    Effect.gen(function* () {
      let finish: () => void = () => undefined
      const answer = yield* open((_request, response) => {
        response.writeHead(201, { "x-word": ["a", "b"] })
        response.write("one ")
        finish = () => response.end("two")
      })
      assert.strictEqual(answer.status, 201)
      assert.strictEqual(answer.headers["x-word"], "a, b")
      finish()
      assert.strictEqual(yield* textOf(answer.body), "one two")
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("fails when the headers do not come, and says so", () =>
    Effect.gen(function* () {
      const error = yield* failing(open(() => undefined, { headersMs: 100 }))
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "headers", deadlineMs: 100, status: null })
    })
  )

  it.live("fails for a silence between two chunks, after any number of chunks", () =>
    Effect.gen(function* () {
      const error = yield* failing(
        Effect.flatMap(
          open(
            (_request, response) => {
              let sent = 0
              const timer = setInterval(() => {
                if (sent++ < 4) response.write("x")
                else clearInterval(timer)
              }, 40)
              response.writeHead(200)
              response.flushHeaders()
            },
            { stallMs: 1_000 }
          ),
          ({ body }) => Stream.runDrain(body)
        )
      )
      assert.deepInclude(error, { _tag: "Stalled", stallMs: 1_000, bytesBefore: 4 })
    })
  )

  it.live("fails at its deadline even while data still comes", () =>
    Effect.gen(function* () {
      const drip = (_request: unknown, response: ServerResponse) => {
        const timer = setInterval(() => response.write("x"), 20)
        response.once("close", () => clearInterval(timer))
      }
      const error = yield* failing(
        Effect.flatMap(open(drip, { deadlineMs: 1_000 }), ({ body }) => Stream.runDrain(body))
      )
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "body", deadlineMs: 1_000, status: 200 })
    })
  )

  it.live("fails for a broken connection, and for too many bytes", () =>
    Effect.gen(function* () {
      const broken = yield* failing(
        Effect.flatMap(
          open((_request, response) => void response.write("x", () => response.destroy())),
          ({ body }) => Stream.runDrain(body)
        )
      )
      assert.deepInclude(broken, { _tag: "Unreachable" })
      const large = yield* failing(
        Effect.flatMap(
          open((_request, response) => void response.end("x".repeat(10_000)), { responseBytesMax: 5_000 }),
          ({ body }) => Stream.runDrain(body)
        )
      )
      assert.deepInclude(large, { _tag: "ResponseTooLarge", bytesMax: 5_000 })
    })
  )

  it.live("is not sent faster than it is read, and a slow reader is no stall", () =>
    Effect.gen(function* () {
      let written = 0
      const total = 40 * 1_024 * 1_024
      const answer = yield* open(
        (_request, response) => {
          const piece = Buffer.alloc(65_536)
          const more = () => {
            while (written < total) {
              written += piece.length
              if (!response.write(piece)) return void response.once("drain", more)
            }
            return void response.end()
          }
          more()
        },
        { stallMs: 300, deadlineMs: 20_000 }
      )
      let before = -1
      yield* eventually(async () => {
        await new Promise((resolve) => setTimeout(resolve, 400))
        const still = before === written
        before = written
        return still
      })
      assert.isBelow(written, total / 2)
      const bytes = yield* Stream.runFold(
        answer.body,
        () => 0,
        (sum, part) => sum + part.length
      )
      assert.strictEqual(bytes, total)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("is cut as soon as its scope closes", () =>
    Effect.gen(function* () {
      let isClosed = false
      const scope = yield* Scope.make()
      const answer = yield* open((_request, response) => {
        response.once("close", () => (isClosed = true))
        response.write("x")
      }).pipe(Effect.provideService(Scope.Scope, scope))
      assert.strictEqual(answer.status, 200)
      yield* Scope.close(scope, Exit.void)
      yield* eventually(() => isClosed)
    }).pipe(Effect.provide(egress))
  )
})
