import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type CorsPolicy, crossOrigin, jsonAnswer, notFound, route } from "#http"
import { api, call } from "../api.ts"

const policy: CorsPolicy = {
  origins: ["*"],
  requestHeaders: ["PAYMENT-SIGNATURE", "Content-Type"],
  requestHeaderPrefixes: ["x-lib-"],
  exposedHeaders: ["PAYMENT-REQUIRED", "Retry-After"]
}
const shared = crossOrigin([
  route("POST", "/calls", Effect.succeed(jsonAnswer({ answered: true }))),
  route("GET", "/calls", Effect.fail(notFound("no calls"))),
  route("GET", "/broken", Effect.die(new Error("a bug")))
])
const own = route("POST", "/own", Effect.succeed(jsonAnswer({})))
const alsoOwn = route("DELETE", "/calls", Effect.succeed(jsonAnswer({})))
const routes = [...shared, own, alsoOwn]

const page = "https://app.example.com"
const preflight = (path: string, more: Readonly<Record<string, string>> = {}) =>
  call(path, {
    method: "OPTIONS",
    headers: { origin: page, "access-control-request-method": "POST", ...more }
  })
const corsOf = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith("access-control-"))

describe("calls from pages of other origins", () => {
  const open = api(routes, { cors: policy })
  const listed = api(routes, { cors: { ...policy, origins: [page] } })

  it.live("get a preflight answer without the handler on a route that opted in", () =>
    Effect.gen(function* () {
      const { status, headers, text } = yield* preflight("/calls")
      assert.deepStrictEqual([status, text], [204, ""])
      assert.strictEqual(headers.get("access-control-allow-origin"), "*")
      assert.strictEqual(headers.get("access-control-allow-methods"), "GET, HEAD, POST")
      assert.strictEqual(headers.get("access-control-allow-headers"), "PAYMENT-SIGNATURE, Content-Type")
      assert.strictEqual(headers.get("access-control-max-age"), "86400")
      assert.isNull(headers.get("access-control-allow-credentials"))
      assert.isNull(headers.get("allow"))
      assert.isNotNull(headers.get("x-request-id"))
      assert.include(headers.get("vary"), "Access-Control-Request-Headers")
    }).pipe(Effect.provide(open))
  )

  it.live("may use headers with an allowed prefix, and no others", () =>
    Effect.gen(function* () {
      const asked = "x-lib-os, X-Lib-Version,x-other, x-lib-<b>, x-lib-"
      const { headers } = yield* preflight("/calls", { "access-control-request-headers": asked })
      const allowed = "PAYMENT-SIGNATURE, Content-Type, x-lib-os, x-lib-version, x-lib-"
      assert.strictEqual(headers.get("access-control-allow-headers"), allowed)
    }).pipe(Effect.provide(open))
  )

  it.live("may read answers, refusals, defects and wrong methods", () =>
    Effect.gen(function* () {
      const asked = [
        ["POST", "/calls", 200],
        ["GET", "/calls", 404],
        ["GET", "/broken", 500],
        ["PUT", "/calls", 405]
      ] as const
      for (const [method, path, expected] of asked) {
        const { status, headers } = yield* call(path, { method, headers: { origin: page } })
        assert.strictEqual(status, expected)
        assert.strictEqual(headers.get("access-control-allow-origin"), "*")
        assert.strictEqual(headers.get("access-control-expose-headers"), "PAYMENT-REQUIRED, Retry-After")
        assert.strictEqual(headers.get("vary"), "Origin")
      }
    }).pipe(Effect.provide(open))
  )

  it.live("are limited to a list of origins, and a stranger's preflight is a wrong method", () =>
    Effect.gen(function* () {
      const known = yield* preflight("/calls")
      assert.strictEqual(known.headers.get("access-control-allow-origin"), page)
      for (const origin of ["https://app.example.com.evil.example", "http://app.example.com", "null"]) {
        const refused = yield* preflight("/calls", { origin })
        assert.strictEqual(refused.status, 405)
        assert.deepStrictEqual(corsOf(refused.headers), [])
        const answer = yield* call("/calls", { method: "POST", headers: { origin } })
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(corsOf(answer.headers), [])
        assert.strictEqual(answer.headers.get("vary"), "Origin")
      }
    }).pipe(Effect.provide(listed))
  )

  it.live("change nothing for a caller outside browsers, or on a route that did not opt in", () =>
    Effect.gen(function* () {
      const plain = yield* call("/calls", { method: "OPTIONS" })
      assert.deepStrictEqual([plain.status, plain.headers.get("allow")], [405, "GET, HEAD, POST, DELETE"])
      const withoutMethod = yield* call("/calls", { method: "OPTIONS", headers: { origin: page } })
      assert.strictEqual(withoutMethod.status, 405)
      const answer = yield* call("/calls", { method: "POST" })
      assert.deepStrictEqual(corsOf(answer.headers), [])

      const closed = yield* preflight("/own")
      assert.deepStrictEqual([closed.status, closed.headers.get("allow")], [405, "POST"])
      assert.deepStrictEqual(corsOf(closed.headers), [])
      const unshared = yield* call("/own", { method: "POST", headers: { origin: page } })
      assert.deepStrictEqual([corsOf(unshared.headers), unshared.headers.get("vary")], [[], null])
      assert.strictEqual((yield* preflight("/nowhere")).status, 404)
    }).pipe(Effect.provide(open))
  )

  it.live("get no CORS header without a policy", () =>
    Effect.gen(function* () {
      const refused = yield* preflight("/calls")
      assert.deepStrictEqual([refused.status, corsOf(refused.headers)], [405, []])
      const answer = yield* call("/calls", { method: "POST", headers: { origin: page } })
      assert.deepStrictEqual([corsOf(answer.headers), answer.headers.get("vary")], [[], null])
    }).pipe(Effect.provide(api(routes)))
  )
})
