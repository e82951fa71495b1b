import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { HttpListener, route, streamAnswer } from "#http"
import { Drain, Health } from "#runtime"
import { api, dial, pause, readAll } from "../api.ts"

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

  it.live("refuses new connections and lets a running stream end whole", () =>
    Effect.gen(function* () {
      const read = yield* draining(5_000, 10)
      assert.deepStrictEqual(read, Exit.succeed("1 2 3 4 5 6 7 8 9 10 "))
    })
  )

  it.live("cuts work that outlasts its patience", () =>
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

  it.live("is skipped when the layer is closed, which interrupts running work", () =>
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
