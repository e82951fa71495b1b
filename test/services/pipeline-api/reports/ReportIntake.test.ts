import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { orderedKeys } from "../../../../services/pipeline-api/reports/ReportIntake.ts"

const isDone = (outcome: string) => outcome === "done"

describe("messages of one key", () => {
  it.effect("are handled in sequence, those of other keys in parallel", () =>
    Effect.gen(function* () {
      const turns = orderedKeys()
      const seen: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const work = (name: string, first: Effect.Effect<unknown> = Effect.void) =>
        Effect.andThen(
          first,
          Effect.sync(() => (seen.push(name), "done"))
        )
      const one = yield* Effect.forkChild(
        turns.inTurn({ key: "a", sequence: 1, isDone, onDeferred: "held" }, work("a1", Deferred.await(gate))),
        {
          startImmediately: true
        }
      )
      const two = yield* Effect.forkChild(
        turns.inTurn({ key: "a", sequence: 2, isDone, onDeferred: "held" }, work("a2")),
        { startImmediately: true }
      )
      yield* turns.inTurn({ key: "b", sequence: 3, isDone, onDeferred: "held" }, work("b3"))
      assert.deepStrictEqual(seen, ["b3"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(one)
      yield* Fiber.join(two)
      assert.deepStrictEqual(seen, ["b3", "a1", "a2"])
    })
  )

  it.effect("wait for one that was handed back until it is redelivered", () =>
    Effect.gen(function* () {
      const turns = orderedKeys()
      const run = (sequence: number, outcome: string) =>
        turns.inTurn({ key: "a", sequence, isDone, onDeferred: "held" }, Effect.succeed(outcome))
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
      const died = yield* Effect.exit(
        turns.inTurn({ key: "a", sequence: 1, isDone, onDeferred: "held" }, Effect.die("a mistake"))
      )
      assert.isTrue(Exit.isFailure(died))
      assert.strictEqual(
        yield* turns.inTurn({ key: "a", sequence: 2, isDone, onDeferred: "held" }, Effect.succeed("done")),
        "done"
      )
    })
  )
})
