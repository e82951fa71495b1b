import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { orderedKeys } from "../../../../services/pipeline-api/reports/ordered-keys.ts"

const isDone = (outcome: string) => outcome === "done"

describe("messages of one key", () => {
  it.effect("are worked on one after the other, those of other keys beside them", () =>
    Effect.gen(function* () {
      const turns = orderedKeys()
      const seen: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const work = (name: string, first: Effect.Effect<unknown> = Effect.void) =>
        Effect.andThen(
          first,
          Effect.sync(() => (seen.push(name), "done"))
        )
      const one = yield* Effect.forkChild(turns.inTurn("a", 1, work("a1", Deferred.await(gate)), isDone, "held"), {
        startImmediately: true
      })
      const two = yield* Effect.forkChild(turns.inTurn("a", 2, work("a2"), isDone, "held"), { startImmediately: true })
      yield* turns.inTurn("b", 3, work("b3"), isDone, "held")
      assert.deepStrictEqual(seen, ["b3"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(one)
      yield* Fiber.join(two)
      assert.deepStrictEqual(seen, ["b3", "a1", "a2"])
    })
  )

  it.effect("wait for one that was handed back until it has come again", () =>
    Effect.gen(function* () {
      const turns = orderedKeys()
      const run = (sequence: number, outcome: string) =>
        turns.inTurn("a", sequence, Effect.succeed(outcome), isDone, "held")
      assert.strictEqual(yield* run(1, "back"), "back")
      assert.strictEqual(yield* run(2, "done"), "held")
      assert.strictEqual(yield* run(1, "done"), "done")
      assert.strictEqual(yield* run(3, "done"), "held")
      assert.strictEqual(yield* run(2, "done"), "done")
      assert.strictEqual(yield* run(3, "done"), "done")
    })
  )

  it.effect("do not wait for one whose handler died", () =>
    Effect.gen(function* () {
      const turns = orderedKeys()
      const died = yield* Effect.exit(turns.inTurn("a", 1, Effect.die("a mistake"), isDone, "held"))
      assert.isTrue(Exit.isFailure(died))
      assert.strictEqual(yield* turns.inTurn("a", 2, Effect.succeed("done"), isDone, "held"), "done")
    })
  )
})
