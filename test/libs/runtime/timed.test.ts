import { Effect, Exit, Fiber } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { timed } from "#runtime"

describe("a timed effect", () => {
  it.effect("is measured in seconds, and keeps its outcome", () =>
    Effect.gen(function* () {
      const told: Array<number> = []
      const after = <A, E>(end: Effect.Effect<A, E>) =>
        timed((seconds) => void told.push(seconds), Effect.andThen(Effect.sleep("1500 millis"), end))
      const running = yield* Effect.forkChild(
        Effect.all([after(Effect.succeed("done")), Effect.flip(after(Effect.fail("no")))], { concurrency: 2 }),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1500 millis")

      assert.deepStrictEqual(yield* Fiber.join(running), ["done", "no"])
      assert.deepStrictEqual(told, [1.5, 1.5])
    })
  )

  it.effect("stays interrupted", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(
        timed(() => undefined, Effect.never),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(running)

      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
    })
  )
})
