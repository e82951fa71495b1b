import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { jsonAnswer, type RenderError, renderStandardError, route, type WireError } from "#http"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, call, errorOf, type LogLine } from "../api.ts"
import { broken, gone, standing } from "../voices-api.ts"

describe("an API on a socket", () => {
  it.live("decodes path parameters and the query", () =>
    Effect.gen(function* () {
      const answer = yield* call("/voices/v%2F1?limit=2&tag=a&tag=b")
      assert.deepStrictEqual(answer.body, { params: { voice_id: "v/1" }, query: { limit: "2", tag: ["a", "b"] } })
    }).pipe(Effect.provide(standing))
  )

  it.live("answers 404 and 405 in its envelope, the latter with Allow", () =>
    Effect.gen(function* () {
      const unknown = yield* call("/nowhere")
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual(errorOf(unknown).code, "not_found")
      const wrong = yield* call("/voices/1", { method: "DELETE" })
      assert.strictEqual(wrong.status, 405)
      assert.strictEqual(wrong.headers.get("allow"), "GET, HEAD")
      assert.strictEqual(errorOf(yield* call("/gone")).code, "voice_not_found")
      assert.strictEqual((yield* call("/voices/1", { method: "HEAD" })).text, "")
    }).pipe(Effect.provide(standing))
  )

  it.live("adopts a valid request id, creates one otherwise, and shows it in errors", () =>
    Effect.gen(function* () {
      const given = yield* call("/gone", { headers: { "x-request-id": "abc-1" } })
      assert.strictEqual(given.headers.get("x-request-id"), "abc-1")
      assert.strictEqual(given.headers.get("speechify-request-id"), "abc-1")
      assert.deepInclude(given.body as object, { request_id: "abc-1" })
      const made = yield* call("/gone", { headers: { "x-request-id": "a b" } })
      assert.match(made.headers.get("x-request-id") ?? "", /^req_/u)
    }).pipe(Effect.provide(api([gone], { requestIdHeaders: ["Speechify-Request-Id"] })))
  )

  it.live("continues the caller's trace", () =>
    Effect.gen(function* () {
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const answer = yield* call("/traced", { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } })
      const { header } = answer.body as { header: string }
      assert.strictEqual(header.split("-")[1], traceId)
      assert.notInclude(header, "b7ad6b7169203331")
    }).pipe(Effect.provide(standing))
  )

  it.live("has one span for each request, under the caller's, with its route, id and status", () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const traceId = "0af7651916cd43dd8448eb211c80319c"
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, "x-request-id": "abc-3" }
    return Effect.gen(function* () {
      yield* call("/gone", { headers })
      yield* eventually(Effect.sync(() => spans[0]?.status._tag === "Ended"))
      const [span, ...others] = spans
      assert.deepStrictEqual(others, [])
      assert.deepInclude(span, { name: "GET /gone", traceId, kind: "server" })
      assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
        request_id: "abc-3",
        "http.request.method": "GET",
        "http.route": "/gone",
        "http.response.status_code": 404
      })
    }).pipe(Effect.provide(api([gone]).pipe(Layer.provide(Layer.succeed(Tracer.Tracer, tracer)))))
  })

  it.live("logs each answer with the request's id where Debug is logged", () => {
    const lines: Array<LogLine> = []
    return Effect.gen(function* () {
      yield* call("/gone", { headers: { "x-request-id": "abc-2" } })
      yield* eventually(Effect.sync(() => lines.some(({ text }) => text === "answered")))
      const { level, annotations } = lines.find(({ text }) => text === "answered") ?? {}
      assert.strictEqual(level, "Debug")
      const { ms, ...facts } = annotations ?? {}
      assert.isNumber(ms)
      const expected = { request_id: "abc-2", api: "test", method: "GET", route: "/gone", status: 404, outcome: "4xx" }
      assert.deepStrictEqual(facts, expected)
    }).pipe(Effect.provide(api([gone], {}, lines)))
  })

  it.live("logs a defect with the request's id and answers it with a JSON 500", () => {
    const lines: Array<LogLine> = []
    return Effect.gen(function* () {
      const answer = yield* call("/broken", { headers: { "x-request-id": "r-1" } })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(errorOf(answer).code, "internal_error")
      assert.notInclude(answer.text, "a bug")
      yield* eventually(() => lines.some(({ level, text }) => level === "Info" && text.startsWith("answered")))
      const defect = lines.find(({ level }) => level === "Error")
      assert.include(defect?.text, "a bug")
      assert.strictEqual(defect?.annotations["request_id"], "r-1")
    }).pipe(Effect.provide(api([broken], {}, lines)))
  })

  it.live("answers with a JSON 500 when a handler's head cannot be sent, or an envelope fails", () => {
    const head = route("GET", "/head", Effect.succeed(jsonAnswer({}, { headers: { a: "b\r\nc: d" } })))
    const status = route("GET", "/status", Effect.succeed(jsonAnswer({}, { status: 99 })))
    const value = route(
      "GET",
      "/value",
      Effect.sync(() => jsonAnswer(1n))
    )
    const renderError: RenderError = (error, requestId) => {
      if (error.status === 404) throw new Error("a bug in the envelope")
      return renderStandardError(error, requestId)
    }
    return Effect.gen(function* () {
      for (const path of ["/head", "/status", "/value", "/unknown"]) {
        const answer = yield* call(path)
        assert.strictEqual(answer.status, 500, path)
        assert.strictEqual(errorOf(answer).code, "internal_error")
      }
    }).pipe(Effect.provide(api([head, status, value], { renderError })))
  })

  it.live("counts by route and status class, never by a caller's path", () =>
    Effect.gen(function* () {
      yield* call("/voices/one")
      yield* call("/secret/path")
      const { text } = yield* Metrics
      // A call is counted when it is over, which may be after its answer was read.
      for (const counted of [
        /http_requests_total\{[^}]*route="\/voices\/:voice_id",status="2xx"\} 1/u,
        /http_requests_total\{[^}]*route="none",status="4xx"\} 1/u
      ]) {
        yield* eventually(text, { is: (now) => counted.test(now) })
      }
      assert.notInclude(yield* text, "secret")
    }).pipe(Effect.provide(standing))
  )

  it.live("writes errors in the API's format", () =>
    Effect.gen(function* () {
      const answer = yield* call("/gone")
      assert.deepStrictEqual(answer.body, { problem: "voice_not_found" })
    }).pipe(Effect.provide(api([gone], { renderError: ({ code }: WireError) => ({ problem: code }) })))
  )
})
