import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Environment } from "#runtime"
import { because, type Call, itemsOf, type Json, withConsole } from "../../../support/console.ts"
import { type Browser, cookieOf, fromPage, statusAndCode, withPage } from "../../../support/console-browser.ts"

const secret = "only the proxy and the console know it"
const settings = { PageProxyHeader: "X-Forwarded-User", PageProxySecretEnvVar: "PROXY_SECRET" }
const proof = { "x-starling-proxy-secret": secret }
const as = (person: string) => ({ ...fromPage, ...proof, "x-forwarded-user": person })

const withProxy = <A, E, R>(test: (call: Call, open: Browser) => Effect.Effect<A, E, R>, more: Json = {}) =>
  withPage(test, { Console: { ...settings, ...more } }).pipe(
    Effect.provideService(Environment, { PROXY_SECRET: secret })
  )

const cookieFor = (open: Browser, person: string) =>
  Effect.map(open("GET /session", { headers: as(person) }), (got) => {
    assert.strictEqual(got.status, 200, JSON.stringify(got.body))
    return cookieOf(got)
  })

describe("a person whom a proxy in front of the console names", () => {
  it.live("is signed in without a token, with the configured role, and stands in the audit log by name", () =>
    withProxy(
      (_, open) =>
        Effect.gen(function* () {
          const got = yield* open("GET /session", { headers: as("Ada Lovelace") })
          assert.strictEqual(got.body["label"], "Ada Lovelace")
          const headers = { ...as("Ada Lovelace"), cookie: cookieOf(got) }
          const write = yield* open("POST /events", { headers, body: { ...because, event: "queue.paused" } })
          assert.strictEqual(write.status, 200, JSON.stringify(write.body))
          const acts = itemsOf((yield* open("GET /audit", { headers })).body)
          assert.deepStrictEqual(
            acts.map(({ action, by }) => [action, (by as Json)["person"], (by as Json)["role"]]),
            [
              ["event-publish", "Ada Lovelace", "member"],
              ["sign-in", "Ada Lovelace", "member"]
            ]
          )
          const again = yield* open("GET /session", { headers })
          assert.deepStrictEqual([again.body, cookieOf(again)], [got.body, ""])
        }),
      { PageProxyRole: "member" }
    )
  )

  it.live("reads alone where no role is configured", () =>
    withProxy((_, open) =>
      Effect.gen(function* () {
        const headers = { ...as("ada"), cookie: yield* cookieFor(open, "ada") }
        assert.strictEqual((yield* open("GET /events", { headers })).status, 200)
        const write = yield* open("POST /events", { headers, body: { ...because, event: "queue.paused" } })
        assert.deepStrictEqual(statusAndCode(write), [403, "insufficient_scope"])
      })
    )
  )

  it.live("is nobody without the proxy's secret, and a wrong one counts as a wrong token", () =>
    withProxy((_, open) =>
      Effect.gen(function* () {
        const { "x-starling-proxy-secret": _secret, ...unproven } = as("ada")
        for (let tries = 0; tries < 40; tries++) {
          const got = yield* open("GET /session", { headers: unproven })
          assert.deepStrictEqual([...statusAndCode(got), cookieOf(got)], [401, "unauthorized", ""])
        }
        const guess = { ...unproven, "x-starling-proxy-secret": "g".repeat(32) }
        for (let tries = 0; tries < 30; tries++) {
          assert.strictEqual((yield* open("GET /session", { headers: guess })).status, 401)
        }
        assert.deepStrictEqual(statusAndCode(yield* open("GET /session", { headers: guess })), [429, "rate_limited"])
      })
    )
  )

  it.live("has a session that counts for their calls through the proxy alone", () =>
    withProxy((_, open) =>
      Effect.gen(function* () {
        const cookie = yield* cookieFor(open, "ada")
        const strangers: ReadonlyArray<Readonly<Record<string, string>>> = [
          fromPage,
          as("grace"),
          { ...fromPage, "x-forwarded-user": "ada" },
          { ...as("ada"), "x-forwarded-user": "ada, grace" }
        ]
        for (const headers of strangers) {
          assert.strictEqual((yield* open("GET /events", { headers: { ...headers, cookie } })).status, 401)
        }
        const other = yield* open("GET /session", { headers: { ...as("grace"), cookie } })
        assert.strictEqual(other.body["label"], "grace")
        assert.notInclude(["", cookie], cookieOf(other))
      })
    )
  )

  it.live("is still a person in a browser that they let in with a code", () =>
    withProxy(
      (_, open) =>
        Effect.gen(function* () {
          const headers = { ...as("ada"), cookie: yield* cookieFor(open, "ada") }
          const made = yield* open("POST /session/codes", { headers, body: because })
          const got = yield* open("POST /session", { headers: as("ada"), body: { code: made.body["code"] } })
          assert.strictEqual(got.body["label"], "ada")
          const outside = { ...fromPage, cookie: cookieOf(got) }
          assert.strictEqual((yield* open("GET /events", { headers: outside })).status, 401)
        }),
      { PageProxyRole: "owner" }
    )
  )

  it.live("begins no session by a call of another page, nor more than a person needs", () =>
    withProxy((_, open) =>
      Effect.gen(function* () {
        const evil = { ...as("ada"), origin: "https://evil.example", "sec-fetch-site": "cross-site" }
        const forged = yield* open("GET /session", { headers: evil })
        assert.deepStrictEqual([...statusAndCode(forged), cookieOf(forged)], [403, "foreign_origin", ""])
        for (let count = 0; count < 20; count++) yield* cookieFor(open, "ada")
        const more = yield* open("GET /session", { headers: as("ada") })
        assert.deepStrictEqual(statusAndCode(more), [429, "rate_limited"])
        yield* cookieFor(open, "grace")
      })
    )
  )

  it.live("is told to no API behind the console, and neither is the secret", () => {
    const heard: Array<IncomingHttpHeaders> = []
    const behind = createServer((request, answer) => {
      heard.push(request.headers)
      answer.end("{}")
    })
    return Effect.gen(function* () {
      yield* Effect.promise(() => new Promise<void>((resolve) => behind.listen(0, "127.0.0.1", resolve)))
      const { port } = behind.address() as AddressInfo
      yield* withProxy(
        (_, open) =>
          Effect.gen(function* () {
            const headers = { ...as("ada"), cookie: yield* cookieFor(open, "ada") }
            assert.strictEqual((yield* open("GET /apis/pipeline/workitems", { headers })).status, 200)
          }),
        { PipelineUrl: `http://127.0.0.1:${port}` }
      )
      assert.lengthOf(heard, 1)
      assert.match(String(heard[0]?.authorization), /^Bearer stl_/u)
      for (const name of ["x-forwarded-user", "x-starling-proxy-secret"]) assert.notProperty(heard[0], name)
    }).pipe(Effect.ensuring(Effect.sync(() => behind.close())))
  })

  it.live("does not count where no proxy is configured", () =>
    withPage((_, open) =>
      Effect.gen(function* () {
        const got = yield* open("GET /session", { headers: as("ada") })
        assert.deepStrictEqual([got.status, got.body, cookieOf(got)], [200, null, ""])
      })
    )
  )

  it.live("is let in by no console whose secret is short or not set", () =>
    Effect.gen(function* () {
      for (const environment of [{}, { PROXY_SECRET: "too short" }]) {
        const started = yield* withConsole(() => Effect.void, { Console: { Page: true, ...settings } }).pipe(
          Effect.provideService(Environment, environment),
          Effect.exit
        )
        assert.isTrue(Exit.isFailure(started), JSON.stringify(environment))
        assert.include(String(started), "PROXY_SECRET")
      }
    })
  )
})
