import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type EgressClient, type EgressRequest, Resolver } from "#egress"
import { type RawRequest, rawReceiver, slowListener } from "../../support/raw-receiver.ts"
import { certificate, egress, listen, loopback, openClient } from "../../support/receivers.ts"

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
const interim = "HTTP/1.1 100 Continue\r\n\r\n"

const order = (port: number, more: Partial<EgressRequest> = {}): EgressRequest => ({
  method: "POST",
  url: `http://127.0.0.1:${port}/`,
  headers: {},
  body: new TextEncoder().encode("hello"),
  deadlineMs: 3_000,
  responseBytesMax: 1_024,
  ...more
})

const trying = <A, E>(
  answer: (request: RawRequest) => void,
  then: (client: EgressClient, server: Effect.Success<ReturnType<typeof rawReceiver>>) => Effect.Effect<A, E>,
  connections = 1
) =>
  Effect.gen(function* () {
    const server = yield* rawReceiver(answer)
    const client = yield* openClient({ allow: loopback, connections })
    return yield* then(client, server)
  }).pipe(Effect.scoped, Effect.provide(egress))

const bytewise = ({ socket }: Pick<RawRequest, "socket">, text: string) => {
  const [first, ...rest] = text
  if (first === undefined) return
  socket.write(first, () => setImmediate(bytewise, { socket }, rest.join("")))
}

describe("an interim answer that nobody asked for", () => {
  it.effect.each<readonly [what: string, answer: (request: RawRequest) => void]>([
    ["a 100", ({ socket }) => socket.write(interim + ok)],
    [
      "a 100 in a packet of its own",
      ({ socket }) => socket.write(interim, () => setTimeout(() => socket.write(ok), 20))
    ],
    ["a 100 byte by byte", (request) => bytewise(request, interim + ok)],
    ["a 100 with headers", ({ socket }) => socket.write(`HTTP/1.1 100 Go on\r\nx: y\r\n\r\n${ok}`)],
    ["three of them", ({ socket }) => socket.write(interim.repeat(3) + ok)],
    [
      "a 100, a 102 and a 103",
      ({ socket }) => socket.write(`${interim}HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </x>\r\n\r\n${ok}`)
    ]
  ])("is passed over: %s", ([, answer]) =>
    trying(answer, (client, server) =>
      Effect.gen(function* () {
        for (let index = 0; index < 3; index++) {
          const response = yield* client.request(order(server.port))
          assert.strictEqual(`${response.status} ${Buffer.from(response.body).toString()}`, "200 ok")
          assert.notProperty(response.headers, "link")
        }
        assert.strictEqual(server.connections(), 1)
        const head = yield* Effect.scoped(
          Effect.gen(function* () {
            const answer = yield* client.stream({ ...order(server.port), headersMs: 1_000, stallMs: 1_000 })
            return [answer.status, Buffer.concat(yield* Stream.runCollect(answer.body)).toString()]
          })
        )
        assert.deepStrictEqual(head, [200, "ok"])
      })
    )
  )

  it.live("is no head: a receiver that says nothing more is waited for as one that said nothing", () =>
    trying(
      ({ socket }) => socket.write(interim),
      (client, server) =>
        Effect.gen(function* () {
          for (const isHeadEnough of [false, true]) {
            const error = yield* Effect.flip(client.request(order(server.port, { deadlineMs: 200, isHeadEnough })))
            assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "headers", status: null })
          }
        })
    )
  )
})

describe("the head of an answer", () => {
  const withHeaders = (bytes: number) => {
    const lines = `x: ${"a".repeat(6_000)}\r\n`.repeat(Math.floor(bytes / 6_000))
    return `HTTP/1.1 200 OK\r\n${lines}content-length: 2\r\n\r\nok`
  }

  it.effect("may have 64 kB of headers", () =>
    trying(
      ({ nth, socket }) => socket.write(withHeaders(nth === 1 ? 60_000 : 72_000)),
      (client, server) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* client.request(order(server.port))).status, 200)
          assert.deepInclude(yield* Effect.flip(client.request(order(server.port))), { reason: "protocol" })
        })
    )
  )

  it.effect("ends its lines with CR and LF: one that does not is refused, as documented", () =>
    trying(
      ({ socket }) => socket.write(ok.replaceAll("\r\n", "\n")),
      (client, server) =>
        Effect.gen(function* () {
          assert.deepInclude(yield* Effect.flip(client.request(order(server.port))), { reason: "protocol" })
        })
    )
  )
})

describe("a body that does not end as it should", () => {
  const begun = "HTTP/1.1 200 OK\r\n"
  const bodies: ReadonlyArray<readonly [what: string, answer: (request: RawRequest) => void]> = [
    ["never ends", ({ socket }) => socket.write(`${begun}content-length: 9\r\n\r\nok`)],
    ["is cut off", ({ socket }) => socket.end(`${begun}content-length: 9\r\n\r\nok`)],
    [
      "is reset",
      ({ socket }) =>
        socket.write(`${begun}content-length: 9\r\n\r\nok`, () => setTimeout(() => socket.resetAndDestroy(), 50))
    ],
    ["has a broken chunk", ({ socket }) => socket.write(`${begun}transfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n`)]
  ]

  it.live.each(bodies)("%s: where the head is enough, the head counts", ([, answer]) =>
    trying(answer, (client, server) =>
      Effect.gen(function* () {
        const response = yield* client.request(order(server.port, { deadlineMs: 400, isHeadEnough: true }))
        assert.deepInclude(response, { status: 200, truncated: true })
        assert.strictEqual(Buffer.from(response.body).toString(), "ok")
        assert.strictEqual(server.requests(), 1)
      })
    )
  )

  it.live.each(bodies)("%s: elsewhere it is a failure", ([, answer]) =>
    trying(answer, (client, server) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(client.request(order(server.port, { deadlineMs: 400, isRepeatable: true })))
        assert.include(["DeadlineExceeded", "Unreachable"], error._tag)
        assert.strictEqual(server.requests(), 1)
      })
    )
  )
})

describe("a receiver that hangs up on an idle connection as a request comes", () => {
  type HangUp = readonly [how: string, hangUp: (request: RawRequest) => void]
  const ways: ReadonlyArray<HangUp> = [
    ["with a reset", ({ reset }) => reset()],
    ["with an end", ({ socket }) => socket.end()]
  ]
  const pair = certificate()
  /** The second request of a connection is never answered. */
  const upon = (hangUp: (request: RawRequest) => void) => (request: RawRequest) =>
    request.onConnection === 1 ? request.socket.write(ok) : hangUp(request)

  for (const protocol of ["http", "https"]) {
    it.effect.each(ways)(`${protocol}, %s: is asked once more, at once, on a new connection`, ([, hangUp]) =>
      Effect.gen(function* () {
        const server = yield* rawReceiver(upon(hangUp), protocol === "https" ? pair : undefined)
        const client = yield* openClient({ allow: loopback, connections: 1, trusted: pair.cert })
        let left = 0
        const url = `${protocol}://127.0.0.1:${server.port}/`
        const request = order(server.port, { url, isRepeatable: true, onLeave: () => (left += 1) })
        for (let index = 0; index < 3; index++) assert.strictEqual((yield* client.request(request)).status, 200)
        assert.strictEqual(left, 3)
        assert.isAtLeast(server.connections(), 2)
        assert.isAtLeast(server.requests(), 4)
        const once = yield* client.request({ ...request, isRepeatable: false }).pipe(Effect.result)
        const again = yield* Effect.flip(client.request({ ...request, isRepeatable: false })).pipe(Effect.result)
        assert.include([once._tag, again._tag], "Failure")
      }).pipe(Effect.scoped, Effect.provide(egress))
    )
  }

  it.effect("is asked no second time once a byte of an answer came", () =>
    trying(
      upon(({ socket }) => socket.write("H", () => socket.resetAndDestroy())),
      (client, server) =>
        Effect.gen(function* () {
          const request = order(server.port, { isRepeatable: true })
          yield* client.request(request)
          assert.deepInclude(yield* Effect.flip(client.request(request)), { _tag: "Unreachable" })
          assert.strictEqual(server.requests(), 2)
        })
    )
  )

  it.effect("is asked no second time on a first connection, and no third time", () =>
    trying(
      ({ nth, socket }) => (nth === 2 ? socket.write(ok) : socket.resetAndDestroy()),
      (client, server) =>
        Effect.gen(function* () {
          const request = order(server.port, { isRepeatable: true })
          assert.deepInclude(yield* Effect.flip(client.request(request)), { reason: "reset" })
          assert.strictEqual(server.requests(), 1)
          yield* client.request(request)
          assert.deepInclude(yield* Effect.flip(client.request(request)), { reason: "reset" })
          assert.strictEqual(server.requests(), 4)
        })
    )
  )

  it.effect("is not asked again by who may not send any more", () =>
    trying(
      upon(({ socket }) => socket.resetAndDestroy()),
      (client, server) =>
        Effect.gen(function* () {
          let asked = 0
          const request = order(server.port, { isRepeatable: true, mayLeave: () => (asked += 1) < 3 })
          yield* client.request(request)
          assert.deepInclude(yield* Effect.flip(client.request(request)), { reason: "reset" })
          assert.strictEqual(server.requests(), 2)
        })
    )
  )
})

describe("a connection", () => {
  it.effect("that is always busy is left for a new one within a minute, by the name's new address", () =>
    Effect.gen(function* () {
      const server = yield* rawReceiver(({ socket }) => socket.write(ok))
      let asked = 0
      const client = yield* openClient({ allow: loopback, connections: 1 }).pipe(
        Effect.provideService(Resolver, (_host, done) => {
          asked += 1
          done(null, [{ address: `127.0.0.${asked}`, family: 4 }])
        })
      )
      const now = Date.now
      let aheadMs = 0
      yield* Effect.acquireRelease(
        Effect.sync(() => (Date.now = () => now() + aheadMs)),
        () => Effect.sync(() => (Date.now = now))
      )
      for (; aheadMs <= 300_000; aheadMs += 10_000) {
        yield* client.request(order(server.port, { url: `http://moving.example:${server.port}/` }))
      }
      assert.isTrue(asked >= 4 && asked <= 6, `resolved ${asked} times in five minutes`)
      assert.strictEqual(server.connections(), asked)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )
})

describe("a name with several addresses", () => {
  const call = (client: EgressClient, port: number, deadlineMs = 8_000) =>
    client.request(order(port, { url: `http://many.example:${port}/`, deadlineMs }))
  const named = (addresses: ReadonlyArray<string>, connectTimeoutMs = 5_000) =>
    openClient({ allow: ["127.0.0.0/8", "::1/128"], names: { "many.example": addresses }, connectTimeoutMs })

  it.live("is reached where a handshake takes a second and the other family has no route", () =>
    Effect.gen(function* () {
      const slow = yield* slowListener("127.0.0.1")
      for (const addresses of [
        ["127.0.0.1", "::1"],
        ["::1", "127.0.0.1"]
      ]) {
        const client = yield* named(addresses)
        setTimeout(slow.letIn, 500)
        assert.strictEqual((yield* call(client, slow.port)).status, 200)
      }
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("is reached by the next address a moment later where the first is silent", () =>
    Effect.gen(function* () {
      const server = yield* listen(
        createServer((_request, response) => response.end("ok")),
        "127.0.0.1"
      )
      yield* slowListener("127.0.0.2", server.port)
      const client = yield* named(["127.0.0.2", "127.0.0.1"])
      const startedMs = performance.now()
      assert.strictEqual((yield* call(client, server.port)).status, 200)
      assert.isBelow(performance.now() - startedMs, 3_000)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("says of each address what happened when none is reached", () =>
    Effect.gen(function* () {
      const slow = yield* slowListener("127.0.0.1")
      const client = yield* named(["127.0.0.1", "::1"], 600)
      const error = yield* Effect.flip(call(client, slow.port))
      assert.deepInclude(error, { _tag: "Unreachable", reason: "connect" })
      assert.include(error.message, "no connection within 600 ms")
      assert.include(error.message, "127.0.0.1 did not answer")
      assert.match(error.message, /::1 E[A-Z]+/u)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.effect("says what refused each of them", () =>
    Effect.gen(function* () {
      const client = yield* named(["127.0.0.1", "127.0.0.2"])
      const error = yield* Effect.flip(call(client, 1))
      assert.include(error.message, "127.0.0.1 ECONNREFUSED; 127.0.0.2 ECONNREFUSED")
    }).pipe(Effect.scoped, Effect.provide(egress))
  )
})
