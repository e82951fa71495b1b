import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { jsonAnswer, route } from "#http"
import { api, call, dial, errorOf, pause, post, readAll } from "../api.ts"
import { standing } from "../voices-api.ts"

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
