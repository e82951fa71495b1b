import { Effect, Exit, Fiber, Scope } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { acquireLightly } from "#runtime"

describe("a resource from acquireLightly", () => {
  it.effect("is released once when its scope closes, with the acquired value", () =>
    Effect.gen(function* () {
      const released: Array<number> = []
      const scope = yield* Scope.make()
      const acquire = acquireLightly(Effect.succeed(7), (value) => Effect.sync(() => released.push(value)))
      const acquired = yield* Scope.provide(acquire, scope)
      const before = [...released]
      yield* Scope.close(scope, Exit.void)

      assert.strictEqual(acquired, 7)
      assert.deepStrictEqual([before, released], [[], [7]])
    })
  )

  it.effect("is not released when its acquisition failed", () =>
    Effect.gen(function* () {
      let released = 0
      const acquire = acquireLightly(Effect.fail("no"), () => Effect.sync(() => (released += 1)))

      assert.strictEqual(yield* Effect.flip(Effect.scoped(acquire)), "no")
      assert.strictEqual(released, 0)
    })
  )

  it.effect("is acquired whole and released, even when it is interrupted in the middle", () =>
    Effect.gen(function* () {
      const steps: Array<string> = []
      const slowly = Effect.andThen(
        Effect.sleep("1 second"),
        Effect.sync(() => steps.push("acquired"))
      )
      const acquire = acquireLightly(slowly, () => Effect.sync(() => steps.push("released")))
      const fiber = yield* Effect.forkChild(Effect.scoped(acquire), { startImmediately: true })
      const ending = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(ending)

      assert.deepStrictEqual(steps, ["acquired", "released"])
    })
  )
})
