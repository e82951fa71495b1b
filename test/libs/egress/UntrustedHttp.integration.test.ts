import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { AddressRefused, type HttpDoor, type ResolvedAddress, Resolver, UntrustedHttp } from "#egress"
import { Metrics } from "#runtime"

interface Listening {
  readonly port: number
  /** Connections that were ever made to it. */
  readonly connections: () => number
}

const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<Listening>((resume) => {
      let connections = 0
      server.on("connection", () => (connections += 1))
      server.listen(0, () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, connections: () => connections }))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        if ("closeAllConnections" in server) (server as { closeAllConnections: () => void }).closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

const serve = (handler: RequestListener) => listen(createServer(handler))

const certificate = () => {
  const folder = mkdtempSync(join(tmpdir(), "starling-tls-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "1",
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-keyout",
      key,
      "-out",
      cert
    ],
    { stdio: "ignore" }
  )
  const pair = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  rmSync(folder, { recursive: true })
  return pair
}

const egress = UntrustedHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

const openDoor = (
  options: {
    connections?: number
    allow?: ReadonlyArray<string>
    trusted?: string
    names?: Record<string, ReadonlyArray<string>>
  } = {}
) =>
  Effect.gen(function* () {
    const untrusted = yield* UntrustedHttp
    const door = untrusted.open({
      use: "test",
      allowCidrs: options.allow ?? [],
      connectionsPerLaneMax: options.connections ?? 4,
      lanesMax: 8,
      connectTimeoutMs: 1_000,
      trusted: options.trusted
    })
    const names = options.names
    if (names === undefined) return yield* door
    return yield* Effect.provideService(door, Resolver, (host, done) => {
      const addresses = (names[host] ?? []).map((address): ResolvedAddress => ({
        address,
        family: address.includes(":") ? 6 : 4
      }))
      done(null, addresses)
    })
  })

const post = (door: HttpDoor, url: string, options: { deadlineMs?: number; responseBytesMax?: number } = {}) =>
  door.request({
    method: "POST",
    url,
    headers: { "Content-Type": "text/plain" },
    body: new TextEncoder().encode("hello"),
    deadlineMs: options.deadlineMs ?? 3_000,
    responseBytesMax: options.responseBytesMax ?? 1_024
  })

const loopback = ["127.0.0.0/8"]

describe("a private receiver", () => {
  const hosts = [
    "localhost",
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "[::1]",
    "[64:ff9b::7f00:1]",
    "[::7f00:1]"
  ]
  const tls = certificate()

  for (const scheme of ["http", "https"] as const) {
    for (const host of hosts) {
      it.effect(`is refused as ${scheme}://${host} before anything is connected`, () =>
        Effect.gen(function* () {
          const handler: RequestListener = (_request, response) => response.end("inside")
          const server = yield* listen(scheme === "http" ? createServer(handler) : createTlsServer(tls, handler))
          const door = yield* openDoor({ trusted: tls.cert })

          const error = yield* Effect.flip(post(door, `${scheme}://${host}:${server.port}/`))

          assert.instanceOf(error, AddressRefused)
          assert.include(error.message, "which may not be called")
          assert.strictEqual(server.connections(), 0)
        }).pipe(Effect.provide(egress))
      )
    }

    it.effect(`answers over ${scheme} when its network is opened`, () =>
      Effect.gen(function* () {
        const handler: RequestListener = (_request, response) => response.end("inside")
        const server = yield* listen(scheme === "http" ? createServer(handler) : createTlsServer(tls, handler))
        const door = yield* openDoor({ trusted: tls.cert, allow: loopback })
        const response = yield* post(door, `${scheme}://127.0.0.1:${server.port}/`)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(server.connections(), 1)
      }).pipe(Effect.provide(egress))
    )
  }

  it.effect("is refused by a name that resolves to it, and the range is named", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end())
      const door = yield* openDoor({ names: { "receiver.example": ["127.0.0.1"] } })
      const error = yield* Effect.flip(post(door, `http://receiver.example:${server.port}/`))
      assert.instanceOf(error, AddressRefused)
      assert.include(error.message, "receiver.example is 127.0.0.1, in the range loopback (127.0.0.0/8)")
      assert.strictEqual(server.connections(), 0)
    }).pipe(Effect.provide(egress))
  )

  it.effect("is left out where a name has an allowed address beside it", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const door = yield* openDoor({
        allow: ["127.0.0.1/32"],
        names: { "receiver.example": ["10.255.255.1", "127.0.0.1"] }
      })
      assert.strictEqual((yield* post(door, `http://receiver.example:${server.port}/`)).status, 200)
    }).pipe(Effect.provide(egress))
  )

  it.effect("cannot be reached by a name that changes its mind once connected", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const names: Record<string, ReadonlyArray<string>> = { "receiver.example": ["127.0.0.1"] }
      const door = yield* openDoor({ connections: 1, allow: ["127.0.0.1/32"], names })
      const url = `http://receiver.example:${server.port}/`
      yield* post(door, url)
      names["receiver.example"] = ["10.0.0.1"]
      assert.strictEqual((yield* post(door, url)).status, 200)
      assert.strictEqual(server.connections(), 1)
    }).pipe(Effect.provide(egress))
  )
})

describe("a receiver that misbehaves", () => {
  it.live("by dripping a byte at a time costs one deadline", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write("."), 100)
        response.on("close", () => clearInterval(timer))
      })
      const door = yield* openDoor({ allow: loopback })
      const started = performance.now()
      const error = yield* Effect.flip(post(door, `http://127.0.0.1:${server.port}/`, { deadlineMs: 700 }))
      const tookMs = performance.now() - started
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "body", status: 200 })
      assert.isTrue(tookMs >= 699 && tookMs < 1_500, `${tookMs}`)
    }).pipe(Effect.provide(egress))
  )

  it.live("by never answering costs one deadline", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const door = yield* openDoor({ allow: loopback })
      const error = yield* Effect.flip(post(door, `http://127.0.0.1:${server.port}/`, { deadlineMs: 300 }))
      assert.deepInclude(error, { _tag: "DeadlineExceeded", phase: "headers" })
    }).pipe(Effect.provide(egress))
  )

  it.live("by sending without end is cut at the cap, at once", () =>
    Effect.gen(function* () {
      let sent = 0
      const server = yield* serve((_request, response) => {
        const block = Buffer.alloc(64 * 1_024)
        const more = () => {
          while (!response.destroyed && response.write(block)) sent += block.length
        }
        response.on("drain", more)
        more()
      })
      const door = yield* openDoor({ allow: loopback })
      const response = yield* post(door, `http://127.0.0.1:${server.port}/`, { responseBytesMax: 4_096 })
      assert.strictEqual(response.body.length, 4_096)
      assert.isTrue(response.truncated)
      assert.isBelow(sent, 64 * 1_024 * 1_024)
    }).pipe(Effect.provide(egress))
  )

  it.effect("by redirecting to the metadata service is not followed", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) =>
        response.writeHead(302, { Location: "http://169.254.169.254/latest" }).end()
      )
      const asked: Array<string> = []
      const door = yield* openDoor({ allow: loopback }).pipe(
        Effect.provideService(Resolver, (host, done) => {
          asked.push(host)
          done(null, [])
        })
      )
      const response = yield* post(door, `http://127.0.0.1:${server.port}/`)
      assert.strictEqual(response.status, 302)
      assert.strictEqual(server.connections(), 1)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(egress))
  )

  it.effect("by hanging up is told as a reset", () =>
    Effect.gen(function* () {
      const server = yield* serve((request) => request.socket.resetAndDestroy())
      const door = yield* openDoor({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(door, `http://127.0.0.1:${server.port}/`)), { reason: "reset" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("by not being there is told as a failed connection", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(
        Effect.map(
          serve(() => {}),
          (server) => server.port
        )
      )
      const door = yield* openDoor({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(door, `http://127.0.0.1:${port}/`)), { reason: "connect" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("by having no address is told as a name fault", () =>
    Effect.gen(function* () {
      const door = yield* openDoor({ names: {} })
      assert.deepInclude(yield* Effect.flip(post(door, "http://nowhere.example/")), { reason: "dns" })
    }).pipe(Effect.provide(egress))
  )

  it.effect("by an unknown certificate is told as a TLS fault", () =>
    Effect.gen(function* () {
      const server = yield* listen(createTlsServer(certificate(), (_request, response) => response.end()))
      const door = yield* openDoor({ allow: loopback })
      assert.deepInclude(yield* Effect.flip(post(door, `https://127.0.0.1:${server.port}/`)), { reason: "tls" })
    }).pipe(Effect.provide(egress))
  )
})

describe("a door", () => {
  it.effect("uses a connection again", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const door = yield* openDoor({ connections: 1, allow: loopback })
      for (let index = 0; index < 10; index++) yield* post(door, `http://127.0.0.1:${server.port}/${index}`)
      assert.strictEqual(server.connections(), 1)
    }).pipe(Effect.provide(egress))
  )

  it.effect("keeps lanes apart: one that hangs holds up no other", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        if (request.url === "/ok") response.end("ok")
      })
      const door = yield* openDoor({ allow: loopback })
      const url = `http://127.0.0.1:${server.port}`
      const request = { method: "POST", headers: {}, body: null, deadlineMs: 5_000, responseBytesMax: 10 } as const
      const hanging = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.forkChild(door.request({ ...request, url: `${url}/hang`, lane: "a" }))
      )
      const response = yield* door.request({ ...request, url: `${url}/ok`, lane: "b" })
      assert.strictEqual(response.status, 200)
      yield* Fiber.interruptAll(hanging)
    }).pipe(Effect.provide(egress))
  )

  it.live("frees the connection when the caller gives up", () =>
    Effect.gen(function* () {
      let closed: () => void = () => {}
      const hungUp = new Promise<void>((resolve) => (closed = resolve))
      let arrived: () => void = () => {}
      const asked = new Promise<void>((resolve) => (arrived = resolve))
      const server = yield* serve((request) => {
        request.socket.on("close", closed)
        arrived()
      })
      const door = yield* openDoor({ allow: loopback })
      const fiber = yield* Effect.forkChild(post(door, `http://127.0.0.1:${server.port}/`))
      yield* Effect.promise(() => asked)
      const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
      assert.isTrue(Exit.hasInterrupts(exit))
      yield* Effect.promise(() => hungUp).pipe(Effect.timeout("10 seconds"))
    }).pipe(Effect.provide(egress))
  )

  it.effect("says when the bytes have left, before there is an answer", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const server = yield* serve((_request, response) => {
        order.push("arrived")
        response.end()
      })
      const door = yield* openDoor({ allow: loopback })
      yield* door.request({
        method: "POST",
        url: `http://127.0.0.1:${server.port}/`,
        headers: {},
        body: null,
        deadlineMs: 1_000,
        responseBytesMax: 10,
        onLeave: () => order.push("left")
      })
      assert.deepStrictEqual(order, ["left", "arrived"])
    }).pipe(Effect.provide(egress))
  )

  it.effect("refuses URLs that are none, or carry credentials", () =>
    Effect.gen(function* () {
      const door = yield* openDoor({})
      for (const url of ["nonsense", "ftp://a.example/", "http://user:secret@a.example/"]) {
        const error = yield* Effect.flip(post(door, url))
        assert.strictEqual(error._tag, "InvalidUrl")
        assert.notInclude(error.message, "secret")
      }
    }).pipe(Effect.provide(egress))
  )

  it.effect("is not opened with a network that cannot be read", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openDoor({ allow: ["10.0.0.0/8", "10.0.0.0/99"] }))
      assert.include(error.message, "10.0.0.0/99")
    }).pipe(Effect.provide(egress))
  )
})
