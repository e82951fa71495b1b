import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { HttpCall, jsonAnswer, route } from "#http"
import { api, dial, readAll } from "../api.ts"
import { answers, echo, gone } from "../voices-api.ts"

const headRoute = route("POST", "/head", Effect.succeed(jsonAnswer({})))

const heads = [
  { name: "one host", head: "host: a", status: "200" },
  { name: "an empty host", head: "host:", status: "200" },
  { name: "no host", head: "accept: */*", status: "400" },
  { name: "two hosts", head: "host: a\r\nhost: b", status: "400" },
  { name: "the same host twice", head: "Host: a\r\nhOST: a", status: "400" },
  { name: "two tokens", head: "host: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b", status: "400" },
  {
    name: "two tokens for a proxy",
    head: "host: a\r\nproxy-authorization: a\r\nproxy-authorization: b",
    status: "400"
  },
  { name: "two types", head: "host: a\r\ncontent-type: text/html\r\ncontent-type: application/json", status: "400" },
  { name: "two origins", head: "host: a\r\norigin: https://a.example\r\norigin: https://b.example", status: "400" },
  { name: "two keys", head: "host: a\r\nidempotency-key: a\r\nidempotency-key: b", status: "400" },
  { name: "two lengths", head: "host: a\r\ncontent-length: 0\r\ncontent-length: 0", status: "400" },
  { name: "a list of lengths", head: "host: a\r\ncontent-length: 0, 0", status: "400" },
  { name: "a length and chunks", head: "host: a\r\ncontent-length: 0\r\ntransfer-encoding: chunked", status: "400" },
  { name: "chunks twice", head: "host: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked", status: "400" },
  { name: "a space before a colon", head: "host : a", status: "400" },
  { name: "a folded header", head: "host: a\r\nx: y\r\n z", status: "400" },
  // Lists, which may come in parts.
  { name: "what it accepts in parts", head: "host: a\r\naccept: text/html\r\naccept: */*", status: "200" },
  { name: "cookies in parts", head: "host: a\r\ncookie: a=1\r\ncookie: b=2", status: "200" },
  { name: "hops in parts", head: "host: a\r\nx-forwarded-for: 10.0.0.1\r\nx-forwarded-for: 10.0.0.2", status: "200" }
]

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

  it.live.each(heads)("answers a head with $name as HTTP wants: $status", ({ head, status }) =>
    Effect.gen(function* () {
      const socket = yield* dial
      socket.write(`POST /head HTTP/1.1\r\n${head}\r\nconnection: close\r\n\r\n`)
      const text = yield* readAll(socket).pipe(Effect.timeout("5 seconds"))
      assert.strictEqual(text.slice(9, 12), status, text)
      if (status === "400") assert.include(text, '"code":"bad_request"')
    }).pipe(Effect.scoped, Effect.provide(api([headRoute])))
  )

  it.live("takes a head without a host of HTTP/1.0 alone", () =>
    Effect.gen(function* () {
      const socket = yield* dial
      socket.write("POST /head HTTP/1.0\r\n\r\n")
      assert.match(yield* readAll(socket), /^HTTP\/1\.1 200 /u)
    }).pipe(Effect.scoped, Effect.provide(api([headRoute])))
  )

  it.live("begins nothing of what follows a head with two hosts, and lets no WebSocket begin with one", () => {
    const begun: Array<string> = []
    const noted = route(
      "GET",
      "/noted/:n",
      Effect.gen(function* () {
        begun.push(String((yield* HttpCall).params["n"]))
        return jsonAnswer({})
      })
    )
    const webSockets = { messageBytesMax: 1_000, pingEveryMs: 60_000, stallMs: 60_000, protocols: [] }
    return Effect.gen(function* () {
      const request = (n: number, host: string) => `GET /noted/${n} HTTP/1.1\r\n${host}\r\n\r\n`
      const socket = yield* dial
      socket.write(request(1, "host: a") + request(2, "host: a\r\nhost: b") + request(3, "host: a"))
      const text = yield* readAll(socket).pipe(Effect.timeout("5 seconds"))
      assert.deepStrictEqual(
        [...text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status),
        ["200", "400"]
      )
      const upgrade = yield* dial
      const key = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
      upgrade.write(request(4, `host: a\r\nhost: b\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${key}`))
      const refused = yield* readAll(upgrade).pipe(Effect.timeout("5 seconds"))
      assert.match(refused, /^HTTP\/1\.1 400 [\s\S]*the header host is there twice/u)
      assert.deepStrictEqual(begun, ["1"])
    }).pipe(Effect.scoped, Effect.provide(api([noted], { webSockets })))
  })

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
