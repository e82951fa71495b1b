import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Nats } from "#bus"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { startNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { storesFolder } from "../../../../dev/fixtures/stores.ts"

const usersWith = (password: string) =>
  `authorization { users: [{ user: "sweeper", password: "${password}" }, { user: "system", password: "s" }] }\n`

describe("a connection that was lost", () => {
  it.live("goes on saying why it cannot be made again: here that its password was changed", () =>
    Effect.gen(function* () {
      // The server reads it relative to its own folder, which lies beside this one.
      const folder = mkdtempSync(join(storesFolder(), "starling-users-"))
      const users = join(folder, "users.conf")
      writeFileSync(users, usersWith("old"))
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startNatsServer({ configuration: `include "../${relative(storesFolder(), users)}"` })),
        (started) => Effect.promise(() => started.stop())
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const told: Array<string | undefined> = []
      yield* Layer.build(
        Nats.layerWith({
          servers: [server.url],
          name: "test",
          user: "sweeper",
          password: Redacted.make("old"),
          onTrouble: (reason) => void told.push(reason)
        }).pipe(Layer.provide(Metrics.layerTest))
      )
      assert.deepStrictEqual(told, [undefined])

      writeFileSync(users, usersWith("new"))
      process.kill(server.pid(), "SIGHUP")
      yield* eventually(() => told.some((reason) => reason?.includes("Authorization Violation") === true))
      // Some ten tries of the library later, when the reason has been looked for once more.
      const isTold = () => told.filter((reason) => reason?.includes("Authorization Violation")).length >= 2
      yield* eventually(isTold)
      assert.strictEqual(told.filter((reason) => reason === "not connected to the broker").length, 1)
    }).pipe(Effect.scoped)
  )
})
