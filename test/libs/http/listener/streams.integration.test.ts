import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { eventsAnswer, HttpListener, jsonEvent, route, streamAnswer, WireError } from "#http"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, call, dial, errorOf, type LogLine, pause } from "../api.ts"

const endless = (onPull: () => void, onEnd: (exit: Exit.Exit<unknown, unknown>) => void) =>
  Stream.fromEffectRepeat(Effect.sync(() => (onPull(), new Uint8Array(65_536)))).pipe(
    Stream.onExit((exit) => Effect.sync(() => onEnd(exit)))
  )

describe("streamed answers", () => {
  it.live("are made no faster than they are read, and a stalled reader is cut", () => {
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
      yield* eventually(() => ended)
      const { text } = yield* Metrics
      const isCut = (now: string) => /http_connections_cut_total\{[^}]*reason="stalled"\} 1/u.test(now)
      yield* eventually(text, { is: isCut })
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

  it.live("are interrupted at once when the caller leaves, even between two pieces", () => {
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
      /** How long the handler continues after its caller has left. */
      const goesOnMs = Effect.fnUntraced(function* (path: string) {
        interrupted.length = 0
        calls += 1
        const socket = yield* dial
        socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
        yield* eventually(() => begun, { is: calls })
        const leftAt = performance.now()
        socket.destroy()
        yield* eventually(() => interrupted.length, { is: (length) => length > 0 })
        return (interrupted[0] ?? Infinity) - leftAt
      })
      for (const path of ["/audio", "/events", "/thinking"]) {
        // Other load on the machine can only make it later.
        let best = Infinity
        for (let time = 0; time < timesMax && best >= 100; time++) best = Math.min(best, yield* goesOnMs(path))
        assert.isBelow(best, 100, path)
      }
      const { text } = yield* Metrics
      yield* eventually(text, { is: (now) => /http_requests_active\{[^}]*\} 0/u.test(now) })
      const gone = [...(yield* text).matchAll(/http_requests_total\{[^}]*status="gone"\} (\d+)/gu)]
      assert.strictEqual(
        gone.reduce((sum, [, count]) => sum + Number(count), 0),
        calls
      )
    }).pipe(Effect.scoped, Effect.provide(api([audio, events, thinking])))
  })

  it.live("that fail before the first byte have a status, and afterwards a broken connection and a log line", () => {
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
      yield* eventually(() => lines.some(({ level }) => level === "Error"))
      const told = lines.find(({ level }) => level === "Error")
      assert.include(told?.text, "the engine fell over")
      assert.strictEqual(told?.annotations["request_id"], "r-2")
    }).pipe(Effect.provide(api([early, late], {}, lines)))
  })

  it.live("of events have heartbeats in silence, and lose nothing by it", () => {
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

  it.live("of events end with one that names the reason", () => {
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
