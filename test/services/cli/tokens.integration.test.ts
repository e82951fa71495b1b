import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Publisher, StreamReader } from "#bus"
import { auditCodec } from "#http"
import { streamKeeper } from "../../../deploy/generate/users.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import { busAs } from "../../support/bus-as.ts"
import { emptyHome, objectsIn, type Ran, runHere } from "../../support/command.ts"
import { passwordOf, startFleetBroker } from "../../support/fleet-broker.ts"

// With the users and the permissions of a deployment.
let server: TestNatsServer
beforeEach(async () => void (server = await startFleetBroker()))
afterEach(() => server.stop())

const runAs = (user: string, more: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    emptyHome,
    (home) =>
      (...words: ReadonlyArray<string>) =>
        runHere(words, {
          STARLING_HOME: home,
          STARLING_CONFIG: undefined,
          NATS_URL: undefined,
          BUS_URL: server.url,
          BUS_USER: user,
          BUS_PASSWORD: passwordOf(user),
          ...more
        })
  )

const good = (ran: Ran) => {
  assert.strictEqual(ran.code, 0, ran.error)
  return ran
}
const objectIn = (ran: Ran) => objectsIn(good(ran))[0] ?? assert.fail("it printed nothing")

/** The acts of AUDIT, oldest first, as a reader of the console takes them. */
const acts = Effect.gen(function* () {
  const newest = yield* (yield* StreamReader).newest("AUDIT", { before: 1_000, subject: "audit.*", messagesMax: 100 })
  return newest.toReversed().map((message) => Result.getOrThrow(auditCodec.decode(message)))
}).pipe(Effect.provide(busAs(() => server, "console")))

describe("the command `token` on the broker itself", () => {
  it.live("writes in AUDIT who made or revoked which token and why, and nothing for what changes nothing", () =>
    Effect.gen(function* () {
      const run = yield* runAs("operator")
      const words = "token make --workspace garden --label ci --scope voices:read --expires 12h --json".split(" ")
      const made = objectIn(yield* run(...words, "--reason", "for the build"))
      const id = String(made["id"])
      good(yield* run("token", "revoke", id, "--reason", "it leaked"))
      good(yield* run("token", "revoke", id, "--reason", "once more"))
      assert.strictEqual((yield* run("token", "revoke", "nobody")).code, 1)
      good(yield* run("token", "list"))
      good(yield* run("token", "make"))

      const written = yield* acts
      assert.deepStrictEqual(
        written.map(({ action, reason }) => ({ action, reason })),
        [
          { action: "token-make", reason: "for the build" },
          { action: "token-revoke", reason: "it leaked" },
          { action: "token-make", reason: "by an operator" }
        ]
      )
      const [making, revoking] = written
      const by = { workspace: "garden", tokenId: "command line on the broker", role: "operator" }
      assert.deepStrictEqual([making?.by, revoking?.by], [by, by])
      const rights = {
        label: "ci",
        kind: "member",
        role: "viewer",
        scopes: ["voices:read"],
        expiresAt: made["expiresAt"]
      }
      assert.strictEqual(making?.target, `${id} ${JSON.stringify(rights)}`)
      assert.strictEqual(revoking?.target, `${id} {"label":"ci"}`)
      assert.match(String(making?.requestId), /^cli_/u)
      assert.isAtMost(Date.parse(making?.at ?? ""), Date.parse(revoking?.at ?? ""))
      assert.notInclude(JSON.stringify(written), String(made["token"]))
    }).pipe(Effect.scoped)
  )

  it.live("makes and revokes no token that it cannot write down first", () =>
    Effect.gen(function* () {
      const run = yield* runAs("operator")
      const { id } = objectIn(yield* run("token", "make", "--json"))
      yield* Effect.promise(async () => {
        const keeper = await connect({ servers: server.url, user: streamKeeper, pass: passwordOf(streamKeeper) })
        await (await jetstreamManager(keeper)).streams.delete("AUDIT")
        await keeper.close()
      })

      assert.strictEqual((yield* run("token", "make")).code, 1)
      assert.strictEqual((yield* run("token", "revoke", String(id))).code, 1)

      const listed = objectsIn(good(yield* run("token", "list", "--json")))
      assert.deepStrictEqual(
        listed.map(({ id, revokedAt }) => ({ id, revokedAt })),
        [{ id, revokedAt: null }]
      )
    }).pipe(Effect.scoped)
  )

  it.live("works beside a record that cannot be read, and removes it by its key", () =>
    Effect.gen(function* () {
      const run = yield* runAs("operator")
      const { id } = objectIn(yield* run("token", "make", "--json"))
      yield* Effect.flatMap(Publisher, ({ publishRaw }) =>
        publishRaw("$KV.tokens.zz", new TextEncoder().encode('{"a":1}'))
      ).pipe(Effect.provide(busAs(() => server, "operator")))

      const listed = good(yield* run("token", "list", "--json"))
      assert.deepStrictEqual(
        objectsIn(listed).map((each) => each["id"]),
        [id]
      )
      assert.match(listed.error, /WARN.*a stored value is broken: it is left out.*tokens.*zz/su)
      assert.notInclude(listed.error, '{"a":1}')
      const second = objectIn(yield* run("token", "make", "--json"))
      good(yield* run("token", "revoke", String(id)))

      // A pattern names no record.
      assert.strictEqual((yield* run("token", "revoke", "*")).code, 1)
      const removed = good(yield* run("token", "revoke", "zz", "--reason", "nobody knows it"))
      assert.include(removed.out, "zz is removed: its record could not be read")
      assert.strictEqual((yield* run("token", "revoke", "zz")).code, 1)
      const left = good(yield* run("token", "list", "--json"))
      assert.deepStrictEqual(
        objectsIn(left)
          .map((each) => each["id"])
          .toSorted(),
        [id, second["id"]].toSorted()
      )
      assert.notInclude(left.error, "broken")
      const last = (yield* acts).at(-1)
      assert.deepStrictEqual(
        [last?.action, last?.target, last?.reason, last?.by.workspace],
        ["token-revoke", 'zz {"broken":true}', "nobody knows it", "default"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("gives no scope that reaches the whole fleet to another workspace than the fleet's own", () =>
    Effect.gen(function* () {
      const run = yield* runAs("operator")
      const asked = ["token", "make", "--scope", "console:read", "--json"]
      const refused = yield* run(...asked, "--workspace", "acme")
      assert.strictEqual(refused.code, 1)
      const reason = "--scope console:read reaches the whole fleet, which a token of acme may not"
      assert.include(refused.error, `${reason}; one of the fleet's own workspace, default, may`)
      assert.strictEqual(objectIn(yield* run(...asked))["workspace"], "default")

      const named = yield* runAs("operator", { FLEET_WORKSPACE: "acme" })
      assert.strictEqual(objectIn(yield* named(...asked))["workspace"], "acme")
      assert.strictEqual((yield* named(...asked, "--workspace", "default")).code, 1)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a reason that AUDIT cannot take, before it asks the broker", () =>
    Effect.gen(function* () {
      const run = yield* runAs("operator")
      for (const reason of ["", "  ", "x".repeat(501)]) {
        const refused = yield* run("token", "make", "--reason", reason)
        assert.strictEqual(refused.code, 2)
        assert.include(refused.error, "--reason is 1 to 500 characters")
      }
      assert.lengthOf(yield* acts, 0)
    }).pipe(Effect.scoped)
  )
})
