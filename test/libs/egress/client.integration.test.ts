import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { egress, loopback, openClient, post, serve } from "../../support/receivers.ts"

describe("an HTTP client", () => {
  it.effect("reuses a connection", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("ok"))
      const client = yield* openClient({ connections: 1, allow: loopback })
      for (let index = 0; index < 10; index++) yield* post(client, `http://127.0.0.1:${server.port}/${index}`)
      assert.strictEqual(server.connections(), 1)
    }).pipe(Effect.provide(egress))
  )

  it.effect("keeps lanes apart: a hanging one delays no other", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        if (request.url === "/ok") response.end("ok")
      })
      const client = yield* openClient({ allow: loopback })
      const url = `http://127.0.0.1:${server.port}`
      const request = { method: "POST", headers: {}, body: null, deadlineMs: 5_000, responseBytesMax: 10 } as const
      const hanging = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.forkChild(client.request({ ...request, url: `${url}/hang`, lane: "a" }))
      )
      const response = yield* client.request({ ...request, url: `${url}/ok`, lane: "b" })
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
      const client = yield* openClient({ allow: loopback })
      const fiber = yield* Effect.forkChild(post(client, `http://127.0.0.1:${server.port}/`))
      yield* Effect.promise(() => asked)
      const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
      assert.isTrue(Exit.hasInterrupts(exit))
      yield* Effect.promise(() => hungUp).pipe(Effect.timeout("10 seconds"))
    }).pipe(Effect.provide(egress))
  )

  it.effect("reports when the bytes have left, before there is an answer", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const server = yield* serve((_request, response) => {
        order.push("arrived")
        response.end()
      })
      const client = yield* openClient({ allow: loopback })
      yield* client.request({
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

  it.effect("refuses invalid URLs, and URLs with credentials", () =>
    Effect.gen(function* () {
      const client = yield* openClient({})
      for (const url of ["nonsense", "ftp://a.example/", "http://user:secret@a.example/"]) {
        const error = yield* Effect.flip(post(client, url))
        assert.strictEqual(error._tag, "InvalidUrl")
        assert.notInclude(error.message, "secret")
      }
    }).pipe(Effect.provide(egress))
  )

  it.effect("does not start with an unreadable network", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openClient({ allow: ["10.0.0.0/8", "10.0.0.0/99"] }))
      assert.include(error.message, "10.0.0.0/99")
    }).pipe(Effect.provide(egress))
  )
})
