import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { Tokens } from "#http"
import { codeOf, itemsOf, type Role, tokenOf, withConsole } from "../../../support/console.ts"
import { asked, documentedVerbs, routeTable, type Scope } from "./route-table.ts"

const mayUse: Readonly<Record<Role, ReadonlyArray<Scope>>> = {
  viewer: ["console:read"],
  member: ["console:read", "console:write"],
  admin: ["console:read", "console:write", "console:operate"],
  owner: ["console:read", "console:write", "console:operate", "tokens:manage"]
}

const acts = Effect.flatMap(StreamReader, (reader) => Effect.map(reader.bounds("AUDIT"), ({ messages }) => messages))

// An address that sends more wrong tokens is slowed down; each of these parts has a console of its own.
const partSize = 10
const parts = Array.from({ length: Math.ceil(routeTable.length / partSize) }, (_, part) => ({
  rows: routeTable.slice(part * partSize, (part + 1) * partSize),
  first: routeTable[part * partSize]?.verb
}))

describe("every route of the console", () => {
  it("is in the table of routes", () => {
    assert.sameMembers(
      routeTable.map(({ verb }) => verb),
      [...documentedVerbs()]
    )
  })

  it.live.each(parts)("is closed without a token, and with an unknown one, from $first on", ({ rows }) =>
    withConsole((call) =>
      Effect.gen(function* () {
        for (const row of rows) {
          const { verb, ...rest } = asked(row)
          for (const token of [null, "stl_forged"]) {
            const { status, body } = yield* call(verb, { ...rest, token })
            assert.deepStrictEqual([status, codeOf(body)], [401, "unauthorized"], verb)
          }
        }
      })
    )
  )

  it.live("opens to the roles that may use its scope, and refuses the others before it reads the request", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        for (const role of ["viewer", "member", "admin", "owner"] as const) {
          const token = yield* tokenOf(role)
          for (const row of routeTable) {
            const { verb, ...rest } = asked(row)
            const before = yield* acts
            if (mayUse[role].includes(row.scope)) {
              const { status, body } = yield* call(verb, { ...rest, token })
              assert.strictEqual(status, row.status, `${role}: ${verb} ${JSON.stringify(body)}`)
              continue
            }
            const unread = verb.startsWith("GET") ? {} : { body: { reason: 7 } }
            const { status, body } = yield* call(verb, { ...unread, token })
            assert.deepStrictEqual([status, codeOf(body)], [403, "insufficient_scope"], `${role}: ${verb}`)
            assert.strictEqual(yield* acts, before, verb)
          }
        }
      })
    )
  )

  it.live("shows tokens of other workspaces nothing of the fleet, whatever their scopes, and their own tokens", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { make } = yield* Tokens
        const scopes = ["*", "tokens:manage"]
        const made = [
          yield* make({ workspace: "acme", kind: "member", role: "owner", scopes: ["*"] }),
          yield* make({ workspace: "acme", kind: "service", role: "member", scopes })
        ]
        for (const { token } of made) {
          for (const row of routeTable) {
            const { verb, ...rest } = asked(row)
            if (row.scope === "tokens:manage") {
              assert.strictEqual((yield* call(verb, { ...rest, token })).status, row.status, verb)
              continue
            }
            const before = yield* acts
            const unread = verb.startsWith("GET") ? {} : { body: { reason: 7 } }
            const { status, body } = yield* call(verb, { ...unread, token })
            assert.deepStrictEqual([status, codeOf(body)], [403, "other_workspace"], verb)
            assert.strictEqual(yield* acts, before, verb)
          }
          const { body } = yield* call("GET /tokens?limit=200", { token })
          assert.deepStrictEqual([...new Set(itemsOf(body).map(({ workspace }) => workspace))], ["acme"])
        }
      })
    )
  )

  it.live("refuses an act without a reason, and does not write it down", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        for (const row of routeTable.filter(({ verb }) => verb.startsWith("POST"))) {
          for (const reason of [undefined, "", "   "]) {
            const { status, body } = yield* call(asked(row).verb, { body: { reason } })
            assert.deepStrictEqual([status, codeOf(body)], [400, "validation_failed"], row.verb)
          }
        }
        assert.strictEqual(yield* acts, 0)
      })
    )
  )
})
