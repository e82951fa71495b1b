import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { HttpCall, jsonAnswer, route } from "#http"
import { api, dial, readAll } from "../api.ts"
import { answers, echo, gone } from "../voices-api.ts"

describe("an API on a socket", () => {
  it.live("cuts headers and bodies that trickle, and refuses anything but HTTP", () =>
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

  it.live("gives every refusal that the listener writes the headers of its API", () =>
    Effect.gen(function* () {
      const requests = [
        ["408", "GET / HTTP/1.1\r\nhost: a\r\n"],
        ["400", "hello\r\n\r\n"],
        ["431", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
        ["404", "GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
        ["405", "DELETE /voices HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
        [
          "413",
          `POST /voices HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n`
        ],
        [
          "415",
          `POST /voices HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\n{}`
        ]
      ] as const
      for (const [status, bytes] of requests) {
        const socket = yield* dial
        socket.write(bytes)
        const [head = "", body = ""] = (yield* readAll(socket).pipe(Effect.timeout("5 seconds"))).split("\r\n\r\n")
        assert.strictEqual(head.slice(9, 12), status, head)
        const { error } = JSON.parse(body) as { readonly error: { readonly code: string } }
        assert.include(head, `x-error-code: ${error.code}`, status)
        assert.match(head, /^x-request-id: /mu)
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(
        api([echo], {
          limits: { headersTimeoutMs: 200, requestTimeoutMs: 400 },
          errorHeaders: ({ code }) => ({ "x-error-code": code })
        }).pipe(Layer.provide(answers))
      )
    )
  )

  it.live("answers pipelined requests one after the other, in order", () => {
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

  it.live("cuts a connection with too many pipelined requests, or with an idle gap between two", () => {
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

  it.live("refuses connections above its bound", () =>
    Effect.gen(function* () {
      yield* dial
      const second = yield* dial
      assert.strictEqual(yield* readAll(second), "")
    }).pipe(Effect.scoped, Effect.provide(api([], { limits: { connectionsMax: 1 } })))
  )
})
