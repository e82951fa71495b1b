import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, Option, Schema } from "effect"
import { Kv } from "#bus"
import { HttpListener, Tokens } from "#http"
import { SignInCodes } from "../../../../services/console/http/session.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { because, type Call, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"
import {
  browser,
  type Browser,
  cookieOf,
  fromPage,
  headerOf,
  statusAndCode,
  withPage
} from "../../../support/console-browser.ts"

const codeFrom = (call: Call, token?: string) =>
  Effect.map(call("POST /session/codes", { body: because, ...(token === undefined ? {} : { token }) }), (got) => {
    assert.strictEqual(got.status, 201, JSON.stringify(got.body))
    return String(got.body["code"])
  })

const signInWith = (open: Browser, body: Json, headers: Readonly<Record<string, string>> = fromPage) =>
  open("POST /session", { body, headers })

describe("a session of the console's page", () => {
  it.live("begins with a code, has the rights of who made it for twelve hours, and says so", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const got = yield* signInWith(open, { code: yield* codeFrom(call) })

        assert.strictEqual(got.status, 200, JSON.stringify(got.body))
        assert.deepInclude(got.body, { label: "owner of default", apis: [], paysForTrials: false })
        assert.includeMembers(got.body["scopes"] as Array<string>, ["console:read", "tokens:manage"])
        const leftMs = Date.parse(String(got.body["expiresAt"])) - (yield* Clock.currentTimeMillis)
        assert.isBelow(Math.abs(leftMs - 12 * 3_600_000), 60_000)
        const set = headerOf(got, "set-cookie")
        assert.match(set, /^starling-\d+=code\.stl_[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/u)
        assert.strictEqual(headerOf(got, "cache-control"), "no-store")
        const cookie = cookieOf(got)
        assert.strictEqual((yield* open("GET /events", { headers: { ...fromPage, cookie } })).status, 200)
        const session = yield* open("GET /session", { headers: { ...fromPage, cookie } })
        assert.deepStrictEqual(session.body, got.body)
      })
    )
  )

  it.live("begins once for a code, also when two bring it at the same moment", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        for (let round = 0; round < 3; round++) {
          const code = yield* codeFrom(call)
          const both = yield* Effect.all([signInWith(open, { code }), signInWith(open, { code })], { concurrency: 2 })
          assert.sameMembers(
            both.map(({ status }) => status),
            [200, 401]
          )
          assert.strictEqual((yield* signInWith(open, { code })).status, 401)
        }
      })
    )
  )

  it.live("does not begin with a code whose time is over, which is gone after the try", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const code = yield* codeFrom(call)
        const kv = yield* Kv
        const bucket = yield* kv.open("sign-in-codes", Schema.Record(Schema.String, Schema.Unknown))
        const [entry] = yield* bucket.entries
        assert.isDefined(entry)
        assert.notInclude(JSON.stringify(entry), code)
        if (entry === undefined) return
        yield* bucket.update(entry.key, { ...entry.value, expiresAt: "2026-01-01T00:00:00.000Z" }, entry.revision)

        assert.deepStrictEqual(statusAndCode(yield* signInWith(open, { code })), [401, "unauthorized"])
        assert.lengthOf(yield* bucket.entries, 0)
      })
    )
  )

  it.live("has no more rights than the token that made its code, and none of them for longer", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const order = {
          ...because,
          label: "for an hour",
          role: "owner",
          scopes: ["tokens:manage"],
          lifetimeSeconds: 3_600
        }
        const { body } = yield* call("POST /tokens", { body: order })
        const got = yield* signInWith(open, { code: yield* codeFrom(call, String(body["token"])) })

        assert.deepStrictEqual(got.body["scopes"], ["tokens:manage"])
        const leftMs = Date.parse(String(got.body["expiresAt"])) - (yield* Clock.currentTimeMillis)
        assert.isBelow(leftMs, 3_600_000)
        const headers = { ...fromPage, cookie: cookieOf(got) }
        assert.strictEqual((yield* open("GET /events", { headers })).status, 403)
      })
    )
  )

  it.live("with a viewer's token reads and writes nothing", () =>
    withPage((_, open) =>
      Effect.gen(function* () {
        const got = yield* signInWith(open, { token: yield* tokenOf("viewer") })

        assert.strictEqual(got.status, 200)
        assert.match(headerOf(got, "set-cookie"), /^starling-\d+=token\.[^;]+; HttpOnly; SameSite=Strict; Path=\/$/u)
        const headers = { ...fromPage, cookie: cookieOf(got) }
        assert.strictEqual((yield* open("GET /events", { headers })).status, 200)
        const write = yield* open("POST /endpoints/nobody/pause", { headers, body: because })
        assert.deepStrictEqual(statusAndCode(write), [403, "insufficient_scope"])
      })
    )
  )

  it.live("is no use to another page, which can neither write, nor listen, nor sign in or out", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const cookie = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call) }))
        const strangers: ReadonlyArray<Readonly<Record<string, string>>> = [
          {},
          { origin: "https://evil.example" },
          { origin: "null" },
          { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" },
          { origin: url, "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "none" }
        ]
        for (const stranger of strangers) {
          const headers = { ...stranger, cookie }
          for (const [verb, body] of [
            ["POST /endpoints/nobody/pause", because],
            ["POST /session", { token: "stl_x" }],
            ["DELETE /session", undefined],
            ["POST /session/codes", because]
          ] as const) {
            const got = yield* open(verb, { headers, body })
            assert.deepStrictEqual(statusAndCode(got), [403, "foreign_origin"], `${verb} ${JSON.stringify(stranger)}`)
          }
          const stream = yield* open("GET /fleet/live", { headers: { ...headers, accept: "text/event-stream" } })
          assert.strictEqual(stream.status, 403, JSON.stringify(stranger))
        }
        const live = { ...fromPage, cookie, accept: "text/event-stream" }
        assert.strictEqual((yield* open("GET /fleet/live", { headers: live })).status, 200)
        const byOrigin = yield* open("POST /endpoints/nobody/pause", {
          headers: { origin: url, cookie },
          body: because
        })
        assert.strictEqual(byOrigin.status, 404)
      })
    )
  )

  it.live("is no use under a foreign name that leads here, while a program may call under any", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const cookie = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call) }))
        const host = "evil.example:7405"
        const rebound = { ...fromPage, origin: `http://${host}`, host }
        for (const verb of ["GET /events", "POST /endpoints/nobody/pause", "GET /session", "DELETE /session"]) {
          const got = yield* open(verb, { headers: { ...rebound, cookie } })
          assert.deepStrictEqual(statusAndCode(got), [421, "misdirected_request"], verb)
        }
        assert.strictEqual((yield* signInWith(open, { code: yield* codeFrom(call) }, rebound)).status, 421)
        assert.strictEqual((yield* open("GET /", { headers: { host } })).status, 421)

        const authorization = `Bearer ${yield* tokenOf("owner")}`
        const program = yield* open("GET /events", { headers: { authorization, host: "console.fleet.svc:7405" } })
        assert.strictEqual(program.status, 200)
      })
    )
  )

  it.live("under a configured origin of https has a cookie for https alone", () =>
    withPage(
      (call, open) =>
        Effect.gen(function* () {
          const host = "console.example.com"
          const headers = { host, origin: `https://${host}` }
          const got = yield* signInWith(open, { code: yield* codeFrom(call) }, headers)

          assert.strictEqual(got.status, 200)
          assert.match(headerOf(got, "set-cookie"), /^__Host-starling=.*; Path=\/; Secure; Max-Age=\d+$/u)
          const cookie = cookieOf(got)
          const write = open("POST /endpoints/nobody/pause", { headers: { ...headers, cookie }, body: because })
          assert.strictEqual((yield* write).status, 404)
          const plain = { headers: { host, origin: `http://${host}`, cookie }, body: because }
          assert.strictEqual((yield* open("POST /endpoints/nobody/pause", plain)).status, 403)
        }),
      { Console: { PageOrigins: ["https://console.example.com"] } }
    )
  )

  it.live("ends with signing out, which revokes the token of a code and leaves one's own", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const own = yield* tokenOf("owner")
        const byCode = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call) }))
        const byToken = cookieOf(yield* signInWith(open, { token: own }))

        for (const cookie of [byCode, byToken]) {
          const got = yield* open("DELETE /session", { headers: { ...fromPage, cookie } })
          assert.strictEqual(got.status, 204)
          assert.match(headerOf(got, "set-cookie"), /^starling-\d+=; .*Max-Age=0$/u)
        }

        const token = byCode.split("=code.")[1] ?? ""
        yield* eventually(call("GET /events", { token }), { is: ({ status }) => status === 401 })
        assert.strictEqual((yield* call("GET /events", { token: own })).status, 200)
        const anonymous = yield* open("GET /session", { headers: fromPage })
        assert.deepStrictEqual([anonymous.status, anonymous.body], [200, null])
        assert.strictEqual((yield* open("DELETE /session", { headers: fromPage })).status, 204)
      })
    )
  )

  it.live("ends when its token is revoked", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const cookie = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call) }))
        const headers = { ...fromPage, cookie }
        assert.strictEqual((yield* open("GET /events", { headers })).status, 200)
        const { body } = yield* call("GET /tokens")
        const made = itemsOf(body).find(({ label }) => label === "console page")

        yield* call(`POST /tokens/${String(made?.["id"])}/revoke`, { body: because })

        yield* eventually(open("GET /events", { headers }), { is: ({ status }) => status === 401 })
        assert.isNull((yield* open("GET /session", { headers })).body)
      })
    )
  )

  it.live("ends when who made its code is revoked, and so does one that it let in itself", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const order = { ...because, label: "a maker", role: "owner", scopes: ["*", "tokens:manage"] }
        const { body: maker } = yield* call("POST /tokens", { body: order })
        const token = String(maker["token"])
        const unused = yield* codeFrom(call, token)
        const first = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call, token) }))
        const headers = { ...fromPage, cookie: first }
        const asked = yield* open("POST /session/codes", { headers, body: because })
        const second = cookieOf(yield* signInWith(open, { code: String(asked.body["code"]) }))
        const statuses = Effect.forEach([first, second], (cookie) =>
          Effect.map(open("GET /events", { headers: { ...fromPage, cookie } }), ({ status }) => status)
        )
        assert.deepStrictEqual(yield* statuses, [200, 200])

        yield* call(`POST /tokens/${String(maker["id"])}/revoke`, { body: because })

        yield* eventually(statuses, { is: (both) => both.every((status) => status === 401) })
        assert.strictEqual((yield* signInWith(open, { code: unused })).status, 401)
        const listed = itemsOf((yield* call("GET /tokens")).body).filter(({ label }) => label === "console page")
        assert.deepStrictEqual(
          listed.map(({ state }) => state),
          listed.map(() => "revoked")
        )
        assert.isAtLeast(listed.length, 2)
      })
    )
  )

  it.live("has its open streams ended with it, and those of others stay", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const cookie = cookieOf(yield* signInWith(open, { code: yield* codeFrom(call) }))
        const authorization = `Bearer ${yield* tokenOf("viewer")}`
        const streams = yield* Effect.forEach(
          [
            ["/fleet/live", { cookie }],
            ["/events/live", { cookie }],
            ["/fleet/live", { authorization }]
          ] as const,
          ([path, who]) => Effect.promise(() => fetch(`${url}${path}`, { headers: { origin: url, ...who } }))
        )
        assert.deepStrictEqual(
          streams.map(({ status }) => status),
          [200, 200, 200]
        )
        const ended: Array<number> = []
        const readers = streams.flatMap(({ body }) => body?.getReader() ?? [])
        const readings = readers.map(async (reader, index) => {
          while (!(await reader.read()).done);
          ended.push(index)
        })
        const { body } = yield* call("GET /tokens")
        const made = itemsOf(body).find(({ label }) => label === "console page")
        assert.deepStrictEqual(ended, [])

        yield* call(`POST /tokens/${String(made?.["id"])}/revoke`, { body: because })
        yield* Effect.promise(() => Promise.all(readings.slice(0, 2)))

        assert.sameMembers(ended, [0, 1])
        yield* Effect.promise(async () => readers[2]?.cancel())
      })
    )
  )

  it.live("is written down: who made the code, who came in, and who left", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const got = yield* signInWith(open, { code: yield* codeFrom(call) })
        yield* open("DELETE /session", { headers: { ...fromPage, cookie: cookieOf(got) } })

        const acts = itemsOf((yield* call("GET /audit")).body)
        assert.deepStrictEqual(
          acts.map(({ action }) => action),
          ["sign-out", "sign-in", "sign-in-code"]
        )
        const [out, signed, asked] = acts.map(({ by, target }) => ({ by: (by as Json)["tokenId"], target }))
        assert.strictEqual(signed?.target, asked?.by)
        assert.strictEqual(out?.by, signed?.by)
        assert.notStrictEqual(signed?.by, asked?.by)
      })
    )
  )

  it.live("is refused after too many wrong codes of an address, as after wrong tokens", () =>
    withPage((call, open) =>
      Effect.gen(function* () {
        const right = yield* codeFrom(call)
        for (let tries = 0; tries < 30; tries++) {
          const wrong = tries % 2 === 0 ? { code: `wrong${tries}` } : { token: `stl_wrong${tries}` }
          assert.strictEqual((yield* signInWith(open, wrong)).status, 401)
        }
        assert.deepStrictEqual(statusAndCode(yield* signInWith(open, { code: right })), [429, "rate_limited"])
      })
    )
  )

  it.live("leaves neither code nor token in the log", () => {
    const lines: Array<string> = []
    const log = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
    return withPage((call, open) =>
      Effect.gen(function* () {
        const code = yield* codeFrom(call)
        const cookie = cookieOf(yield* signInWith(open, { code }))
        yield* signInWith(open, { code })
        yield* open("DELETE /session", { headers: { ...fromPage, cookie } })
        const token = cookie.split("=code.")[1] ?? ""
        assert.isAbove(lines.length, 2)
        assert.isAbove(token.length, 20)
        for (const line of lines) {
          assert.notInclude(line, code)
          assert.notInclude(line, token)
        }
      })
    ).pipe(Effect.provide(log))
  })

  it.live("cannot begin while the page is off, and a cookie counts for nothing then", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const open = yield* browser
        const token = yield* tokenOf("owner")
        const { port } = yield* HttpListener
        assert.strictEqual((yield* signInWith(open, { token })).status, 409)
        assert.strictEqual((yield* call("POST /session/codes", { body: because })).status, 409)
        const headers = { ...fromPage, cookie: `starling-${port}=token.${token}` }
        assert.strictEqual((yield* open("GET /events", { headers })).status, 401)
        const page = yield* open("GET /")
        assert.include(JSON.stringify(page.body), "Console.Page turns it on")
      })
    )
  )
})

describe("one-time codes", () => {
  it.live("are counted, so that a fault cannot fill the store", () =>
    withPage(() =>
      Effect.gen(function* () {
        const codes = yield* SignInCodes
        const by = {
          workspace: "w",
          kind: "member",
          role: "viewer",
          scopes: ["*"],
          tokenId: "t",
          key: "k",
          person: undefined,
          expiresAt: undefined
        } as const
        yield* Effect.forEach(Array.from({ length: 100 }), () => codes.make(by), { discard: true })
        const refused = yield* Effect.flip(codes.make(by))
        assert.strictEqual(refused._tag, "TooManyCodes")
        assert.isTrue(Option.isNone(yield* codes.take("unknown")))
        assert.lengthOf(yield* (yield* Tokens).list, 1)
      }).pipe(Effect.provide(SignInCodes.layer))
    )
  )
})
