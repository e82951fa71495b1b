import { hash } from "node:crypto"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { HttpListener, Tokens } from "#http"
import { buildPage } from "../../../../dev/page/build.ts"
import { codeOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"

const home = mkdtempSync(join(tmpdir(), "starling-page-"))
const folder = join(home, "page")
beforeAll(() => buildPage(folder))
afterAll(() => rmSync(home, { recursive: true }))

const withPage = <A, E, R>(test: (url: string) => Effect.Effect<A, E, R>, changes: Json = {}) =>
  withConsole(() => Effect.flatMap(HttpListener, ({ url }) => test(url)), {
    Console: { Page: true, PageFolder: folder, ...changes }
  })

// Five, and what a busy machine takes beside.
const endsWithinMs = 10_000

const get = (url: string, init: RequestInit = {}) => Effect.promise(() => fetch(url, init))
const textOf = (answer: Response) => Effect.promise(() => answer.text())

describe("the console's page", () => {
  it.live("is shown to everybody, and holds browsers to itself", () =>
    withPage((url) =>
      Effect.gen(function* () {
        const answer = yield* get(`${url}/`)

        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8")
        const policy = answer.headers.get("content-security-policy") ?? ""
        assert.include(policy, "default-src 'self'")
        assert.include(policy, "frame-ancestors 'none'")
        assert.notMatch(policy, /unsafe|\*|https?:/u)
        const page = readFileSync(join(folder, "index.html"), "utf8")
        const [script = ""] = /(?<=<script>).*?(?=<\/script>)/su.exec(page) ?? []
        assert.include(policy, `script-src 'self' 'sha256-${hash("sha256", script, "base64")}';`)
        assert.deepInclude(Object.fromEntries(answer.headers), {
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cache-control": "no-cache"
        })
        assert.strictEqual(yield* textOf(answer), page)
      })
    )
  )

  it.live("has files that a browser keeps permanently, packed as it takes them", () =>
    withPage((url) =>
      Effect.gen(function* () {
        const index = yield* textOf(yield* get(`${url}/`))
        const paths = [...index.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/gu)].map(([, path = ""]) => path)
        assert.isAbove(paths.length, 2)
        for (const path of paths) {
          for (const packing of ["br", "gzip", "identity"]) {
            const answer = yield* get(`${url}${path}`, { headers: { "accept-encoding": packing } })
            assert.strictEqual(answer.status, 200, path)
            assert.strictEqual(answer.headers.get("content-encoding") ?? "identity", packing)
            assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=31536000, immutable")
            assert.include(answer.headers.get("content-security-policy") ?? "", "default-src 'self'")
            assert.strictEqual(yield* textOf(answer), readFileSync(join(folder, path), "utf8"), `${path} ${packing}`)
            const again = { "accept-encoding": packing, "if-none-match": answer.headers.get("etag") ?? "" }
            assert.strictEqual((yield* get(`${url}${path}`, { headers: again })).status, 304)
          }
          const head = yield* get(`${url}${path}`, { method: "HEAD", headers: { "accept-encoding": "identity" } })
          assert.strictEqual(head.headers.get("content-length"), String(readFileSync(join(folder, path)).length))
          assert.strictEqual(yield* textOf(head), "")
        }
      })
    )
  )

  it.live("has nothing beside its own files", () =>
    withPage((url) =>
      Effect.gen(function* () {
        const strange = ["none.js", "..%2Findex.html", "..%2F..%2Fpackage.json", "main.js.gz", "%00", "icon.svg/x"]
        for (const name of strange) assert.strictEqual((yield* get(`${url}/assets/${name}`)).status, 404, name)
        assert.strictEqual((yield* get(`${url}/`, { method: "POST" })).status, 405)
      })
    )
  )

  it.live("says in a sentence that it is not built", () => {
    const half = join(home, "half")
    cpSync(join(folder, "index.html"), join(half, "index.html"))
    return withPage(
      (url) =>
        Effect.gen(function* () {
          const answer = yield* get(`${url}/`)
          assert.strictEqual(answer.status, 404)
          assert.include(yield* textOf(answer), "the page is not built")
          assert.strictEqual((yield* get(`${url}/openapi.json`)).status, 200)
        }),
      { PageFolder: half }
    )
  })
})

interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/** An API behind the console: it tells what it got, and streams until it is told to end. */
const upstream = Effect.gen(function* () {
  const left = yield* Deferred.make<void>()
  const state: { readonly arrived: Array<Arrived>; finish: () => void } = { arrived: [], finish: () => undefined }
  const server = createServer((incoming, answer) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming
      state.arrived.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      if (url.includes("/stream") || url.includes("/sound")) {
        answer.writeHead(200, {
          "content-type": url.includes("/sound") ? "audio/mpeg" : "text/event-stream",
          "set-cookie": "a=b",
          connection: "x-hop",
          "x-hop": "1"
        })
        answer.write("data: one\n\n")
        state.finish = () => answer.end("data: two\n\n")
        answer.on("close", () => Deferred.doneUnsafe(left, Effect.void))
        return
      }
      answer.writeHead(201, { "content-type": "application/json", "x-limit": "7", "set-cookie": "a=b" })
      answer.end(JSON.stringify({ got: url }))
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => (server.close(), server.closeAllConnections()))
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`, state, left: Deferred.await(left) }
})

describe("a call to another API through the console", () => {
  it.live("continues with the caller's token as it is, without its cookie, and comes back without the other's", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const api = yield* upstream
        yield* withPage(
          (url) =>
            Effect.gen(function* () {
              const token = yield* tokenOf("viewer")
              const { port } = yield* HttpListener
              const answer = yield* get(`${url}/apis/speech/v1/voices/a%2Fb?limit=2&q=%20`, {
                method: "PATCH",
                headers: {
                  cookie: `starling-${port}=token.${token}; other=1`,
                  origin: url,
                  "content-type": "application/json",
                  "idempotency-key": "k1",
                  "x-forwarded-for": "1.2.3.4"
                },
                body: '{"a":1}'
              })

              assert.strictEqual(answer.status, 201)
              assert.strictEqual(answer.headers.get("x-limit"), "7")
              assert.isNull(answer.headers.get("set-cookie"))
              assert.include(answer.headers.get("content-security-policy") ?? "", "sandbox")
              assert.deepStrictEqual(JSON.parse(yield* textOf(answer)), { got: "/base/v1/voices/a%2Fb?limit=2&q=%20" })
              const [got] = api.state.arrived
              assert.deepInclude(got ?? {}, { method: "PATCH", body: '{"a":1}' })
              assert.deepInclude(got?.headers ?? {}, {
                authorization: `Bearer ${token}`,
                "idempotency-key": "k1",
                "x-request-id": answer.headers.get("x-request-id") ?? ""
              })
              for (const name of ["cookie", "origin", "x-forwarded-for"]) assert.notProperty(got?.headers ?? {}, name)
            }),
          { SpeechUrl: api.url }
        )
      })
    )
  )

  it.live("comes back piece by piece, each when it comes", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const api = yield* upstream
        yield* withPage(
          (url) =>
            Effect.gen(function* () {
              const headers = { authorization: `Bearer ${yield* tokenOf("viewer")}` }
              const open = Effect.map(get(`${url}/apis/models/stream`, { headers }), (answer) => {
                const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
                return { answer, reader, next: Effect.promise(async () => (await reader?.read())?.value) }
              })
              const first = yield* open
              assert.strictEqual(first.answer.headers.get("content-type"), "text/event-stream")
              assert.isNull(first.answer.headers.get("x-hop"))
              // The other side has not ended yet.
              assert.strictEqual(yield* first.next, "data: one\n\n")
              api.state.finish()
              assert.strictEqual(yield* first.next, "data: two\n\n")
              assert.isUndefined(yield* first.next)
            }),
          { ModelsUrl: api.url }
        )
      })
    )
  )

  it.live("ends within five seconds of its token's revocation, and breaks off where a part is no whole", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const api = yield* upstream
        yield* withPage(
          (url) =>
            Effect.gen(function* () {
              const tokens = yield* Tokens
              const rights = { workspace: "default", kind: "member", role: "viewer", scopes: ["*"] } as const
              const { token, record } = yield* tokens.make(rights)
              const read = (path: string, bearer: string) =>
                Effect.promise(async () => {
                  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
                  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
                  const first = (await reader?.read())?.value
                  const end = reader?.read().then(
                    ({ done }) => (done ? "ends" : "goes on"),
                    () => "breaks off"
                  )
                  return { first, end, cancel: () => reader?.cancel() }
                })
              const events = yield* read("/apis/models/stream", token)
              const sound = yield* read("/apis/models/sound", token)
              const others = yield* read("/apis/models/stream", yield* tokenOf("viewer"))
              assert.deepStrictEqual([events.first, sound.first], ["data: one\n\n", "data: one\n\n"])

              const revokedMs = performance.now()
              yield* tokens.revoke(record.id)
              const ends = yield* Effect.promise(() => Promise.all([events.end, sound.end]))
              assert.deepStrictEqual(ends, ["ends", "breaks off"])
              assert.isBelow(performance.now() - revokedMs, endsWithinMs)
              yield* api.left
              const isOpen = yield* Effect.promise(() => Promise.race([others.end, Promise.resolve("goes on")]))
              assert.strictEqual(isOpen, "goes on")
              yield* Effect.promise(async () => others.cancel())
            }),
          { ModelsUrl: api.url }
        )
      })
    )
  )

  it.live("that leaves early is cut at the other side", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const api = yield* upstream
        yield* withPage(
          (url) =>
            Effect.gen(function* () {
              const headers = { authorization: `Bearer ${yield* tokenOf("viewer")}` }
              const aborter = new AbortController()
              const answer = yield* get(`${url}/apis/models/stream`, { headers, signal: aborter.signal })
              assert.strictEqual(answer.status, 200)
              aborter.abort()
              yield* api.left
            }),
          { ModelsUrl: api.url }
        )
      })
    )
  )

  it.live(
    "is refused in the console's envelope: without a token, to nobody, out of the base, and when nobody answers",
    () =>
      withPage(
        (url) =>
          Effect.gen(function* () {
            const headers = { authorization: `Bearer ${yield* tokenOf("owner")}` }
            const refusalAt = (path: string, init: RequestInit = { headers }) =>
              Effect.flatMap(get(`${url}${path}`, init), (answer) =>
                Effect.map(textOf(answer), (text) => [answer.status, codeOf(JSON.parse(text) as Json)])
              )
            assert.deepStrictEqual(yield* refusalAt("/apis/speech/x", {}), [401, "unauthorized"])
            assert.deepStrictEqual(yield* refusalAt("/apis/pipeline/x"), [404, "not_found"])
            assert.deepStrictEqual(yield* refusalAt("/apis/nobody/x"), [404, "not_found"])
            assert.deepStrictEqual(yield* refusalAt("/apis/speech/%2e%2e%2fx"), [503, "service_unavailable"])
            assert.deepStrictEqual(yield* refusalAt("/apis/speech/x"), [503, "service_unavailable"])
            const session = yield* get(`${url}/session`, { headers })
            assert.deepStrictEqual((JSON.parse(yield* textOf(session)) as Json)["apis"], ["speech"])
            const large = { method: "POST", headers, body: new Uint8Array(33_554_433) }
            assert.deepStrictEqual(yield* refusalAt("/apis/speech/x", large), [413, "payload_too_large"])
          }),
        // Nothing listens there.
        { SpeechUrl: "http://127.0.0.1:9" }
      )
  )
})
