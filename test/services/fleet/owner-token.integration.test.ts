import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Publisher } from "#bus"
import { tokenKey, Tokens } from "#http"
import { Configuration } from "#configuration"
import { ownerToken } from "../../../services/fleet/up.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"

const newHome = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-owner-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

describe("the owner's token of a home", () => {
  it.live(
    "stays the same while it is valid, readable only by its owner; after loss or revocation another one replaces it",
    () =>
      Effect.gen(function* () {
        const server = yield* natsServer
        const home = yield* newHome
        const path = join(home, "owner-token")
        yield* Effect.gen(function* () {
          const { find, list, make, revoke } = yield* Tokens
          const validOwners = Effect.map(list, (records) =>
            records.filter(({ purpose, revokedAt }) => purpose === "home" && revokedAt === null)
          )
          const byHand = yield* make({ workspace: "default", kind: "member", role: "owner", scopes: ["*"] })

          const first = yield* ownerToken(home)
          assert.strictEqual(readFileSync(path, "utf8"), `${first}\n`)
          assert.strictEqual(statSync(path).mode & 0o777, 0o600)
          assert.strictEqual(yield* ownerToken(home), first)
          assert.strictEqual((yield* validOwners).length, 1)

          chmodSync(path, 0o644)
          assert.strictEqual(yield* ownerToken(home), first)
          assert.strictEqual(statSync(path).mode & 0o777, 0o600)

          rmSync(path)
          const second = yield* ownerToken(home)
          assert.isTrue(Option.isNone(yield* find(first)))

          yield* revoke(Option.getOrThrow(yield* find(second)).id)
          const third = yield* ownerToken(home)
          assert.strictEqual(new Set([first, second, third]).size, 3)

          // Good, but it is no owner's.
          const viewer = yield* make({ workspace: "default", kind: "member", role: "viewer", scopes: ["*"] })
          writeFileSync(path, viewer.token)
          const fourth = yield* ownerToken(home)
          assert.notStrictEqual(fourth, viewer.token)
          assert.strictEqual(Option.getOrThrow(yield* find(fourth)).workspace, "default")
          assert.deepStrictEqual(
            (yield* validOwners).map(({ id }) => id),
            [Option.getOrThrow(yield* find(fourth)).id]
          )
          assert.isTrue(Option.isSome(yield* find(byHand.token)))

          // Its record is broken, and nobody can make it whole.
          const { publishRaw } = yield* Publisher
          yield* publishRaw(`$KV.tokens.${tokenKey(fourth)}`, new TextEncoder().encode('{"a":1}'))
          const fifth = yield* ownerToken(home)
          assert.strictEqual(Option.getOrThrow(yield* find(fifth)).role, "owner")

          // An owner's, and of a workspace that is not the fleet's any more.
          const moved = yield* Effect.provide(ownerToken(home), Configuration.layerOf({ Fleet: { Workspace: "acme" } }))
          assert.isTrue(Option.isNone(yield* find(fifth)))
          assert.strictEqual(Option.getOrThrow(yield* find(moved)).workspace, "acme")
        }).pipe(
          Effect.provide(Layer.merge(Tokens.layer.pipe(Layer.provideMerge(busOn(server))), Configuration.layerOf({})))
        )
      }).pipe(Effect.scoped)
  )
})
