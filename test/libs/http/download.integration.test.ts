import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { downloadAnswer, HttpListener, notFound, route } from "#http"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { api, call, dial, type LogLine, readAll } from "./api.ts"

const pieces = (...sizes: ReadonlyArray<number>) =>
  Stream.rechunk(Stream.fromIterable(sizes.map((size) => new Uint8Array(size).fill(120))), 1)

const get = (path: string, stream: Stream.Stream<Uint8Array>, bytes: number, fileName?: string) =>
  route(
    "GET",
    `/${path}`,
    downloadAnswer(stream, { contentType: "audio/wav", bytes, ...(fileName === undefined ? {} : { fileName }) })
  )

describe("a download", () => {
  it.live("states its length, its type and the name to save it under", () =>
    Effect.gen(function* () {
      const { status, headers, text } = yield* call("/whole")
      assert.deepStrictEqual([status, text.length], [200, 100_000])
      assert.strictEqual(headers.get("content-length"), "100000")
      assert.strictEqual(headers.get("content-type"), "audio/wav")
      assert.isNull(headers.get("transfer-encoding"))
      assert.strictEqual(
        headers.get("content-disposition"),
        "attachment; filename=\"_nne's __.wav\"; filename*=UTF-8''%C3%84nne%27s%20%22%0A.wav"
      )
      const empty = yield* call("/empty")
      assert.deepStrictEqual([empty.status, empty.text, empty.headers.get("content-length")], [200, "", "0"])
      assert.isNull(empty.headers.get("content-disposition"))
      const head = yield* call("/whole", { method: "HEAD" })
      assert.deepStrictEqual([head.text, head.headers.get("content-length")], ["", "100000"])
    }).pipe(
      Effect.provide(api([get("whole", pieces(60_000, 40_000), 100_000, "Änne's \"\n.wav"), get("empty", pieces(), 0)]))
    )
  )

  it.live("that is longer or shorter than stated breaks the connection, and is never taken as complete", () => {
    const lines: Array<LogLine> = []
    return Effect.gen(function* () {
      const { url } = yield* HttpListener
      for (const path of ["long", "short"]) {
        const body = Effect.tryPromise(() => fetch(`${url}/${path}`).then((response) => response.arrayBuffer()))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(body)), path)
        const socket = yield* dial
        const answer = yield* Effect.forkChild(readAll(socket), { startImmediately: true })
        socket.write(`GET /${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
        const [, sent = ""] = (yield* Fiber.join(answer)).split("\r\n\r\n")
        assert.isAtMost(sent.length, 100)
      }
      const broken = () => lines.filter(({ text }) => text.includes("an answer broke off"))
      yield* eventually(() => broken().length, { is: (length) => length >= 4 })
      assert.strictEqual(broken().length, 4)
      assert.include(broken()[0]?.text, "100 bytes were announced, 110 were there")
    }).pipe(
      Effect.scoped,
      Effect.provide(api([get("long", pieces(60, 50), 100), get("short", pieces(60, 30), 100)], {}, lines))
    )
  })

  it.live("whose first piece is unavailable is refused as any other request", () => {
    const lost = route(
      "GET",
      "/lost",
      downloadAnswer(Stream.fail(notFound("no such sample")), { contentType: "audio/wav", bytes: 10 })
    )
    return Effect.gen(function* () {
      assert.strictEqual((yield* call("/lost")).status, 404)
    }).pipe(Effect.provide(api([lost])))
  })
})
