import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import {
  eventsAnswer,
  HttpCall,
  HttpListener,
  jsonAnswer,
  jsonEvent,
  notFound,
  type RenderError,
  renderStandardError,
  readJson,
  route,
  streamAnswer,
  WireError
} from "#http"
import { currentTraceparent, Drain, Health, Metrics } from "#runtime"
import { eventually } from "../../support/bus.ts"
import { api, call, dial, type LogLine, pause, post, readAll } from "./api.ts"

const Voice = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1)),
  turns: Schema.Array(Schema.Struct({ speed: Schema.Finite }))
})
const body = { bytesMax: 1_000 }

class Answers extends Context.Service<Answers, { readonly word: string }>()("test/Answers") {}

const echo = route(
  "POST",
  "/voices",
  Effect.gen(function* () {
    const voice = yield* readJson(Voice, body)
    const { word } = yield* Answers
    return jsonAnswer({ ...voice, word }, { status: 201 })
  })
)
const byId = route(
  "GET",
  "/voices/:voice_id",
  Effect.map(HttpCall, ({ params, query }) => jsonAnswer({ params, query }))
)
const traced = route(
  "GET",
  "/traced",
  Effect.map(currentTraceparent, (header) => jsonAnswer({ header }))
)
const broken = route("GET", "/broken", Effect.die(new Error("a bug")))
const gone = route("GET", "/gone", Effect.fail(notFound("no such voice", "voice_not_found")))
const routes = [echo, byId, traced, broken, gone]
const answers = Layer.succeed(Answers, { word: "yes" })
const standing = api(routes).pipe(Layer.provide(answers))

const errorOf = (answer: { readonly body: unknown }) =>
  (answer.body as { error: { code: string; fields?: Record<string, string>; details?: { offset?: number } } }).error

describe("an API on a socket", () => {
  it.live("reads JSON by a schema and answers with what its services say", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", JSON.stringify({ name: "Ann", turns: [{ speed: 1 }], more: 1 }))
      assert.strictEqual(answer.status, 201)
      assert.deepStrictEqual(answer.body, { name: "Ann", turns: [{ speed: 1 }], word: "yes" })
    }).pipe(Effect.provide(standing))
  )

  it.live("gives percent-decoded parameters, and the query", () =>
    Effect.gen(function* () {
      const answer = yield* call("/voices/v%2F1?limit=2&tag=a&tag=b")
      assert.deepStrictEqual(answer.body, { params: { voice_id: "v/1" }, query: { limit: "2", tag: ["a", "b"] } })
    }).pipe(Effect.provide(standing))
  )

  it.live("tells every fault of a body by its path", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", '{"name":"","turns":[{"speed":1},{"speed":"fast"}]}')
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(errorOf(answer).code, "validation_failed")
      assert.deepStrictEqual(Object.keys(errorOf(answer).fields ?? {}), ["name", "turns[1].speed"])
    }).pipe(Effect.provide(standing))
  )

  it.live("refuses malformed JSON and says where", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", '{"name": x}')
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(errorOf(answer).details?.offset, 9)
    }).pipe(Effect.provide(standing))
  )

  it.live("refuses what is not UTF-8, not JSON, or empty", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("/voices", new Uint8Array([0x22, 0xff, 0x22]))).status, 400)
      assert.strictEqual((yield* post("/voices", "a=b", "application/x-www-form-urlencoded")).status, 415)
      assert.strictEqual((yield* post("/voices", "")).status, 400)
      const packed = { "content-type": "application/json", "content-encoding": "gzip" }
      assert.strictEqual((yield* call("/voices", { method: "POST", body: "{}", headers: packed })).status, 415)
      assert.strictEqual((yield* post("/voices", '{"__proto__":{}}')).status, 400)
    }).pipe(Effect.provide(standing))
  )

  it.live("refuses a body that is too large, announced or not", () =>
    Effect.gen(function* () {
      const announced = yield* post("/voices", "x".repeat(1_001))
      assert.strictEqual(announced.status, 413)

      const socket = yield* dial
      const answer = yield* Effect.forkChild(readAll(socket), { startImmediately: true })
      socket.write(
        "POST /voices HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
      )
      const piece = `10000\r\n${"x".repeat(65_536)}\r\n`
      for (let sent = 0; sent < 32 && !socket.destroyed; sent++) {
        socket.write(piece)
        yield* pause(2)
      }
      const text = yield* Fiber.join(answer)
      assert.match(text, /^HTTP\/1\.1 413 /u)
      assert.include(text, "payload_too_large")
    }).pipe(Effect.scoped, Effect.provide(standing))
  )

  it.live("answers 404 and 405 in its envelope, the latter with Allow", () =>
    Effect.gen(function* () {
      const unknown = yield* call("/nowhere")
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual(errorOf(unknown).code, "not_found")
      const wrong = yield* call("/voices/1", { method: "DELETE" })
      assert.strictEqual(wrong.status, 405)
      assert.strictEqual(wrong.headers.get("allow"), "GET, HEAD")
      assert.strictEqual(errorOf(yield* call("/gone")).code, "voice_not_found")
      assert.strictEqual((yield* call("/voices/1", { method: "HEAD" })).text, "")
    }).pipe(Effect.provide(standing))
  )

  it.live("takes over a fit request id, makes one otherwise, and says it in errors", () =>
    Effect.gen(function* () {
      const given = yield* call("/gone", { headers: { "x-request-id": "abc-1" } })
      assert.strictEqual(given.headers.get("x-request-id"), "abc-1")
      assert.strictEqual(given.headers.get("speechify-request-id"), "abc-1")
      assert.deepInclude(given.body as object, { request_id: "abc-1" })
      const made = yield* call("/gone", { headers: { "x-request-id": "a b" } })
      assert.match(made.headers.get("x-request-id") ?? "", /^req_/u)
    }).pipe(Effect.provide(api([gone], { requestIdHeaders: ["Speechify-Request-Id"] })))
  )

  it.live("goes on with the caller's trace", () =>
    Effect.gen(function* () {
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const answer = yield* call("/traced", { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } })
      const { header } = answer.body as { header: string }
      assert.strictEqual(header.split("-")[1], traceId)
      assert.notInclude(header, "b7ad6b7169203331")
    }).pipe(Effect.provide(standing))
  )

  it.live("logs a defect with the request's id and answers it with a JSON 500", () => {
    const lines: Array<LogLine> = []
    return Effect.gen(function* () {
      const answer = yield* call("/broken", { headers: { "x-request-id": "r-1" } })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(errorOf(answer).code, "internal_error")
      assert.notInclude(answer.text, "a bug")
      yield* eventually(
        Effect.sync(() => lines.some(({ level, text }) => level === "Info" && text.startsWith("answered")))
      )
      const defect = lines.find(({ level }) => level === "Error")
      assert.include(defect?.text, "a bug")
      assert.strictEqual(defect?.annotations["request_id"], "r-1")
    }).pipe(Effect.provide(api([broken], {}, lines)))
  })

  it.live("answers with a JSON 500 where a handler made a head that cannot be sent, or an envelope fails", () => {
    const head = route("GET", "/head", Effect.succeed(jsonAnswer({}, { headers: { a: "b\r\nc: d" } })))
    const status = route("GET", "/status", Effect.succeed(jsonAnswer({}, { status: 99 })))
    const value = route(
      "GET",
      "/value",
      Effect.sync(() => jsonAnswer(1n))
    )
    const renderError: RenderError = (error, requestId) => {
      if (error.status === 404) throw new Error("a bug in the envelope")
      return renderStandardError(error, requestId)
    }
    return Effect.gen(function* () {
      for (const path of ["/head", "/status", "/value", "/unknown"]) {
        const answer = yield* call(path)
        assert.strictEqual(answer.status, 500, path)
        assert.strictEqual(errorOf(answer).code, "internal_error")
      }
    }).pipe(Effect.provide(api([head, status, value], { renderError })))
  })

  it.live("counts by route and status class, never by a caller's path", () =>
    Effect.gen(function* () {
      yield* call("/voices/one")
      yield* call("/secret/path")
      const { text } = yield* Metrics
      // A call is counted when it is over, which may be after its answer was read.
      for (const counted of [
        /http_requests_total\{[^}]*route="\/voices\/:voice_id",status="2xx"\} 1/u,
        /http_requests_total\{[^}]*route="none",status="4xx"\} 1/u
      ]) {
        yield* eventually(Effect.map(text, (now) => counted.test(now)))
      }
      assert.notInclude(yield* text, "secret")
    }).pipe(Effect.provide(standing))
  )

  it.live("writes errors as the API wants them", () =>
    Effect.gen(function* () {
      const answer = yield* call("/gone")
      assert.deepStrictEqual(answer.body, { problem: "voice_not_found" })
    }).pipe(Effect.provide(api([gone], { renderError: ({ code }: WireError) => ({ problem: code }) })))
  )

  it.live("cuts headers and bodies that trickle, and refuses what is not HTTP", () =>
    Effect.gen(function* () {
      const head = yield* dial
      head.write("GET / HTTP/1.1\r\nhost: a\r\n")
      const body = yield* dial
      body.write('POST /voices HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"na')
      const nonsense = yield* dial
      nonsense.write("hello\r\n\r\n")
      const long = yield* dial
      long.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)
      const silent = yield* dial
      const texts = yield* Effect.forEach([head, body, nonsense, long, silent], readAll, {
        concurrency: "unbounded"
      }).pipe(Effect.timeout("5 seconds"))
      assert.deepStrictEqual(
        texts.map((text) => text.slice(0, 12)),
        ["HTTP/1.1 408", "HTTP/1.1 408", "HTTP/1.1 400", "HTTP/1.1 431", "HTTP/1.1 408"]
      )
      for (const text of texts) assert.include(text, '"request_id":"req_')
    }).pipe(
      Effect.scoped,
      Effect.provide(
        api([echo], { limits: { headersTimeoutMs: 200, requestTimeoutMs: 400 } }).pipe(Layer.provide(answers))
      )
    )
  )

  it.live("answers pipelined requests one after the other, in their order", () => {
    let [running, most] = [0, 0]
    const slow = route(
      "GET",
      "/slow/:n",
      Effect.gen(function* () {
        most = Math.max(most, (running += 1))
        yield* Effect.sleep("10 millis")
        running -= 1
        return jsonAnswer({ n: (yield* HttpCall).params["n"] })
      })
    )
    return Effect.gen(function* () {
      const socket = yield* dial
      const answer = yield* Effect.forkChild(readAll(socket), { startImmediately: true })
      const all = Array.from({ length: 5 }, (_, n) => `GET /slow/${n} HTTP/1.1\r\nhost: a\r\n`)
      socket.write(`${all.join("\r\n")}connection: close\r\n\r\n`)
      const text = yield* Fiber.join(answer)
      assert.deepStrictEqual(
        [...text.matchAll(/"n":"(\d)"/gu)].map(([, n]) => n),
        ["0", "1", "2", "3", "4"]
      )
      assert.strictEqual(most, 1)
    }).pipe(Effect.scoped, Effect.provide(api([slow])))
  })

  it.live("cuts a connection that sends too many requests ahead, or that idles between two", () => {
    const never = route("GET", "/never", Effect.never)
    return Effect.gen(function* () {
      const greedy = yield* dial
      greedy.write("GET /never HTTP/1.1\r\nhost: a\r\n\r\n".repeat(20))
      assert.strictEqual(yield* readAll(greedy), "")

      const idle = yield* dial
      idle.write("GET /gone HTTP/1.1\r\nhost: a\r\n\r\n")
      const text = yield* Effect.timeout(readAll(idle), "5 seconds")
      assert.match(text, /^HTTP\/1\.1 404 /u)
    }).pipe(Effect.scoped, Effect.provide(api([never, gone], { limits: { idleMs: 100 } })))
  })

  it.live("serves a caller who leaves a body unread, and goes on with the connection", () => {
    const deaf = route("POST", "/deaf", Effect.succeed(jsonAnswer({ ok: true })))
    return Effect.gen(function* () {
      const socket = yield* dial
      const answer = yield* Effect.forkChild(readAll(socket), { startImmediately: true })
      const one = `POST /deaf HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n${"x".repeat(1_000)}`
      socket.write(`${one}${one.replace("host: a", "host: a\r\nconnection: close")}`)
      assert.strictEqual((yield* Fiber.join(answer)).split('{"ok":true}').length, 3)
    }).pipe(Effect.scoped, Effect.provide(api([deaf])))
  })

  it.live("refuses connections past its bound", () =>
    Effect.gen(function* () {
      yield* dial
      const second = yield* dial
      assert.strictEqual(yield* readAll(second), "")
    }).pipe(Effect.scoped, Effect.provide(api([], { limits: { connectionsMax: 1 } })))
  )
})

const endless = (onPull: () => void, onEnd: (exit: Exit.Exit<unknown, unknown>) => void) =>
  Stream.fromEffectRepeat(Effect.sync(() => (onPull(), new Uint8Array(65_536)))).pipe(
    Stream.onExit((exit) => Effect.sync(() => onEnd(exit)))
  )

describe("streamed answers", () => {
  it.live("are made no faster than they are read, and a reader that stalls is cut", () => {
    let [pulled, ended] = [0, false]
    const stream = endless(
      () => (pulled += 1),
      () => (ended = true)
    )
    const audio = route("GET", "/audio", streamAnswer(stream, { contentType: "audio/mpeg" }))
    return Effect.gen(function* () {
      const socket = yield* dial
      socket.pause()
      socket.write("GET /audio HTTP/1.1\r\nhost: a\r\n\r\n")
      // What sockets hold is sent at once; then it stands still, long before it is cut.
      let before = 0
      const standsStill = Effect.sync(() => {
        const still = pulled > 0 && pulled === before
        before = pulled
        return still
      })
      yield* eventually(Effect.andThen(pause(200), standsStill))
      assert.isFalse(ended)
      assert.isBelow(pulled, 200)
      yield* eventually(Effect.sync(() => ended))
      const { text } = yield* Metrics
      const isCut = (now: string) => /http_connections_cut_total\{[^}]*reason="stalled"\} 1/u.test(now)
      yield* eventually(Effect.map(text, isCut))
    }).pipe(Effect.scoped, Effect.provide(api([audio], { limits: { stallMs: 3_000 } })))
  })

  it.live("may take longer to begin than a reader may stall", () => {
    const slow = Stream.concat(
      Stream.fromEffect(Effect.as(Effect.sleep("250 millis"), new Uint8Array(10))),
      Stream.fromEffect(Effect.as(Effect.sleep("250 millis"), new Uint8Array(10)))
    )
    const audio = route("GET", "/audio", streamAnswer(slow, { contentType: "audio/mpeg" }))
    return Effect.gen(function* () {
      const { status, text } = yield* call("/audio")
      assert.deepStrictEqual([status, text.length], [200, 20])
    }).pipe(Effect.provide(api([audio], { limits: { stallMs: 100 } })))
  })

  it.live("are interrupted at once when the caller is gone, also between two pieces", () => {
    let begun = 0
    const interrupted: Array<number> = []
    const begins = Effect.sync(() => (begun += 1))
    const ends = Effect.sync(() => interrupted.push(performance.now()))
    const silence = Stream.drain(Stream.fromEffect(Effect.andThen(begins, Effect.never)))
    const audio = route(
      "GET",
      "/audio",
      streamAnswer(Stream.concat(Stream.make(new Uint8Array(10)), silence).pipe(Stream.onExit(() => ends)), {
        contentType: "audio/mpeg"
      })
    )
    const events = route(
      "GET",
      "/events",
      eventsAnswer(Stream.concat(Stream.make(jsonEvent({ a: 1 })), silence).pipe(Stream.onExit(() => ends)))
    )
    const thinking = route(
      "GET",
      "/thinking",
      Effect.onInterrupt(Effect.andThen(begins, Effect.never), () => ends)
    )
    const timesMax = 5
    return Effect.gen(function* () {
      let calls = 0
      /** How long the handler goes on after its caller has left. */
      const goesOnMs = Effect.fnUntraced(function* (path: string) {
        interrupted.length = 0
        calls += 1
        const socket = yield* dial
        socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
        yield* eventually(Effect.sync(() => begun === calls))
        const leftAt = performance.now()
        socket.destroy()
        yield* eventually(Effect.sync(() => interrupted.length > 0))
        return (interrupted[0] ?? Infinity) - leftAt
      })
      for (const path of ["/audio", "/events", "/thinking"]) {
        // What else the machine does can only make it later.
        let best = Infinity
        for (let time = 0; time < timesMax && best >= 100; time++) best = Math.min(best, yield* goesOnMs(path))
        assert.isBelow(best, 100, path)
      }
      const { text } = yield* Metrics
      yield* eventually(Effect.map(text, (now) => /http_requests_active\{[^}]*\} 0/u.test(now)))
      const gone = [...(yield* text).matchAll(/http_requests_total\{[^}]*status="gone"\} (\d+)/gu)]
      assert.strictEqual(
        gone.reduce((sum, [, count]) => sum + Number(count), 0),
        calls
      )
    }).pipe(Effect.scoped, Effect.provide(api([audio, events, thinking])))
  })

  it.live("that fail before the first byte have a status, after it a broken connection and a log line", () => {
    const lines: Array<LogLine> = []
    const failing = Stream.fail(new WireError({ status: 422, code: "no_voice", message: "none" }))
    const early = route("GET", "/early", streamAnswer(failing, { contentType: "audio/mpeg" }))
    const dies = Effect.andThen(Effect.sleep("20 millis"), Effect.die(new Error("the engine fell over")))
    const late = route(
      "GET",
      "/late",
      streamAnswer(Stream.concat(Stream.make(new Uint8Array(10)), Stream.fromEffect(dies)), {
        contentType: "audio/mpeg"
      })
    )
    return Effect.gen(function* () {
      const answer = yield* call("/early")
      assert.strictEqual(answer.status, 422)
      assert.strictEqual(errorOf(answer).code, "no_voice")

      const { url } = yield* HttpListener
      const broken = yield* Effect.promise(() => fetch(`${url}/late`, { headers: { "x-request-id": "r-2" } }))
      assert.strictEqual(broken.status, 200)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => broken.bytes()))))
      yield* eventually(Effect.sync(() => lines.some(({ level }) => level === "Error")))
      const told = lines.find(({ level }) => level === "Error")
      assert.include(told?.text, "the engine fell over")
      assert.strictEqual(told?.annotations["request_id"], "r-2")
    }).pipe(Effect.provide(api([early, late], {}, lines)))
  })

  it.live("of events have a heartbeat while nothing comes, and lose nothing by it", () => {
    const events = Stream.make(1, 2, 3).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((n) => Effect.as(Effect.sleep("500 millis"), jsonEvent({ n }, "count")))
    )
    const answer = route("GET", "/events", eventsAnswer(events, { heartbeat: "50 millis" }))
    return Effect.gen(function* () {
      const { text, headers } = yield* call("/events")
      assert.strictEqual(headers.get("content-type"), "text/event-stream")
      const lines = text.split("\n").filter((line) => line.startsWith("data:"))
      assert.deepStrictEqual(lines, ['data: {"n":1}', 'data: {"n":2}', 'data: {"n":3}'])
      assert.isAtLeast(text.split(": keep-alive\n\n").length, 4)
    }).pipe(Effect.provide(api([answer])))
  })

  it.live("of events end with one that says why", () => {
    const events = Stream.concat(Stream.make(jsonEvent({ n: 1 })), Stream.die(new Error("a bug")))
    const answer = route(
      "GET",
      "/events",
      eventsAnswer(events, { onFailure: () => jsonEvent({ code: "internal_error" }, "error") })
    )
    return Effect.gen(function* () {
      const { text } = yield* call("/events")
      assert.strictEqual(text, 'data: {"n":1}\n\nevent: error\ndata: {"code":"internal_error"}\n\n')
    }).pipe(Effect.provide(api([answer])))
  })
})

describe("a drain", () => {
  const draining = (drainMs: number, pieces: number) => {
    const lasting = Stream.range(1, pieces).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((n) => Effect.as(Effect.sleep("20 millis"), new TextEncoder().encode(`${n} `)))
    )
    const answer = route("GET", "/lasting", streamAnswer(lasting, { contentType: "text/plain" }))
    return Effect.gen(function* () {
      const { url } = yield* HttpListener
      const response = yield* Effect.promise(() => fetch(`${url}/lasting`))
      const reading = yield* Effect.forkChild(Effect.exit(Effect.tryPromise(() => response.text())), {
        startImmediately: true
      })
      const drained = yield* Effect.forkChild(
        Effect.flatMap(Drain, (drain) => drain.run),
        { startImmediately: true }
      )
      yield* pause(20)
      const refused = yield* Effect.exit(Effect.tryPromise(() => fetch(`${url}/lasting`)))
      assert.isTrue(Exit.isFailure(refused))
      assert.isFalse((yield* (yield* Health).ready).ok)
      assert.isTrue(yield* Fiber.join(drained))
      return yield* Fiber.join(reading)
    }).pipe(Effect.provide(api([answer], { limits: { drainMs } })))
  }

  it.live("refuses new connections and lets a stream that runs end whole", () =>
    Effect.gen(function* () {
      const read = yield* draining(5_000, 10)
      assert.deepStrictEqual(read, Exit.succeed("1 2 3 4 5 6 7 8 9 10 "))
    })
  )

  it.live("cuts what runs longer than its patience", () =>
    Effect.gen(function* () {
      assert.isTrue(Exit.isFailure(yield* draining(100, 10_000)))
    })
  )

  it.live.each([
    ["stays open", ""],
    ["is closed after it", "connection: close\r\n"]
  ] as const)("lasts until a slow reader has an answer to its last byte, on a connection that %s", ([, header]) => {
    const bytes = 200_000
    const answer = route(
      "GET",
      "/much",
      streamAnswer(Stream.make(new Uint8Array(bytes)), { contentType: "text/plain" })
    )
    return Effect.gen(function* () {
      const socket = yield* dial
      socket.write(`GET /much HTTP/1.1\r\nhost: x\r\n${header}\r\n`)
      // All of it is out of the process before anything is read.
      yield* pause(100)
      const drained = yield* Effect.forkChild(
        Effect.flatMap(Drain, (drain) => drain.run),
        { startImmediately: true }
      )
      yield* pause(100)
      assert.isUndefined(drained.pollUnsafe())
      const text = yield* readAll(socket)
      assert.isAbove(text.length, bytes)
      assert.isUndefined(drained.pollUnsafe())
      socket.end()
      assert.isTrue(yield* Fiber.join(drained))
    }).pipe(Effect.scoped, Effect.provide(api([answer])))
  })

  it.live("interrupts what runs when the layer is closed without one", () =>
    Effect.gen(function* () {
      const [begun, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const never = route(
        "GET",
        "/never",
        Effect.onInterrupt(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never), () =>
          Deferred.succeed(ended, undefined)
        )
      )
      yield* Effect.gen(function* () {
        const socket = yield* dial
        socket.write("GET /never HTTP/1.1\r\nhost: a\r\n\r\n")
        yield* Deferred.await(begun)
      }).pipe(Effect.scoped, Effect.provide(api([never])))
      yield* Effect.timeout(Deferred.await(ended), "10 seconds")
    })
  )
})
