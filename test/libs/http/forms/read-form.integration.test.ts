import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { FormFiles, type FormSpec, HttpListener, jsonAnswer, readForm, route } from "#http"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, call, dial, pause, readAll } from "../api.ts"
import { contentType, packed } from "./forms.ts"

const root = mkdtempSync(join(tmpdir(), "starling-form-tests-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const mb = 1_000_000
const spec: FormSpec = {
  fields: { name: { bytesMax: 100 } },
  files: { sample: { bytesMax: 25 * mb } },
  bytesMax: 40 * mb
}
const upload = route(
  "POST",
  "/forms",
  Effect.map(readForm(spec), ({ fields, files }) => jsonAnswer({ fields, bytes: files["sample"]?.bytes }))
)
const inFolder = (name: string) => {
  const folder = join(root, name)
  return { folder, standing: api([upload]).pipe(Layer.provideMerge(FormFiles.layer({ folder }))) }
}
/** Folders of calls, and the files in them. */
const onDisk = (folder: string) =>
  readdirSync(folder, { recursive: true }).filter((entry) => String(entry).includes("call-"))

const fileHead = packed([{ name: "sample", body: "", fileName: "blob" }], "b0und", false).subarray(0, -2)
const fileEnd = Buffer.from("\r\n--b0und--\r\n")

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void
const heldBytes = () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Sends a file of so many bytes as fast as it is taken, `each` called every 2 MB. */
const send = (bytes: number, each: () => void) =>
  Effect.gen(function* () {
    const { host, port } = yield* HttpListener
    return yield* Effect.callback<{ readonly status: number; readonly body: string; readonly sent: number }>(
      (resume) => {
        const headers = { "content-type": contentType(), "transfer-encoding": "chunked" }
        const request = httpRequest({ host, port, path: "/forms", method: "POST", headers })
        const piece = Buffer.alloc(50_000, 120)
        let sent = 0
        const go = () => {
          while (sent < bytes && !request.destroyed) {
            sent += piece.length
            if (sent % (2 * mb) === 0) each()
            if (!request.write(piece)) return void request.once("drain", go)
          }
          request.end(fileEnd)
        }
        request.on("error", () => undefined)
        request.on("response", (response) => {
          let body = ""
          response.on("data", (chunk: Buffer) => (body += chunk.toString()))
          response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, body, sent })))
        })
        request.write(fileHead)
        go()
      }
    )
  })

describe("a form on a socket", () => {
  it.live("of 26 MB against a limit of 25 MB is refused with the part's name, and never held in memory", () => {
    const { folder, standing } = inFolder("large")
    return Effect.gen(function* () {
      const whole = yield* send(24 * mb, () => undefined)
      assert.deepStrictEqual([whole.status, whole.body], [200, '{"fields":{},"bytes":24000000}'])

      const before = heldBytes()
      const held: Array<number> = []
      const large = yield* send(26 * mb, () => held.push(heldBytes() - before))
      assert.strictEqual(large.status, 413)
      assert.deepInclude((JSON.parse(large.body) as { error: object }).error, {
        code: "payload_too_large",
        details: { bytes_max: 25 * mb, part: "sample" }
      })
      // Collected memory is freed concurrently, later; the memory that a form holds does not shrink.
      assert.isAtLeast(held.length, 10)
      assert.isBelow(Math.min(...held.slice(-4)), 4 * mb)
      yield* eventually(() => onDisk(folder).length, { is: 0 })
    }).pipe(Effect.provide(standing))
  })

  it.live("announced as too large is refused before it is sent", () => {
    const { folder, standing } = inFolder("announced")
    return Effect.gen(function* () {
      const socket = yield* dial
      socket.write(
        `POST /forms HTTP/1.1\r\nhost: a\r\ncontent-type: ${contentType()}\r\ncontent-length: ${41 * mb}\r\n\r\n`
      )
      assert.match(yield* Effect.timeout(readAll(socket), "3 seconds"), /^HTTP\/1\.1 413 /u)
      assert.deepStrictEqual(onDisk(folder), [])
    }).pipe(Effect.scoped, Effect.provide(standing))
  })

  it.live("is read no faster than its files can be stored", () => {
    const folder = join(root, "slow-disk")
    return Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { callFolder } = yield* FormFiles
      const slow = Layer.succeed(FormFiles, { callFolder: Effect.andThen(Deferred.await(gate), callFolder) })
      yield* Effect.gen(function* () {
        const progress = { sent: 0 }
        const answer = yield* Effect.forkChild(
          send(24 * mb, () => (progress.sent += 2 * mb)),
          { startImmediately: true }
        )
        // The sockets' buffers fill at once; then the sending stops.
        let before = -1
        const standsStill = Effect.sync(() => {
          const still = progress.sent > 0 && progress.sent === before
          before = progress.sent
          return still
        })
        yield* eventually(Effect.andThen(pause(300), standsStill))
        assert.isBelow(progress.sent, 16 * mb)
        yield* Deferred.succeed(gate, undefined)
        const { status, sent } = yield* Fiber.join(answer)
        assert.deepStrictEqual([status, sent], [200, 24 * mb])
      }).pipe(Effect.provide(api([upload]).pipe(Layer.provideMerge(slow))))
    }).pipe(Effect.provide(FormFiles.layer({ folder })))
  })

  it.live("leaves no file behind when its sender leaves or is too slow", () => {
    const folder = join(root, "leavers")
    const standing = api([upload], { limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_500 } }).pipe(
      Layer.provideMerge(FormFiles.layer({ folder }))
    )
    return Effect.gen(function* () {
      const begin = Effect.gen(function* () {
        const socket = yield* dial
        socket.write(
          `POST /forms HTTP/1.1\r\nhost: a\r\ncontent-type: ${contentType()}\r\ncontent-length: 200000\r\n\r\n`
        )
        socket.write(Buffer.concat([fileHead, Buffer.alloc(100_000)]))
        yield* eventually(() => onDisk(folder).length, { is: 2 })
        return socket
      })
      const leaver = yield* begin
      leaver.destroy()
      yield* eventually(() => onDisk(folder).length, { is: 0 })

      const slow = yield* begin
      assert.match(yield* Effect.timeout(readAll(slow), "5 seconds"), /^HTTP\/1\.1 408 /u)
      yield* eventually(() => onDisk(folder).length, { is: 0 })
      // A leaving sender is counted after its files are gone.
      const { text } = yield* Metrics
      const isCounted = (now: string) => /http_requests_total\{[^}]*route="\/forms",status="gone"\} 2/u.test(now)
      yield* eventually(text, { is: isCounted })
    }).pipe(Effect.scoped, Effect.provide(standing))
  })

  it.live("is read as fetch encodes it, and its folder is removed at the process' end", () => {
    const { folder, standing } = inFolder("fetch")
    return Effect.gen(function* () {
      const body = new FormData()
      body.append("name", "Änne")
      body.append("sample", new Blob([new Uint8Array(1_000)]))
      const answer = yield* call("/forms", { method: "POST", body })
      assert.deepStrictEqual(answer.body, { fields: { name: "Änne" }, bytes: 1_000 })
      assert.strictEqual(readdirSync(folder).length, 1)
    }).pipe(
      Effect.provide(standing),
      Effect.andThen(Effect.sync(() => assert.deepStrictEqual([existsSync(folder), readdirSync(folder)], [true, []])))
    )
  })
})
