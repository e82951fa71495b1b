import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Nats } from "#bus"
import { Tokens } from "#http"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { because, type Call, codeOf, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"
import { documentedVerbs } from "./route-table.ts"

const order = { ...because, label: "build server" }
const made = (call: Call, body: Json, token?: string) =>
  Effect.map(
    call("POST /tokens", { body: { ...order, ...body }, ...(token === undefined ? {} : { token }) }),
    (got) => {
      assert.strictEqual(got.status, 201, JSON.stringify(got.body))
      return { id: String(got.body["id"]), token: String(got.body["token"]), body: got.body }
    }
  )
const acts = (call: Call) => Effect.map(call("GET /audit"), ({ body }) => itemsOf(body))
const fieldsIn = (body: Json) => (body["error"] as Json)["fields"] as Json

describe("tokens on the console", () => {
  it.live("are made with the rights, the label and the end that were asked for, and open what they may", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { token, body } = yield* made(call, { scopes: ["console:read"], lifetimeSeconds: 3_600 })

        assert.match(token, /^stl_[\w-]{43}$/u)
        assert.deepInclude(body, { label: "build server", kind: "member", role: "viewer", scopes: ["console:read"] })
        assert.deepInclude(body, { workspace: "default", state: "valid", revokedAt: null, lastUsedAt: null })
        const livesMs = Date.parse(String(body["expiresAt"])) - Date.parse(String(body["createdAt"]))
        assert.strictEqual(livesMs, 3_600_000)
        assert.strictEqual((yield* call("GET /events", { token })).status, 200)
        assert.strictEqual((yield* call("POST /abandoned/resend", { token, body: because })).status, 403)
      })
    )
  )

  it.live("read and end after ninety days when nothing more is asked for, and never only on request", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { body } = yield* made(call, {})
        assert.deepInclude(body, { role: "viewer", scopes: ["*"], kind: "member" })
        const livesMs = Date.parse(String(body["expiresAt"])) - Date.parse(String(body["createdAt"]))
        assert.strictEqual(livesMs, 90 * 86_400_000)
        assert.isNull((yield* made(call, { lifetimeSeconds: null })).body["expiresAt"])
        assert.deepInclude((yield* made(call, { kind: "service" })).body, { kind: "service", scopes: ["*:read"] })
      })
    )
  )

  it.live("are shown without the token itself, newest first, in pages, with their last use", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const one = yield* made(call, { label: "one" })
        const two = yield* made(call, { label: "two" })
        const three = yield* made(call, { label: "three" })
        yield* call("GET /events", { token: two.token })
        const list = call("GET /tokens?limit=200")
        yield* eventually(list, {
          is: ({ body }) => itemsOf(body).some(({ id, lastUsedAt }) => id === two.id && lastUsedAt !== null)
        })

        const first = yield* call("GET /tokens?limit=2")
        const second = yield* call(`GET /tokens?limit=2&cursor=${first.body["nextCursor"]}`)

        const shown = [...itemsOf(first.body), ...itemsOf(second.body)]
        // The caller's own is among them.
        assert.sameMembers(
          shown.flatMap(({ label }) => (label === null ? [] : [label])),
          ["one", "two", "three"]
        )
        assert.lengthOf(shown, 4)
        const times = shown.map(({ createdAt }) => String(createdAt))
        assert.deepStrictEqual(times, times.toSorted().toReversed())
        assert.isNull(second.body["nextCursor"])
        const text = JSON.stringify(shown)
        for (const { token } of [one, two, three]) assert.notInclude(text, token)
        const wrong = yield* call("GET /tokens?cursor=abc&limit=0")
        assert.sameMembers(Object.keys(fieldsIn(wrong.body)), ["limit", "cursor"])
      })
    )
  )

  it.live("are refused within five seconds after they are revoked, and a second time changes nothing", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { id, token } = yield* made(call, {})
        assert.strictEqual((yield* call("GET /events", { token })).status, 200)

        const revoked = yield* call(`POST /tokens/${id}/revoke`, { body: because })

        assert.strictEqual(revoked.status, 200)
        assert.include(revoked.body, { id, state: "revoked" })
        yield* eventually(call("GET /events", { token }), { is: ({ status }) => status === 401 })
        const again = yield* call(`POST /tokens/${id}/revoke`, { body: because })
        assert.deepStrictEqual([again.status, again.body["revokedAt"]], [200, revoked.body["revokedAt"]])
        assert.deepStrictEqual(
          (yield* acts(call)).map(({ action }) => action),
          ["token-revoke", "token-make"]
        )
      })
    )
  )

  it.live("are written down before they exist: who asked, and what they may", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { id, token } = yield* made(call, { scopes: ["console:*"] })

        const [act] = yield* acts(call)
        assert.deepInclude(act ?? {}, { action: "token-make", reason: "a test" })
        const target = String(act?.["target"])
        assert.isTrue(target.startsWith(`${id} {`))
        assert.deepInclude(JSON.parse(target.slice(id.length + 1)), {
          label: "build server",
          role: "admin",
          scopes: ["console:*"]
        })
        assert.notInclude(JSON.stringify(act), token)
      })
    )
  )

  it.live("do not exist when they cannot be written down", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const tokens = yield* Tokens
        const before = (yield* tokens.list).length
        const { manager } = yield* Nats
        yield* Effect.promise(() => manager.streams.delete("AUDIT"))

        const { status } = yield* call("POST /tokens", { body: order })

        assert.isAtLeast(status, 500)
        assert.lengthOf(yield* tokens.list, before)
      })
    )
  )

  it.live("are made and revoked by owners alone: no other role, whatever its scopes, and no service that has all", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const tokens = yield* Tokens
        const { id } = yield* made(call, {})
        const service = yield* tokens.make({ workspace: "default", kind: "service", role: "owner", scopes: ["*"] })
        const callers = [
          yield* tokenOf("viewer"),
          yield* tokenOf("member"),
          yield* tokenOf("admin"),
          yield* tokenOf("admin", "*", "tokens:manage"),
          yield* tokenOf("owner", "console:*"),
          service.token
        ]
        const before = (yield* tokens.list).length
        for (const token of callers) {
          for (const verb of documentedVerbs().filter((each) => each.includes("/tokens"))) {
            const asked = { token, ...(verb.startsWith("GET") ? {} : { body: order }) }
            const { status, body } = yield* call(verb.replace("{id}", id), asked)
            assert.deepStrictEqual([status, codeOf(body)], [403, "insufficient_scope"], verb)
          }
        }
        assert.lengthOf(yield* tokens.list, before)
        assert.lengthOf(yield* acts(call), 1)
      })
    )
  )

  it.live("have no right that their maker lacks, and such an order is not written down", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const narrow = yield* tokenOf("owner", "tokens:manage", "console:read")
        assert.strictEqual((yield* made(call, { scopes: ["console:read"] }, narrow)).body["role"], "viewer")
        const orders = [
          {},
          { scopes: ["console:write"] },
          { scopes: ["*"] },
          { scopes: ["*:read"] },
          { scopes: ["console:*"] },
          { role: "owner", scopes: ["*"] },
          { kind: "service", scopes: ["console:read", "pipeline:read"] }
        ]
        for (const more of orders) {
          const { status, body } = yield* call("POST /tokens", { body: { ...order, ...more }, token: narrow })
          assert.deepStrictEqual([status, codeOf(body)], [403, "insufficient_scope"], JSON.stringify(more))
        }
        assert.lengthOf(yield* acts(call), 1)
      })
    )
  )

  it.live("of other workspaces are neither shown nor revoked", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const tokens = yield* Tokens
        const { record } = yield* tokens.make({ workspace: "other", kind: "member", role: "viewer", scopes: ["*"] })

        const shown = itemsOf((yield* call("GET /tokens")).body)
        assert.isFalse(shown.some(({ id }) => id === record.id))
        const { status } = yield* call(`POST /tokens/${record.id}/revoke`, { body: because })
        assert.strictEqual(status, 404)
        assert.isNull((yield* tokens.list).find(({ id }) => id === record.id)?.revokedAt)
      })
    )
  )

  it.live("of another workspace than the fleet's get no scope that reaches the whole fleet", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const tokens = yield* Tokens
        const theirs = { workspace: "acme", kind: "member", role: "owner", scopes: ["*"] } as const
        const { token } = yield* tokens.make(theirs)
        for (const scope of ["console:read", "pipeline:*", "payloads:read"]) {
          const refused = yield* call("POST /tokens", { body: { ...order, scopes: [scope] }, token })
          assert.deepStrictEqual([refused.status, Object.keys(fieldsIn(refused.body))], [400, ["scopes"]], scope)
        }
        const { body } = yield* made(call, { scopes: ["voices:read", "audio:*"] }, token)
        assert.deepInclude(body, { workspace: "acme", role: "member" })
      })
    )
  )

  it.live("are refused with the path of each fault", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const faults: ReadonlyArray<readonly [Json, string]> = [
          [{ label: "" }, "label"],
          [{ label: "\u001B[2J" }, "label"],
          [{ scopes: ["nosuch"] }, "scopes"],
          [{ role: "viewer", scopes: ["console:write"] }, "scopes"],
          [{ role: "root" }, "role"],
          [{ lifetimeSeconds: 59 }, "lifetimeSeconds"],
          [{ lifetimeSeconds: 315_360_001 }, "lifetimeSeconds"],
          [{ scopes: Array.from({ length: 51 }, () => "console:read") }, "scopes"]
        ]
        for (const [more, field] of faults) {
          const { status, body } = yield* call("POST /tokens", { body: { ...order, ...more } })
          assert.deepStrictEqual([status, Object.keys(fieldsIn(body))], [400, [field]], JSON.stringify(more))
        }
        assert.isEmpty(yield* acts(call))
      })
    )
  )
})
