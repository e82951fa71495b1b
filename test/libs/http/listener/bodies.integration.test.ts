import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Admission, BodyRoom, jsonAnswer, readBytesWhile, route } from "#http"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, call, dial, errorOf, pause, post, readAll } from "../api.ts"
import { standing } from "../voices-api.ts"

/** A route that takes a place and room for its body. */
const measured = (
  bytesMaxPlain: number,
  limits?: { readonly headersTimeoutMs: number; readonly requestTimeoutMs: number }
) => {
  const bounds = { bytesMax: 90_000, bytesMaxPlain, mayBeLarger: (head: Uint8Array) => head[0] === 42 }
  const length = Effect.gen(function* () {
    yield* (yield* Admission).enter("callers")
    const room = yield* (yield* BodyRoom).held
    return jsonAnswer({ bytes: (yield* readBytesWhile({ ...bounds, room })).length })
  })
  return api([route("POST", "/length", length)], limits === undefined ? {} : { limits }).pipe(
    Layer.provideMerge(Admission.layer({ runningMax: 1, perWorkspaceMax: 1 })),
    Layer.provideMerge(BodyRoom.layer({ api: "test", bytesMax: 100_000 })),
    Layer.provideMerge(Metrics.layerTest)
  )
}

const isFree = Effect.gen(function* () {
  yield* eventually((yield* Admission).running, { is: (running) => running === 0 })
  const { growTo } = yield* (yield* BodyRoom).held
  assert.isTrue(growTo(100_000))
})

describe("an API on a socket", () => {
  it.live("reads JSON by a schema and answers with its services' results", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", JSON.stringify({ name: "Ann", turns: [{ speed: 1 }], more: 1 }))
      assert.strictEqual(answer.status, 201)
      assert.deepStrictEqual(answer.body, { name: "Ann", turns: [{ speed: 1 }], word: "yes" })
    }).pipe(Effect.provide(standing))
  )

  it.live("names every fault of a body by its path", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", '{"name":"","turns":[{"speed":1},{"speed":"fast"}]}')
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(errorOf(answer).code, "validation_failed")
      assert.deepStrictEqual(Object.keys(errorOf(answer).fields ?? {}), ["name", "turns[1].speed"])
    }).pipe(Effect.provide(standing))
  )

  it.live("refuses malformed JSON and names the position", () =>
    Effect.gen(function* () {
      const answer = yield* post("/voices", '{"name": x}')
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(errorOf(answer).details?.offset, 9)
    }).pipe(Effect.provide(standing))
  )

  it.live("refuses bodies that are not UTF-8, not JSON, or empty", () =>
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

  it.live("reads beyond a first limit only a body that begins as a larger one may", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("/length", "x".repeat(101))).status, 413)
      assert.deepStrictEqual((yield* post("/length", `*${"x".repeat(89_999)}`)).body, { bytes: 90_000 })
      assert.strictEqual((yield* post("/length", `*${"x".repeat(90_000)}`)).status, 413)
      yield* isFree
    }).pipe(Effect.scoped, Effect.provide(measured(100)))
  )

  it.live("gives place and room back when a body does not come in time", () =>
    Effect.gen(function* () {
      const socket = yield* dial
      socket.write("POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 90000\r\n\r\nhalf")
      const { text } = yield* Metrics
      // A little ahead of what came, not all that was announced.
      yield* eventually(text, { is: (now) => /http_body_bytes_held\{[^}]*\} 65540/u.test(now) })
      assert.match(yield* readAll(socket), /^HTTP\/1\.1 408 /u)
      yield* isFree
    }).pipe(Effect.scoped, Effect.provide(measured(90_000, { headersTimeoutMs: 400, requestTimeoutMs: 800 })))
  )

  it.live("gives place and room back when a caller leaves before its body has come", () =>
    Effect.gen(function* () {
      const socket = yield* dial
      socket.write("POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf")
      yield* eventually((yield* Admission).running, { is: (running) => running === 1 })
      socket.destroy()
      yield* isFree
      const { text } = yield* Metrics
      const isGone = (now: string) => /http_requests_total\{[^}]*route="\/length",status="gone"\} 1/u.test(now)
      yield* eventually(text, { is: isGone })
    }).pipe(Effect.scoped, Effect.provide(measured(90_000)))
  )

  it.live("serves a caller who leaves a body unread, and keeps the connection", () => {
    const deaf = route("POST", "/deaf", Effect.succeed(jsonAnswer({ ok: true })))
    return Effect.gen(function* () {
      const socket = yield* dial
      const answer = yield* Effect.forkChild(readAll(socket), { startImmediately: true })
      const one = `POST /deaf HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n${"x".repeat(1_000)}`
      socket.write(`${one}${one.replace("host: a", "host: a\r\nconnection: close")}`)
      assert.strictEqual((yield* Fiber.join(answer)).split('{"ok":true}').length, 3)
    }).pipe(Effect.scoped, Effect.provide(api([deaf])))
  })
})
