import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Environment } from "#runtime"
import { brokerAlone, NatsServer } from "../../../services/fleet/nats-server/NatsServer.ts"
import { emptyHome, objectsIn, type Ran, runHere } from "../../support/command.ts"

/** Runs while the home has its broker, as a fleet's commands find it. */
const whileUp = <A, E, R>(home: string, test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { url } = yield* NatsServer
    writeFileSync(join(home, "ready.json"), JSON.stringify({ nats: url }))
    return yield* test
  }).pipe(Effect.provide(Layer.fresh(brokerAlone(home).pipe(Layer.provide(Layer.succeed(Environment, process.env))))))

const good = (ran: Ran) => {
  assert.strictEqual(ran.code, 0, ran.error)
  return ran
}

describe("a backup of one machine", () => {
  it.live("brings everything back into an empty store, and goes over no store that is not empty", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const run = (line: string) =>
        runHere(line.split(" "), {
          STARLING_HOME: home,
          STARLING_CONFIG: undefined,
          NATS_URL: undefined,
          BUS_URL: undefined
        })
      const copies = join(home, "copies")
      const kept = Effect.gen(function* () {
        const events = objectsIn(good(yield* run("tail --last 1000 --json")))
        const tokens = objectsIn(good(yield* run("token list --json")))
        return { events, tokens: tokens.map(({ id }) => id) }
      })

      const before = yield* whileUp(
        home,
        Effect.gen(function* () {
          good(yield* run("broker streams"))
          good(yield* run("publish work_item.merged --example --count 200"))
          good(yield* run("publish queue.paused --example --count 100"))
          good(yield* run("token make --label kept"))
          const saved = good(yield* run(`backup save ${copies} --json`))
          const counts = new Map(objectsIn(saved).map(({ stream, messages }) => [stream, messages]))
          assert.strictEqual(counts.get("EVENTS"), 300)
          assert.strictEqual(counts.get("KV_tokens"), 1)
          const refused = yield* run(`backup restore ${copies}`)
          assert.strictEqual(refused.code, 1)
          assert.include(refused.error, "stop it first")
          return yield* kept
        })
      )
      assert.lengthOf(before.events, 300)
      assert.lengthOf(before.tokens, 1)
      assert.strictEqual((statSync(join(copies, "KV_tokens.snapshot")).mode & 0o777).toString(8), "600")

      // The fleet is stopped; its store is lost.
      rmSync(join(home, "nats/data"), { recursive: true })
      const nothing = yield* run(`backup save ${join(home, "other")}`)
      assert.strictEqual(nothing.code, 69, nothing.error)
      const restored = good(yield* run(`backup restore ${copies}`))
      assert.include(restored.out, "restored EVENTS: 300 messages, last 300\n")
      const over = yield* run(`backup restore ${copies} EVENTS`)
      assert.strictEqual(over.code, 1)

      assert.deepStrictEqual(yield* whileUp(home, kept), before)
      // What a stopped fleet keeps is copied too.
      const again = good(yield* run(`backup save ${join(home, "again")}`))
      assert.include(again.out, "saved EVENTS: 300 messages, last 300\n")
    }).pipe(Effect.scoped)
  )

  it.live("is refused from a folder that is not there, or holds nothing", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const run = (line: string) => runHere(line.split(" "), { STARLING_HOME: home, STARLING_CONFIG: undefined })
      assert.strictEqual((yield* run(`backup restore ${join(home, "nowhere")}`)).code, 1)
      mkdirSync(join(home, "empty"))
      const empty = yield* run(`backup restore ${join(home, "empty")}`)
      assert.strictEqual(empty.code, 1)
      assert.include(empty.error, "holds no saved stream")
    }).pipe(Effect.scoped)
  )
})
