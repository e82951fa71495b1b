import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Tokens } from "#http"
import { type Heard, type Json, tokenFor, withPipeline } from "../../../support/pipeline.ts"
import { asked, documentedVerbs, lastDecision, routeTable, type Scope } from "./route-table.ts"

const scopes: ReadonlyArray<Scope> = ["pipeline:read", "pipeline:write", "pipeline:operate", "events:publish"]
const errorOf = ({ body }: Heard) => (body["error"] ?? {}) as Json

describe("every route", () => {
  it("is in this table", () => {
    assert.sameMembers(
      routeTable.map(({ verb }) => verb),
      [...documentedVerbs()]
    )
  })

  it.live("is closed without a token, and with an unknown one", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        for (const row of routeTable) {
          const { verb, ...rest } = asked(row, randomUUID())
          const heard = yield* call(verb, { ...rest, token: null })
          assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [401, "unauthorized"], verb)
          assert.strictEqual(heard.headers.get("www-authenticate"), "Bearer", verb)
        }
        const forged = yield* call("DELETE /workitems/x", { token: "stl_forged" })
        assert.strictEqual(forged.status, 401)
        assert.include(forged.headers.get("www-authenticate") ?? "", "invalid_token")
      })
    )
  )

  it.live("opens to its own scope and to no other, before it reads the request", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const before = yield* lastDecision
        const tokens = yield* Effect.all({
          "pipeline:read": tokenFor("pipeline:read"),
          "pipeline:write": tokenFor("pipeline:write"),
          "pipeline:operate": tokenFor("pipeline:operate"),
          "events:publish": tokenFor("events:publish")
        })
        for (const row of routeTable) {
          const { verb } = asked(row, randomUUID())
          for (const scope of scopes.filter((other) => other !== row.scope)) {
            const body = verb.startsWith("GET") ? {} : { body: { title: 7 } }
            const heard = yield* call(verb, { ...body, token: tokens[scope] })
            assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [403, "insufficient_scope"], verb)
            assert.deepStrictEqual(errorOf(heard)["details"], { scopes: [row.scope] }, verb)
          }
        }
        assert.strictEqual(yield* lastDecision, before)
        for (const row of routeTable) {
          const { verb, ...rest } = asked(row, randomUUID())
          const heard = yield* call(verb, { ...rest, token: tokens[row.scope] })
          const expected = row.unknown === null ? [200, 201] : [404]
          assert.include(expected, heard.status, `${verb}: ${JSON.stringify(heard.body)}`)
        }
      })
    )
  )

  it.live("is closed to tokens of other workspaces, whatever their scopes, before it reads the request", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const before = yield* lastDecision
        const tokens = yield* Tokens
        const made = [
          yield* tokens.make({ workspace: "acme", kind: "member", role: "owner", scopes: ["*"] }),
          yield* tokens.make({ workspace: "acme", kind: "service", role: "member", scopes })
        ]
        for (const { token } of made) {
          for (const row of routeTable) {
            const { verb } = asked(row, randomUUID())
            const body = verb.startsWith("GET") ? {} : { body: { title: 7 } }
            const heard = yield* call(verb, { ...body, token })
            assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [403, "other_workspace"], verb)
            assert.deepStrictEqual(errorOf(heard)["details"], { scopes: [row.scope], workspace: "acme" }, verb)
          }
        }
        assert.strictEqual(yield* lastDecision, before)
      })
    )
  )

  it.live("lets a viewer read only, whatever scopes its token has", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const made = yield* (yield* Tokens).make({
          workspace: "default",
          kind: "member",
          role: "viewer",
          scopes: ["*"]
        })
        for (const row of routeTable) {
          const { verb, ...rest } = asked(row, randomUUID())
          const { status } = yield* call(verb, { ...rest, token: made.token })
          if (row.scope === "pipeline:read") assert.include([200, 404], status, verb)
          else assert.strictEqual(status, 403, verb)
        }
      })
    )
  )
})
