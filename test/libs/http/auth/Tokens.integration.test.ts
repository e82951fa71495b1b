import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Kv } from "#bus"
import { type TokenRecord, Tokens, TokenUses } from "#http"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { later } from "../../../support/clock.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"

const replicaOf = (server: TestNatsServer) =>
  Layer.build(Layer.fresh(Layer.mergeAll(TokenUses.layer, Tokens.layer).pipe(Layer.provideMerge(busOn(server)))))
type Replica = Effect.Success<ReturnType<typeof replicaOf>>

const useOften = (replica: Replica, id: string) =>
  Effect.forEach(Array.from({ length: 50 }), () => Context.get(replica, TokenUses).note(id), { discard: true })
/** Uses are written in order: once this one exists, the earlier ones are done. */
const settled = Effect.fnUntraced(function* (replica: Replica, last: string) {
  const uses = Context.get(replica, TokenUses)
  yield* uses.note(last)
  yield* eventually(uses.all, { is: (all) => all.has(last) })
})
const rawBucket = <A>(replica: Replica, name: string, schema: Schema.Codec<A, A>) =>
  Context.get(replica, Kv).open(name, schema)

describe("the last use of a token", () => {
  it.live("is written once an hour over all replicas, however often the token is used", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const bucket = yield* rawBucket(one, "token-uses", Schema.Struct({ at: Schema.String }))
      const revisionOf = (id: string) => Effect.map(bucket.get(id), (use) => Option.getOrThrow(use).revision)

      yield* useOften(one, "t1")
      yield* settled(one, "after-one")
      const first = yield* revisionOf("t1")
      yield* useOften(one, "t1")
      yield* useOften(two, "t1")
      yield* settled(two, "after-two")
      assert.strictEqual(yield* revisionOf("t1"), first)

      const anHourOn = yield* replicaOf(server).pipe(later(3_600_000))
      yield* useOften(anHourOn, "t1").pipe(later(3_600_000))
      yield* settled(anHourOn, "after-three").pipe(later(3_600_000))
      assert.isAbove(yield* revisionOf("t1"), first)
    }).pipe(Effect.scoped)
  )
})

describe("a stored token", () => {
  it.live("from before labels and ends is found, listed and revoked as before", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const key = hash("sha256", "stl_old", "hex")
      const old = {
        id: key.slice(0, 12),
        workspace: "default",
        kind: "member",
        role: "owner",
        scopes: ["*"],
        createdAt: "2026-01-01T00:00:00.000Z",
        revokedAt: null
      } as const
      yield* (yield* rawBucket(replica, "tokens", Schema.Unknown)).create(key, old)
      const { find, list, revoke } = Context.get(replica, Tokens)
      assert.deepEqual(Option.getOrThrow(yield* find("stl_old")), old as unknown as TokenRecord)
      assert.deepEqual(yield* list, [old as unknown as TokenRecord])
      yield* revoke(old.id)
      assert.deepStrictEqual(yield* find("stl_old"), Option.none())
    }).pipe(Effect.scoped)
  )

  it.live("expires, and is removed at a token's creation a month later", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const { list, make, revoke } = Context.get(replica, Tokens)
      const request = { workspace: "w1", kind: "member", role: "viewer", scopes: ["*"] } as const
      const { record: ending } = yield* make({ ...request, label: "a trial", lifetimeMs: 90_000 })
      const { record: lasting } = yield* make(request)
      const { record: revoked } = yield* make({ ...request, lifetimeMs: 400 * 86_400_000 })
      assert.strictEqual(Date.parse(ending.expiresAt ?? "") - Date.parse(ending.createdAt), 90_000)
      assert.isUndefined(lasting.expiresAt)
      yield* revoke(revoked.id)
      const idsAfter = Effect.fnUntraced(function* (days: number) {
        const { record } = yield* make(request).pipe(later(days * 86_400_000))
        const left = (yield* list).map(({ id }) => id)
        yield* revoke(record.id)
        return [ending, lasting, revoked].map(({ id }) => left.includes(id))
      })
      assert.deepStrictEqual(yield* idsAfter(29), [true, true, true])
      assert.deepStrictEqual(yield* idsAfter(31), [false, true, false])
    }).pipe(Effect.scoped)
  )
})
