import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AddressRefused, type EgressRequest, type Proxy, type ResolvedAddress, Resolver, UntrustedHttp } from "#egress"
import { startForwardProxy } from "../../support/forward-proxy.ts"
import { certificate, egress, listen, loopback } from "../../support/receivers.ts"

const tls = certificate()

interface Networks {
  readonly allow?: ReadonlyArray<string>
  readonly proxyAllow?: ReadonlyArray<string>
  readonly names?: Readonly<Record<string, ReadonlyArray<string>>>
}

/** A client whose names resolve as given: here, whatever the proxy would make of them. */
const open = ({ allow = loopback, proxyAllow = loopback, names = {} }: Networks = {}) =>
  Effect.flatMap(UntrustedHttp, (untrusted) =>
    untrusted.open({
      use: "test",
      allowCidrs: allow,
      proxyAllowCidrs: proxyAllow,
      connectionsPerLaneMax: 1,
      lanesMax: 8,
      connectTimeoutMs: 1_000
    })
  ).pipe(
    Effect.provideService(Resolver, (host, done) =>
      done(
        null,
        (names[host] ?? []).map((address): ResolvedAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
      )
    )
  )

const callOf = (url: string, proxy: Proxy, trusted?: string): EgressRequest => ({
  method: "POST",
  url,
  headers: {},
  body: new TextEncoder().encode("hello"),
  deadlineMs: 3_000,
  responseBytesMax: 1_024,
  via: { proxy, trusted }
})

const echo = Effect.gen(function* () {
  const seen: Array<string | undefined> = []
  const server = createServer((request, response) => {
    seen.push(request.headers.host)
    request.pipe(response)
  })
  return { seen, ...(yield* listen(server, "127.0.0.1")) }
})

describe("a call through a proxy", () => {
  it.effect("by http asks it for the judged address, keeps the name for the receiver, and the connection alive", () =>
    Effect.gen(function* () {
      const [receiver, proxy] = [yield* echo, yield* startForwardProxy()]
      const client = yield* open({ names: { "receiver.example": ["127.0.0.1"] } })
      const via: Proxy = { url: proxy.url, authorization: "Basic dXM6c2VjcmV0" }
      const call = callOf(`http://receiver.example:${receiver.port}/`, via)
      for (let nth = 0; nth < 3; nth += 1) {
        const { status, body } = yield* client.request(call)
        assert.deepStrictEqual([status, new TextDecoder().decode(body)], [200, "hello"])
      }
      assert.deepStrictEqual(proxy.asked, [
        { authority: `127.0.0.1:${receiver.port}`, authorization: "Basic dXM6c2VjcmV0" }
      ])
      assert.deepStrictEqual(receiver.seen[0], `receiver.example:${receiver.port}`)
    }).pipe(Effect.provide(egress))
  )

  it.effect("by https checks the receiver's certificate against its name", () =>
    Effect.gen(function* () {
      const server = createTlsServer(tls, (request, response) => void request.pipe(response))
      const { port } = yield* listen(server, "127.0.0.1")
      const proxy = yield* startForwardProxy()
      const client = yield* open({ names: { localhost: ["127.0.0.1"], "other.example": ["127.0.0.1"] } })
      const { status } = yield* client.request(callOf(`https://localhost:${port}/`, proxy, tls.cert))
      assert.strictEqual(status, 200)
      const wrong = yield* Effect.flip(client.request(callOf(`https://other.example:${port}/`, proxy, tls.cert)))
      assert.include(wrong.message, "ERR_TLS_CERT_ALTNAME_INVALID")
      assert.strictEqual(proxy.asked[0]?.authority, `127.0.0.1:${port}`)
    }).pipe(Effect.provide(egress))
  )

  it.effect("tries the next address of a name when the proxy does not reach the first", () =>
    Effect.gen(function* () {
      const receiver = yield* echo
      const proxy = yield* startForwardProxy({
        answer: (authority) => (authority.startsWith("[") ? "HTTP/1.1 502 no route\r\n\r\n" : undefined)
      })
      const client = yield* open({
        allow: [...loopback, "::1/128"],
        names: { "receiver.example": ["::1", "127.0.0.1"] }
      })
      const { status } = yield* client.request(callOf(`http://receiver.example:${receiver.port}/`, proxy))
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        proxy.asked.map(({ authority }) => authority),
        [`[::1]:${receiver.port}`, `127.0.0.1:${receiver.port}`]
      )
    }).pipe(Effect.provide(egress))
  )

  for (const [what, host, names] of [
    ["a literal address", "10.0.0.1", {}],
    ["a name", "inside.example", { "inside.example": ["10.0.0.1"] }],
    ["the proxy's own machine", "self.example", { "self.example": ["127.0.0.1"] }]
  ] as const) {
    it.effect(`to a private receiver, ${what}, is refused before the proxy hears of it`, () =>
      Effect.gen(function* () {
        const proxy = yield* startForwardProxy()
        const client = yield* open({ allow: [], names })
        const error = yield* Effect.flip(client.request(callOf(`http://${host}/`, proxy)))
        assert.instanceOf(error, AddressRefused)
        assert.include(error.message, "; AllowCidrs can open it")
        assert.isEmpty(proxy.asked)
      }).pipe(Effect.provide(egress))
    )
  }

  it.effect("is refused when the proxy itself is private, unless its own list allows it", () =>
    Effect.gen(function* () {
      const [receiver, proxy] = [yield* echo, yield* startForwardProxy()]
      const client = yield* open({ proxyAllow: [] })
      const error = yield* Effect.flip(client.request(callOf(`http://127.0.0.1:${receiver.port}/`, proxy)))
      assert.instanceOf(error, AddressRefused)
      assert.include(error.message, "127.0.0.1 is 127.0.0.1, in the range loopback")
      assert.include(error.message, "; ProxyAllowCidrs can open it")
      assert.isEmpty(proxy.asked)
    }).pipe(Effect.provide(egress))
  )

  for (const [what, answer, message] of [
    ["wants credentials", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "answered 407 to CONNECT"],
    ["speaks another protocol", "SSH-2.0-x\r\n\r\n", "answered in another protocol"],
    ["hangs up", "", "hung up"],
    ["never ends its head", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`, "answered with too long a head"]
  ] as const) {
    it.effect(`fails, and says so, when the proxy ${what}`, () =>
      Effect.gen(function* () {
        const proxy = yield* startForwardProxy({ answer: () => answer })
        const client = yield* open()
        const error = yield* Effect.flip(client.request(callOf("http://127.0.0.1:9/", proxy)))
        assert.include(error.message, `connect: the proxy ${proxy.url} ${message}`)
      }).pipe(Effect.provide(egress))
    )
  }

  it.live("fails in time when the proxy says nothing", () =>
    Effect.gen(function* () {
      const server = createServer()
      const held: Array<{ destroy: () => void }> = []
      server.on("connect", (_request, socket) => void held.push(socket.on("error", () => {})))
      const { port } = yield* listen(server, "127.0.0.1")
      yield* Effect.addFinalizer(() => Effect.sync(() => held.forEach((socket) => socket.destroy())))
      const client = yield* open()
      const proxy = { url: `http://127.0.0.1:${port}` }
      const error = yield* Effect.flip(client.request(callOf("http://127.0.0.1:9/", proxy)))
      assert.include(error.message, `no connection within 1000 ms: the proxy ${proxy.url} did not answer`)
    }).pipe(Effect.provide(egress))
  )
})
