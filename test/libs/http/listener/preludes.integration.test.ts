import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result, Tracer } from "effect"
import {
  BodyRoom,
  HttpCall,
  HttpListener,
  jsonAnswer,
  lastingAnswer,
  type ListenerOptions,
  type Prelude,
  type Route,
  route
} from "#http"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/bus.ts"
import { api, call, dial, errorOf, type LogLine, post, readAll, under } from "../api.ts"

const limits = { bytesMax: 1_000, bytesMaxPlain: 100, mayBeLarger: (head: Uint8Array) => head[0] === 42 }
const quote = lastingAnswer(jsonAnswer({ price: 1 }, { status: 402, headers: { "cache-control": "no-store" } }))
const handled = Effect.succeed(jsonAnswer({ by: "the handler" }))

/** A route that has `places` of them, and counts those that are taken. */
const sold = (answer: Prelude<HttpCall>["answer"], places = 1) => {
  const held = { count: 0 }
  const enter = () => {
    if (held.count >= places) return undefined
    held.count += 1
    return () => void (held.count -= 1)
  }
  const begun: Route<HttpCall> = {
    ...route("POST", "/sold", handled),
    isCrossOrigin: true,
    prelude: Effect.succeed({ enter, limits, answer })
  }
  return { held, begun }
}

/** As a role runs: requests are not logged. */
const quiet = (begun: Route<HttpCall>, listener: ListenerOptions<ReadonlyArray<Route<HttpCall>>>["limits"] = {}) =>
  HttpListener.layer({
    name: "test",
    host: "127.0.0.1",
    port: 0,
    cors: { origins: ["https://app.example.com"], requestHeaders: [], exposedHeaders: ["X-Price"] },
    requestIdHeaders: ["Request-Id"],
    routes: [begun],
    limits: listener
  }).pipe(Layer.provideMerge(under))

const given = (held: { readonly count: number }) => eventually(Effect.sync(() => held.count === 0))

const countedAs = (status: string) =>
  eventually(
    Effect.flatMap(Metrics, ({ text }) =>
      Effect.map(text, (now) =>
        new RegExp(`http_requests_total\\{[^}]*route="/sold",status="${status}"\\} 1`, "u").test(now)
      )
    )
  )

describe("a route's prelude", () => {
  it.live("answers at once, with the headers of every answer, and is counted", () => {
    const bodies: Array<string> = []
    const { begun, held } = sold(({ body }) => {
      bodies.push(Buffer.from(Result.getOrElse(body, () => new Uint8Array())).toString())
      return quote
    })
    return Effect.gen(function* () {
      const headers = { "x-request-id": "abc-1", origin: "https://app.example.com" }
      const answer = yield* call("/sold", { method: "POST", body: "how much?", headers })
      assert.strictEqual(answer.status, 402)
      assert.deepStrictEqual(answer.body, { price: 1 })
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-request-id"), "abc-1")
      assert.strictEqual(answer.headers.get("request-id"), "abc-1")
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "https://app.example.com")
      assert.deepStrictEqual(bodies, ["how much?"])
      yield* countedAs("4xx")
      yield* given(held)
    }).pipe(Effect.provide(quiet(begun)))
  })

  it.live("leaves the rest to a fiber with the same call, which keeps the place to its end", () => {
    const end = Deferred.makeUnsafe<void>()
    const { begun, held } = sold(({ call: { requestId } }) =>
      Effect.gen(function* () {
        yield* Deferred.await(end)
        return jsonAnswer({ isSame: (yield* HttpCall).requestId === requestId })
      })
    )
    return Effect.gen(function* () {
      const asked = yield* Effect.forkChild(post("/sold", "{}"), { startImmediately: true })
      yield* eventually(Effect.sync(() => held.count === 1))
      assert.deepStrictEqual((yield* post("/sold", "{}")).body, { by: "the handler" })
      yield* Deferred.succeed(end, undefined)
      assert.deepStrictEqual((yield* Fiber.join(asked)).body, { isSame: true })
      yield* given(held)
    }).pipe(Effect.provide(quiet(begun)))
  })

  it.live("is told why a body is refused, before all of it has come", () => {
    const { begun, held } = sold(({ body }) =>
      Result.isFailure(body) ? Effect.fail(body.failure) : Effect.succeed(jsonAnswer({ bytes: body.success.length }))
    )
    return Effect.gen(function* () {
      assert.strictEqual((yield* post("/sold", "x".repeat(101))).status, 413)
      assert.deepStrictEqual((yield* post("/sold", `*${"x".repeat(999)}`)).body, { bytes: 1_000 })
      assert.strictEqual((yield* post("/sold", `*${"x".repeat(1_000)}`)).status, 413)
      const packed = yield* call("/sold", { method: "POST", body: "x", headers: { "content-encoding": "gzip" } })
      assert.strictEqual(packed.status, 415)
      const socket = yield* dial
      socket.write(
        `POST /sold HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n65\r\n${"x".repeat(101)}\r\n`
      )
      assert.match(yield* readAll(socket), /^HTTP\/1\.1 413 /u)
      yield* given(held)
    }).pipe(Effect.scoped, Effect.provide(quiet(begun)))
  })

  it.live("gives its place back when a caller leaves before its body has come", () => {
    const { begun, held } = sold(() => quote)
    return Effect.gen(function* () {
      const socket = yield* dial
      socket.write("POST /sold HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf")
      yield* eventually(Effect.sync(() => held.count === 1))
      socket.destroy()
      yield* given(held)
      yield* countedAs("gone")
    }).pipe(Effect.scoped, Effect.provide(quiet(begun)))
  })

  it.live("gives its place and its room back when a body does not come in time", () => {
    const { begun, held } = sold(() => quote)
    return Effect.gen(function* () {
      const { hold } = yield* BodyRoom
      const grown: Array<number> = []
      const holdRoom = () => {
        const room = hold()
        return { ...room, growTo: (bytes: number) => (grown.push(bytes), room.growTo(bytes)) }
      }
      const limits = { bytesMax: 90_000, bytesMaxPlain: 90_000, mayBeLarger: () => false }
      const prelude = Effect.map(begun.prelude ?? Effect.die("none"), (its) => ({ ...its, limits, holdRoom }))
      yield* Effect.gen(function* () {
        const socket = yield* dial
        socket.write("POST /sold HTTP/1.1\r\nhost: a\r\ncontent-length: 90000\r\n\r\nhalf")
        assert.match(yield* readAll(socket), /^HTTP\/1\.1 408 /u)
        yield* given(held)
        // A little ahead of what came, not all that was announced.
        assert.strictEqual(grown.at(-1), 65_540)
        assert.isTrue(hold().growTo(100_000))
      }).pipe(Effect.provide(quiet({ ...begun, prelude }, { headersTimeoutMs: 200, requestTimeoutMs: 400 })))
    }).pipe(
      Effect.scoped,
      Effect.provide(BodyRoom.layer({ api: "test", bytesMax: 100_000 }).pipe(Layer.provide(Metrics.layerTest)))
    )
  })

  it.live("answers the requests of one connection one after the other", () => {
    const { begun, held } = sold(() => quote, 1)
    return Effect.gen(function* () {
      const socket = yield* dial
      const one = "POST /sold HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"
      socket.write(`${one}${one}${one.replace("host: a", "host: a\r\nconnection: close")}`)
      assert.strictEqual((yield* readAll(socket)).split('{"price":1}').length, 4)
      yield* given(held)
    }).pipe(Effect.scoped, Effect.provide(quiet(begun)))
  })

  it.live("answers a defect with 500, and gives its place back", () => {
    const { begun, held } = sold(() => {
      throw new Error("a bug")
    })
    return Effect.gen(function* () {
      const answer = yield* post("/sold", "{}")
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(errorOf(answer).code, "internal_error")
      yield* given(held)
    }).pipe(Effect.provide(quiet(begun)))
  })

  it.live("leaves every answer to a fiber where requests are logged", () => {
    const lines: Array<LogLine> = []
    const { begun, held } = sold(() => quote)
    return Effect.gen(function* () {
      const answer = yield* call("/sold", { method: "POST", body: "{}", headers: { "x-request-id": "abc-2" } })
      assert.strictEqual(answer.status, 402)
      assert.deepStrictEqual(answer.body, { price: 1 })
      yield* eventually(Effect.sync(() => lines.some(({ text }) => text === "answered")))
      assert.strictEqual(lines.find(({ text }) => text === "answered")?.annotations["request_id"], "abc-2")
      yield* given(held)
    }).pipe(Effect.provide(api([begun], {}, lines)))
  })

  it.live("has the span of any request, at once and in a fiber", () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const { begun, held } = sold(({ body }) => (Result.getOrThrow(body).length === 2 ? quote : handled))
    const traceId = "0af7651916cd43dd8448eb211c80319c"
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, "x-request-id": "abc-3" }
    return Effect.gen(function* () {
      for (const [body, status] of [
        ["{}", 402],
        ["more", 200]
      ] as const) {
        yield* call("/sold", { method: "POST", body, headers })
        yield* given(held)
        const [span, ...others] = spans.splice(0)
        assert.deepStrictEqual(others, [])
        assert.deepInclude(span, { name: "POST /sold", traceId, kind: "server" })
        assert.strictEqual(span?.status._tag, "Ended")
        assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
          request_id: "abc-3",
          "http.request.method": "POST",
          "http.route": "/sold",
          "http.response.status_code": status
        })
      }
    }).pipe(Effect.provide(quiet(begun).pipe(Layer.provide(Layer.succeed(Tracer.Tracer, tracer)))))
  })
})
